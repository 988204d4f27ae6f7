// Where molgraph-embed writes to: npy, npz, CSV, TSV or JSON lines, by the suffix.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/predictor.hpp"
#include "datasets/npy.hpp"

namespace molgraph {

/// One row per molecule, in order. Destroyed without finish(), a writer leaves nothing.
class EmbeddingWriter {
 public:
  virtual ~EmbeddingWriter() = default;
  virtual void add(const std::string& id, const std::string& smiles, const Embedding& embedding) = 0;
  virtual void finish() = 0;
};

/// `path` OUT.npy (with OUT.rows.csv beside it: id, smiles, status, reason), OUT.npz, or OUT.csv, .tsv, .jsonl, each
/// also .gz; "-" = CSV to standard output. Text columns: id, smiles, status, reason, e0 .. e<width-1>; in JSON lines
/// `embedding` is a list, null for a failed molecule. Throws UsageError on another suffix and on float16 text;
/// FileError.
std::unique_ptr<EmbeddingWriter> make_embedding_writer(const std::string& path, std::int64_t width, FloatKind kind);

}  // namespace molgraph

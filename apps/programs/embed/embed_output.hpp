// What molgraph-embed writes: lines of text, or the arrays of npy, npz and HDF5 files, by the suffix.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/programs/batch/batch_run.hpp"
#include "apps/programs/batch/score_output.hpp"
#include "datasets/archives/npy.hpp"

namespace molgraph {

/// Columns id, smiles, status, reason, e0 .. e<width-1>; in JSON lines `embedding` is a list, null for a molecule
/// without one.
class EmbeddingTable {
 public:
  EmbeddingTable(std::int64_t width, RowFormat format) : width_(width), format_(format) {}
  std::string header() const;
  void append(const std::string& id, const std::string& smiles, const Embedding& embedding, std::string& out) const;

 private:
  std::int64_t width_;
  RowFormat format_;
};

/// Rows with a number too large for float16, where it would be infinite, become not_finite.
void refuse_beyond_half(std::vector<Embedding>& rows);

/// The format of lines that `path` asks for: format_of_lines(); CSV for "-" and other streams. Nothing for a file of
/// arrays: OUT.npy, .npz or .h5. Throws UsageError on another suffix.
std::optional<RowFormat> embedding_lines_format(const std::string& path);

/// All files that the sink of this output writes.
std::vector<std::string> files_of_arrays(const std::string& path);

/// A sink for OUT.npy (with OUT.npy.rows.csv beside it: id, smiles, status, reason), OUT.npz or OUT.h5. Destroyed
/// without finish(), it leaves nothing. Throws FileError.
std::unique_ptr<RowSink<Embedding>> make_embedding_arrays(const std::string& path, std::int64_t width, FloatKind kind);

}  // namespace molgraph

// Output of molgraph-embed: text lines, or arrays in npy, npz and HDF5 files. The suffix selects the format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/programs/batch/batch_run.hpp"
#include "apps/programs/batch/score_output.hpp"
#include "datasets/archives/npy.hpp"

namespace molgraph {

/// Columns id, smiles, status, reason, e0 .. e<width-1>. In JSON lines, `embedding` is a list, or null for a molecule
/// without an embedding.
class EmbeddingTable {
 public:
  EmbeddingTable(std::int64_t width, RowFormat format) : width_(width), format_(format) {}
  std::string header() const;
  void append(const std::string& id, const std::string& smiles, const Embedding& embedding, std::string& out) const;

 private:
  std::int64_t width_;
  RowFormat format_;
};

/// Gives rows that contain a number too large for float16 (it would become infinite) the status not_finite.
void reject_float16_overflow(std::vector<Embedding>& rows);

/// The line format for `path`: line_format_of(), or CSV for "-" and other streams. Returns nothing for a file of
/// arrays: OUT.npy, .npz, .h5 or .hdf5. Throws UsageError for any other suffix.
std::optional<RowFormat> embedding_lines_format(const std::string& path);

/// All files that the array sink of this output writes.
std::vector<std::string> array_output_files(const std::string& path);

/// A sink for OUT.npy (and OUT.npy.rows.csv: id, smiles, status, reason), OUT.npz or OUT.h5. Leaves no files if it is
/// destroyed without finish(). Throws FileError.
std::unique_ptr<RowSink<Embedding>> make_embedding_arrays(const std::string& path, std::int64_t width, FloatKind kind);

}  // namespace molgraph

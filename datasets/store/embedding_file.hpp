// Embeddings in a standard HDF5 file, written as a stream of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "datasets/archives/npy.hpp"

namespace molgraph {

/// Writes the data sets `embeddings` [rows, columns] (float32 or float16, in chunks of about 1 MiB, each with a
/// checksum) and `id`, `smiles`, `status`, `reason` [rows] (UTF-8 texts of any length). Memory does not depend on the
/// number of rows. Writing is atomic: if the object is destroyed without finish(), no file remains. Throws FileError.
class EmbeddingFileWriter {
 public:
  EmbeddingFileWriter(const std::string& path, std::int64_t columns, FloatKind kind);
  ~EmbeddingFileWriter();
  EmbeddingFileWriter(const EmbeddingFileWriter&) = delete;
  EmbeddingFileWriter& operator=(const EmbeddingFileWriter&) = delete;

  void add_row(std::span<const float> row, const std::string& id, const std::string& smiles, const std::string& status,
               const std::string& reason);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph

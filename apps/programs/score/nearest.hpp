// The nearest training molecule in embedding space: how far a molecule lies from what a model has seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/predictor.hpp"

namespace molgraph {

struct Neighbour {
  double distance = 0;    ///< Euclidean, in the space of the embeddings
  std::size_t index = 0;  ///< of the row found, in the order of add(); of equally near ones the first
};

/// Exact search among rows [count, width] by blocked products |a - b|^2 = |a|^2 - 2 a.b + |b|^2; the best of each block
/// is measured again in double precision, so equal rows have distance 0. About 2 * count * width operations per query,
/// and as many floats of memory as the rows have. find() is thread-safe.
class NearestRows {
 public:
  explicit NearestRows(std::size_t width);
  void add(std::span<const float> row);
  /// After the last add(), before the first find().
  void finish();
  std::size_t size() const { return rows_.size() / width_; }
  /// The neighbours of `queries` [n, width]. There must be at least one row.
  std::vector<Neighbour> find(std::span<const float> queries) const;

 private:
  struct Block {
    std::vector<float> packed;  ///< [width, kColumns] as the engine's product reads it
    std::vector<float> bias;    ///< [kColumns] -|b|^2 / 2; of columns without a row the lowest number
  };
  void pack_block();
  double distance(const float* query, std::size_t row) const;

  std::size_t width_;
  std::vector<float> rows_;
  std::vector<Block> blocks_;
};

/// The training molecules of a run, embedded by its model.
struct TrainingMolecules {
  NearestRows rows;
  std::vector<std::string> ids;  ///< [rows]
};

/// Embeds the molecules of a store or a table (pooling token, last layer); rows without a molecule are left out.
/// Threads 0 = all cores. Throws FileError and DataError as readers do, DataError if no molecule is left.
TrainingMolecules embed_training_molecules(const std::string& path, const Predictor& predictor, int threads);

}  // namespace molgraph

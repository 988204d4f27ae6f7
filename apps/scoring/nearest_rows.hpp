// Nearest-neighbour search among many rows, for the distance of an embedding to those of other molecules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

struct Neighbour {
  double distance = 0;    ///< Euclidean; infinite if there is no row
  std::size_t index = 0;  ///< of the nearest row, in the order of add(); for ties, the first
};

/// Exact search among rows [count, width] with blocked products |a - b|^2 = |a|^2 - 2 a.b + |b|^2. The distance of the
/// best row of each block is recomputed in double precision, so equal rows have distance 0. Takes about 2 * count *
/// width operations per query and twice the memory of the rows. find() is thread-safe.
class NearestRows {
 public:
  explicit NearestRows(std::size_t width);
  void add(std::span<const float> row);
  /// To be called after the last add() and before the first find().
  void finish();
  std::size_t size() const { return rows_.size() / width_; }
  /// The nearest row of each of `queries` [n, width]. There must be at least one row.
  std::vector<Neighbour> find(std::span<const float> queries) const;
  /// The nearest other row of each of the stored rows with the indices `rows` [n].
  std::vector<Neighbour> find_others(std::span<const std::size_t> rows) const;

 private:
  struct Block {
    std::vector<float> packed;  ///< [width, kColumns] in the layout of the engine's matrix product
    std::vector<float> bias;    ///< [kColumns] -|b|^2 / 2; the lowest float for columns without a row
  };
  void pack_block();
  double distance(const float* query, std::size_t row) const;
  /// `skipped` [n]: the row that each query ignores; empty = none.
  std::vector<Neighbour> search(std::span<const float> queries, std::span<const std::size_t> skipped) const;

  std::size_t width_;
  std::vector<float> rows_;
  std::vector<Block> blocks_;
};

}  // namespace molgraph

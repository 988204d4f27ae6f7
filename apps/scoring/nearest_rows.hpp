// The nearest of many rows of numbers: how far an embedding lies from those of other molecules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace molgraph {

struct Neighbour {
  double distance = 0;    ///< Euclidean; infinite where there is no row
  std::size_t index = 0;  ///< of the row found, in the order of add(); of equally near ones the first
};

/// Exact search among rows [count, width] by blocked products |a - b|^2 = |a|^2 - 2 a.b + |b|^2; the best of each block
/// is measured again in double precision, so equal rows have distance 0. About 2 * count * width operations per query,
/// and twice as many floats of memory as the rows have. find() is thread-safe.
class NearestRows {
 public:
  explicit NearestRows(std::size_t width);
  void add(std::span<const float> row);
  /// After the last add(), before the first find().
  void finish();
  std::size_t size() const { return rows_.size() / width_; }
  /// The neighbours of `queries` [n, width]. There must be at least one row.
  std::vector<Neighbour> find(std::span<const float> queries) const;
  /// Of rows of its own, numbers `rows` [n], the nearest other row.
  std::vector<Neighbour> find_others(std::span<const std::size_t> rows) const;

 private:
  struct Block {
    std::vector<float> packed;  ///< [width, kColumns] as the engine's product reads it
    std::vector<float> bias;    ///< [kColumns] -|b|^2 / 2; of columns without a row the lowest number
  };
  void pack_block();
  double distance(const float* query, std::size_t row) const;
  /// `skipped` [n]: a row that is not looked at; empty = none.
  std::vector<Neighbour> search(std::span<const float> queries, std::span<const std::size_t> skipped) const;

  std::size_t width_;
  std::vector<float> rows_;
  std::vector<Block> blocks_;
};

}  // namespace molgraph

// Lists that take less memory than std::vector: whole numbers in as few bytes as the largest needs, and rows of bytes
// of which few differ. With them, atoms and bonds take about a third of the memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Whole numbers from 0 to 2^31 - 1 in 1, 2 or 4 bytes each, as many as the largest number needs.
class NarrowNumbers {
 public:
  std::size_t size() const { return bytes_.size() / width_; }
  void push_back(std::uint32_t number);
  /// Returns a view of the numbers from number `first` on; valid until the next change.
  NumberView view(std::size_t first = 0) const { return {bytes_.data() + first * width_, width_}; }
  void shrink_to_fit() { bytes_.shrink_to_fit(); }
  bool operator==(const NarrowNumbers&) const = default;

 private:
  std::size_t width_ = 1;
  std::vector<std::uint8_t> bytes_;
};

/// Rows of bytes: each distinct row once, and a number per row.
class DistinctRows {
 public:
  /// Appends rows [n, columns], one after the other. All calls have the same `columns`, from 1 to kMaxAtomColumns.
  void append(std::span<const std::uint8_t> rows, int columns);
  std::size_t size() const { return code_.size(); }
  /// Returns a view of the rows from row `first` on; valid until the next change.
  RowView view(std::size_t first = 0) const { return {distinct_.data(), columns_, code_.view(first)}; }
  void shrink_to_fit();
  bool operator==(const DistinctRows& other) const { return distinct_ == other.distinct_ && code_ == other.code_; }

 private:
  using Key = std::array<std::uint64_t, 2>;  ///< the bytes of a row, then zeros
  static_assert(kMaxAtomColumns <= sizeof(Key));
  struct Hash {
    std::size_t operator()(const Key& key) const { return key[0] * 0x9E3779B97F4A7C15u ^ key[1] * 0xC2B2AE3D27D4EB4Fu; }
  };

  std::size_t columns_ = 0;
  std::vector<std::uint8_t> distinct_;  ///< [distinct rows, columns]
  NarrowNumbers code_;                  ///< [rows] index of a distinct row
  std::unordered_map<Key, std::uint32_t, Hash> code_of_;
};

}  // namespace molgraph

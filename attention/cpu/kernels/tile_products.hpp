// Matrix products on tiles (Intel AMX): registers of up to 16 rows of 64 bytes. `Tiles` is the class of the
// instructions: gemm_tiles.cpp has the processor's, the tests have the same in plain C++.
//
//     y [rows, columns] = or += left [rows, depth] * right [depth, columns] (+ bias [columns])
//
// One instruction multiplies a tile of `left` (up to 16 rows, 32 of the depth) by a tile of `right` (16 pairs of the
// depth, 16 columns) and adds the result to a tile of float32 sums. It treats subnormal numbers as zero.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "attention/cpu/kernels/gemm_tiles.hpp"
#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph::cpu {

inline constexpr int kFirstRight = 6;  ///< tiles 6 and 7 are right factors, with kTileRows rows

template <int N, class Work>
inline void unrolled(Work work) {
  [&]<int... K>(std::integer_sequence<int, K...>) { (work(std::integral_constant<int, K>()), ...); }
  (std::make_integer_sequence<int, N>());
}

/// Computes the columns of V tiles for R tiles of rows that begin at `row`, over `steps` tiles of the depth.
/// `right` is the first tile, `width` the columns of its panel.
template <class Tiles, int R, int V, bool kAccumulate>
inline void sum_tiles(const TileProduct& p, const std::array<std::size_t, R>& row, std::size_t step, std::size_t steps,
                      const std::uint16_t* right, std::size_t width, std::size_t column) {
  static_assert(R * V + R <= kFirstRight);  // sums, then left factors
  const std::size_t depth = p.steps * kTileDepth, y_bytes = p.y_stride * sizeof(float);
  const auto sums = [&](auto r, auto c) { return p.y + row[r] * p.y_stride + column + c * kBlock; };
  unrolled<R>([&](auto r) {
    unrolled<V>([&](auto c) {
      constexpr int kSum = decltype(r)::value * V + decltype(c)::value;
      if (kAccumulate || step > 0) Tiles::template load<kSum>(sums(r, c), y_bytes);
      else if (p.bias != nullptr) Tiles::template load<kSum>(p.bias + column + c * kBlock, 0);  // in every row
      else Tiles::template zero<kSum>();
    });
  });
  for (std::size_t k = step; k < step + steps; ++k) {
    unrolled<R>([&](auto r) {
      Tiles::template load<R * V + decltype(r)::value>(p.left + row[r] * depth + k * kTileDepth,
                                                       depth * sizeof(std::uint16_t));
    });
    const std::uint16_t* pairs = right + k * kTileDepth * width;
    unrolled<V>([&](auto c) {
      constexpr int kColumn = decltype(c)::value, kRight = kFirstRight + kColumn % 2;
      Tiles::template load<kRight>(pairs + c * 2 * kBlock, width * 2 * sizeof(std::uint16_t));
      unrolled<R>([&](auto r) {
        constexpr int kRow = decltype(r)::value;
        Tiles::template multiply_add<kRow * V + kColumn, R * V + kRow, kRight>();
      });
    });
  }
  unrolled<R>([&](auto r) {
    unrolled<V>(
        [&](auto c) { Tiles::template store<decltype(r)::value * V + decltype(c)::value>(sums(r, c), y_bytes); });
  });
}

/// Tiles of the depth whose right factors, two tiles of columns wide, stay in the first-level cache.
inline constexpr std::size_t kDeepSteps = 12;
inline bool is_deep(const TileProduct& p) { return p.steps > kDeepSteps; }

/// A panel of one to five tiles of columns: all at once for one tile of rows.
template <class Tiles, bool kAccumulate, class Row>
void multiply_panel(const TileProduct& p, std::size_t count, Row row, const std::uint16_t* right, std::size_t width,
                    std::size_t column) {
  with_blocks(width / kBlock, [&](auto v) {
    for (std::size_t t = 0; t < count; ++t)
      sum_tiles<Tiles, 1, decltype(v)::value, kAccumulate>(p, {row(t)}, 0, p.steps, right, width, column);
  });
}

/// The same for a large depth: two tiles of columns for two tiles of rows, so that a factor is used twice, and the
/// depth in parts.
template <class Tiles, bool kAccumulate, class Row>
void multiply_deep_panel(const TileProduct& p, std::size_t count, Row row, const std::uint16_t* right,
                         std::size_t width, std::size_t column) {
  for (std::size_t step = 0; step < p.steps; step += kDeepSteps) {
    const std::size_t steps = std::min(kDeepSteps, p.steps - step);
    for (std::size_t c = 0; c < width; c += 2 * kBlock)
      with_blocks(std::min<std::size_t>(2, (width - c) / kBlock), [&](auto v) {
        constexpr int V = std::min<int>(decltype(v)::value, 2);
        std::size_t t = 0;
        for (; t + 2 <= count; t += 2)
          sum_tiles<Tiles, 2, V, kAccumulate>(p, {row(t), row(t + 1)}, step, steps, right + 2 * c, width, column + c);
        if (t < count) sum_tiles<Tiles, 1, V, kAccumulate>(p, {row(t)}, step, steps, right + 2 * c, width, column + c);
      });
  }
}

/// Computes tiles of `size` rows from row `first` on. The last tile ends with the last row and may compute rows of the
/// tile before it again, unless sums are read: then the last rows may remain.
template <class Tiles, bool kAccumulate>
void multiply_rows(const TileProduct& p, std::size_t first, std::size_t size) {
  const bool exact = kAccumulate || is_deep(p);
  const std::size_t rows = p.rows - first, count = (exact ? rows : rows + size - 1) / size;
  const auto row = [&](std::size_t t) { return first + std::min(t * size, rows - size); };
  const std::size_t blocks = p.columns / kBlock;
  const std::uint16_t* right = p.right;
  std::size_t column = 0;
  for (std::size_t n = 0; n < panel_count(blocks); ++n) {
    const std::size_t width = panel_blocks(blocks, n) * kBlock;
    if (is_deep(p)) multiply_deep_panel<Tiles, kAccumulate>(p, count, row, right, width, column);
    else multiply_panel<Tiles, kAccumulate>(p, count, row, right, width, column);
    right += p.steps * kTileDepth * width;
    column += width;
  }
}

/// y = or += left * right (+ bias). Begins and ends with tiles of kTileRows rows.
template <class Tiles, bool kAccumulate>
void multiply_tiles(const TileProduct& p) {
  const std::size_t rest = p.rows % kTileRows, full = p.rows - rest;
  if (full > 0) multiply_rows<Tiles, kAccumulate>(p, 0, kTileRows);
  if (rest == 0 || (full > 0 && !kAccumulate && !is_deep(p))) return;
  Tiles::configure(rest);
  multiply_rows<Tiles, kAccumulate>(p, full, rest);
  Tiles::configure(kTileRows);
}

}  // namespace molgraph::cpu

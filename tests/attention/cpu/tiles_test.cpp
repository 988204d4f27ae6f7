// Products on tiles, with the instructions in plain C++, so that they are tested on every processor.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/cpu/kernels/tile_products.hpp"
#include "tests/support/errors.hpp"

namespace molgraph::test {
namespace {

using cpu::kTileDepth, cpu::kTileRows;

float as_float(std::uint16_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }
/// bfloat16 by truncation.
std::uint16_t shortened(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

/// 16 rows of 64 bytes, of which `rows` are in use.
struct Tile {
  std::size_t rows = 0;
  std::array<std::array<std::uint32_t, 16>, kTileRows> at{};
};

/// The tile instructions (Intel's manual, volume 2).
struct PlainTiles {
  static inline std::array<Tile, 8> tiles;
  static inline int configurations = 0;

  static void configure(std::size_t rows) {
    for (std::size_t t = 0; t < tiles.size(); ++t) tiles[t] = {.rows = t < cpu::kFirstRight ? rows : kTileRows};
    configurations += 1;
  }
  static Tile& used(std::size_t tile) {
    if (tiles[tile].rows == 0) throw std::logic_error("a tile is used before its configuration");
    return tiles[tile];
  }
  template <int kTile>
  static void zero() {
    used(kTile).at = {};
  }
  template <int kTile>
  static void load(const void* from, std::size_t stride) {
    Tile& tile = used(kTile);
    for (std::size_t r = 0; r < tile.rows; ++r)
      std::memcpy(tile.at[r].data(), static_cast<const char*>(from) + r * stride, sizeof(tile.at[r]));
  }
  template <int kTile>
  static void store(void* to, std::size_t stride) {
    const Tile& tile = used(kTile);
    for (std::size_t r = 0; r < tile.rows; ++r)
      std::memcpy(static_cast<char*>(to) + r * stride, tile.at[r].data(), sizeof(tile.at[r]));
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply_add() {
    Tile &sum = used(kSum), &left = used(kLeft), &right = used(kRight);
    if (sum.rows != left.rows || right.rows != kTileRows) throw std::logic_error("tiles do not fit");
    for (std::size_t r = 0; r < sum.rows; ++r)
      for (std::size_t pair = 0; pair < right.rows; ++pair)
        for (std::size_t c = 0; c < 16; ++c) {
          auto total = std::bit_cast<float>(sum.at[r][c]);
          for (int half = 0; half < 2; ++half)
            total += as_float(static_cast<std::uint16_t>(left.at[r][pair] >> 16 * half)) *
                     as_float(static_cast<std::uint16_t>(right.at[pair][c] >> 16 * half));
          sum.at[r][c] = std::bit_cast<std::uint32_t>(total);
        }
  }
};

struct Size {
  std::size_t rows, steps, columns;
};

/// Exactly the rows and columns of the product are allocated, so that sanitizers find accesses beyond them.
struct Case {
  Size size;
  std::vector<std::uint16_t> left, right, panels;  ///< [rows, depth], [depth, columns], as from pack_bf16()
  std::vector<float> bias, y;
  explicit Case(const Size& s)
      : size(s), left(s.rows * s.steps * kTileDepth), right(s.steps * kTileDepth * s.columns), panels(right.size()) {
    Numbers01 numbers(static_cast<unsigned>(s.rows + 100 * s.steps + 1000 * s.columns));
    for (std::uint16_t& x : left) x = shortened(numbers.next());
    for (std::uint16_t& x : right) x = shortened(numbers.next());
    bias = numbers.many(s.columns);
    y = numbers.many(s.rows * s.columns);
    std::size_t at = 0, first = 0;
    const std::size_t blocks = s.columns / cpu::kBlock;
    for (std::size_t p = 0; p < cpu::panel_count(blocks); ++p) {
      const std::size_t width = cpu::panel_blocks(blocks, p) * cpu::kBlock;
      for (std::size_t k = 0; k < s.steps * kTileDepth; k += 2)
        for (std::size_t c = 0; c < width; ++c)
          for (std::size_t half = 0; half < 2; ++half) panels[at++] = right[(k + half) * s.columns + first + c];
      first += width;
    }
  }
  cpu::TileProduct product(std::vector<float>& to, const float* start) const {
    return {left.data(), size.rows, size.steps, panels.data(), size.columns, start, to.data(), size.columns};
  }
  template <class T>
  T element(std::size_t r, std::size_t column, T start) const {
    const std::size_t depth = size.steps * kTileDepth;
    for (std::size_t k = 0; k < depth; ++k)
      start +=
          static_cast<T>(as_float(left[r * depth + k])) * static_cast<T>(as_float(right[k * size.columns + column]));
    return start;
  }
};

/// One row to several tiles with and without a rest, panels of one to five blocks, a depth in one and in several parts.
const std::vector<Size> kSizes{{1, 1, 16},  {15, 2, 32},   {16, 3, 80},  {17, 3, 240},  {50, 3, 80}, {31, 1, 64},
                               {40, 4, 48}, {33, 12, 112}, {32, 13, 80}, {50, 25, 176}, {5, 30, 96}};

TEST(Tiles, ProductsMatchTheirFormula) {
  for (const Size& size : kSizes) {
    const Case c(size);
    enum Start { nothing, bias, sums };
    for (const Start start : {nothing, bias, sums}) {
      std::vector<float> got = start == sums ? c.y : std::vector<float>(c.y.size(), kUnset);
      got.resize(got.size() + kTileRows * size.columns, 7.0f);  // must not change
      PlainTiles::configure(kTileRows);
      const cpu::TileProduct product = c.product(got, start == bias ? c.bias.data() : nullptr);
      if (start == sums) cpu::multiply_tiles<PlainTiles, true>(product);
      else cpu::multiply_tiles<PlainTiles, false>(product);
      EXPECT_EQ(PlainTiles::tiles[0].rows, kTileRows) << "the next product expects this configuration";
      EXPECT_TRUE(std::all_of(got.begin() + static_cast<std::ptrdiff_t>(c.y.size()), got.end(),
                              [](float x) { return x == 7.0f; }));
      Errors errors;
      for (std::size_t r = 0; r < size.rows; ++r)
        for (std::size_t column = 0; column < size.columns; ++column) {
          const std::size_t at = r * size.columns + column;
          const float first = start == bias ? c.bias[column] : start == sums ? c.y[at] : 0.0f;
          errors.add(c.element<double>(r, column, first), got[at], c.element<float>(r, column, first));
        }
      errors.expect_small(std::to_string(size.rows) + " x " + std::to_string(size.steps) + " steps x " +
                          std::to_string(size.columns));
    }
  }
}

TEST(Tiles, ARowDoesNotDependOnTheOthers) {
  for (const std::size_t steps : {std::size_t{3}, std::size_t{26}}) {
    const Case all({50, steps, 80});
    std::vector<float> together(all.y.size()), alone(80);
    PlainTiles::configure(kTileRows);
    cpu::multiply_tiles<PlainTiles, false>(all.product(together, all.bias.data()));
    for (std::size_t r = 0; r < 50; ++r) {
      cpu::TileProduct one = all.product(alone, all.bias.data());
      one.left += r * steps * kTileDepth;
      one.rows = 1;
      cpu::multiply_tiles<PlainTiles, false>(one);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(r * 80)))
          << "row " << r;
    }
  }
}

TEST(Tiles, ConfigurationIsChangedOnlyForARest) {
  const auto count = [](const Size& size, bool accumulate) {
    const Case c(size);
    std::vector<float> got = c.y;
    PlainTiles::configure(kTileRows);
    PlainTiles::configurations = 0;
    if (accumulate) cpu::multiply_tiles<PlainTiles, true>(c.product(got, nullptr));
    else cpu::multiply_tiles<PlainTiles, false>(c.product(got, nullptr));
    return PlainTiles::configurations;
  };
  EXPECT_EQ(count({48, 3, 80}, false), 0);
  EXPECT_EQ(count({50, 3, 80}, false), 0) << "the last tile overlaps the one before it";
  EXPECT_EQ(count({50, 13, 80}, false), 2) << "tiles that are computed in parts must not overlap";
  EXPECT_EQ(count({80, 2, 80}, true), 0);
  EXPECT_EQ(count({50, 3, 80}, true), 2);
  EXPECT_EQ(count({10, 3, 80}, false), 2);
}

}  // namespace
}  // namespace molgraph::test

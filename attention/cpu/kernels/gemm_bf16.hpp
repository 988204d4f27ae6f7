// Matrix products with bfloat16 factors and float32 sums, only for x86 with AVX512_BF16, and with tiles (Intel AMX) if
// the processor has them. Highway 1.0 has neither, so these kernels use intrinsics and inline assembly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/cpu/kernels/gemm_tiles.hpp"
#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph::cpu {

/// Kind of bfloat16 products, determined from CPUID and, for tiles, the operating system's permission. AMD's
/// AVX512_BF16 (from Zen 4 on) has twice the rate of float32: `fast`. Intel's uses one port, float32 uses two: `slow`,
/// no gain, and rounding takes time. `tiles` have up to sixteen times the rate of float32.
enum class Bf16Products : std::uint8_t { none, slow, fast, tiles };
Bf16Products bf16_products();
/// True if this processor has bfloat16 products. If false, do not call the functions below.
inline bool has_bf16() { return bf16_products() != Bf16Products::none; }

/// Converts x [rows, columns], float32, to panels of columns as in pack_weights(), bfloat16 (rounded to nearest, ties
/// to even), with rows in pairs: [panel][rows / 2][column][2]. Rows are padded with zeros to a multiple of kTileDepth.
/// `columns` is a multiple of kBlock. `out` has bf16_panels_size() elements.
void pack_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns, std::uint16_t* out);
/// Converts x [rows, columns] to its transpose [columns, tile_padded(rows)], rounded and padded in the same way.
void pack_transposed_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns,
                          std::uint16_t* out);
inline std::size_t tile_padded(std::size_t depth) { return (depth + kTileDepth - 1) / kTileDepth * kTileDepth; }
inline std::size_t bf16_panels_size(std::size_t rows, std::size_t columns) { return tile_padded(rows) * columns; }

/// Same as Kernels::gemm without `accumulate`. g.weights is not used; `weights` are from pack_bf16(). `a` is rounded
/// into `scratch`, gemm_bf16_scratch() elements. `tiles`: on tiles, by default if the processor has them; the calling
/// thread then needs a TileScope.
void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch, bool tiles = has_tiles());
inline std::size_t gemm_bf16_scratch(const Gemm& g) { return g.rows * tile_padded(g.depth); }

/// Same as Kernels::weight_gradient. `a` [rows, depth padded to kBlock] and `y` are rounded into `scratch`,
/// weight_gradient_bf16_scratch() elements. `tiles`: as for gemm_bf16().
void weight_gradient_bf16(const WeightGradient& g, std::uint16_t* scratch, bool tiles = has_tiles());
inline std::size_t weight_gradient_bf16_scratch(const WeightGradient& g) {
  return bf16_panels_size(g.rows, padded(g.depth)) + bf16_panels_size(g.rows, g.columns);
}

}  // namespace molgraph::cpu

// Matrix products with bfloat16 factors and float32 sums. x86 with AVX512_BF16 only: Highway 1.0 knows no bfloat16 dot
// product, so these two kernels are written in intrinsics.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph::cpu {

/// What bfloat16 products are worth on this processor, by what CPUID says. AMD (from Zen 4 on) computes them at twice
/// the rate of float32's; Intel's AVX512_BF16 takes one port of the two that float32 has: no gain, and rounding costs.
enum class Bf16Products : std::uint8_t { none, slow, fast };
Bf16Products bf16_products();
/// Whether this processor can. Nothing below may be called where it cannot.
inline bool has_bf16() { return bf16_products() != Bf16Products::none; }

/// x [rows, columns] float32 -> panels of columns as pack_weights() makes them, bfloat16 (rounded to nearest, ties to
/// even), rows in pairs: [panel][rows / 2][column][2], an odd last row beside zeros. `columns` a multiple of kBlock;
/// `out` has bf16_panels_size() numbers.
void pack_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns, std::uint16_t* out);
inline std::size_t bf16_panels_size(std::size_t rows, std::size_t columns) { return (rows + 1) / 2 * 2 * columns; }

/// As Kernels::gemm without `accumulate`; g.weights is not used, `weights` are from pack_bf16(). `a` is rounded into
/// `scratch`, gemm_bf16_scratch() numbers.
void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch);
inline std::size_t gemm_bf16_scratch(const Gemm& g) { return g.rows * ((g.depth + 31) / 32 * 32); }

/// As Kernels::weight_gradient; `a` [rows, depth padded to kBlock] and `y` are rounded into `scratch`,
/// weight_gradient_bf16_scratch() numbers.
void weight_gradient_bf16(const WeightGradient& g, std::uint16_t* scratch);
inline std::size_t weight_gradient_bf16_scratch(const WeightGradient& g) {
  return bf16_panels_size(g.rows, padded(g.depth)) + bf16_panels_size(g.rows, g.columns);
}

}  // namespace molgraph::cpu

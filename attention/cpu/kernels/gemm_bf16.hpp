// Matrix products with bfloat16 factors and float32 sums, only for x86 with AVX512_BF16. Highway 1.0 has no bfloat16
// dot product, so these two kernels use intrinsics.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph::cpu {

/// Speed of bfloat16 products on this processor, determined from CPUID. AMD (from Zen 4 on) computes them at twice the
/// rate of float32. Intel's AVX512_BF16 uses one port, float32 uses two: there is no gain, and rounding takes time.
enum class Bf16Products : std::uint8_t { none, slow, fast };
Bf16Products bf16_products();
/// True if this processor has bfloat16 products. If false, do not call the functions below.
inline bool has_bf16() { return bf16_products() != Bf16Products::none; }

/// Converts x [rows, columns], float32, to panels of columns as in pack_weights(), bfloat16 (rounded to nearest, ties
/// to even), with rows in pairs: [panel][rows / 2][column][2]; an odd last row is paired with zeros. `columns` is a
/// multiple of kBlock. `out` has bf16_panels_size() elements.
void pack_bf16(const float* x, std::size_t stride, std::size_t rows, std::size_t columns, std::uint16_t* out);
inline std::size_t bf16_panels_size(std::size_t rows, std::size_t columns) { return (rows + 1) / 2 * 2 * columns; }

/// Same as Kernels::gemm without `accumulate`. g.weights is not used; `weights` are from pack_bf16(). `a` is rounded
/// into `scratch`, gemm_bf16_scratch() elements.
void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch);
inline std::size_t gemm_bf16_scratch(const Gemm& g) { return g.rows * ((g.depth + 31) / 32 * 32); }

/// Same as Kernels::weight_gradient. `a` [rows, depth padded to kBlock] and `y` are rounded into `scratch`,
/// weight_gradient_bf16_scratch() elements.
void weight_gradient_bf16(const WeightGradient& g, std::uint16_t* scratch);
inline std::size_t weight_gradient_bf16_scratch(const WeightGradient& g) {
  return bf16_panels_size(g.rows, padded(g.depth)) + bf16_panels_size(g.rows, g.columns);
}

}  // namespace molgraph::cpu

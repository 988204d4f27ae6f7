// Matrix products with bfloat16 factors and float32 sums, for inference. x86 with AVX512_BF16 only: Highway 1.0 knows no
// bfloat16 dot product, so this one kernel is written in intrinsics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graphormer/attention/cpu/kernels.hpp"

namespace molgraph::cpu {

/// Whether this processor can.
bool has_bf16();

/// weights [depth, columns] float32, row-major -> panels as pack_weights() makes them, bfloat16 (rounded to nearest, ties
/// to even), rows in pairs: [panel][depth / 2][column][2], an odd last row padded with zeros.
std::vector<std::uint16_t> pack_weights_bf16(const float* weights, std::size_t depth, std::size_t columns);

/// As Kernels::gemm without `accumulate`; g.weights is not used. `a` is rounded to bfloat16 into `scratch`,
/// [rows, depth rounded up to a multiple of 32].
void gemm_bf16(const Gemm& g, const std::uint16_t* weights, std::uint16_t* scratch);
inline std::size_t bf16_row(std::size_t depth) { return (depth + 31) / 32 * 32; }

}  // namespace molgraph::cpu

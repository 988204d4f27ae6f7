// What the products of the CUDA engine compute in.
#pragma once

#include "attention/cuda/namespace.hpp"

namespace molgraph::MOLGRAPH_CUDA {

/// fp32: true float32. tf32: the products' factors have 10 bits of fraction. bf16: the products' factors, and what is kept between
/// them, have 7. Sums, softmax, LayerNorm, the residual stream and the parameters are float32 in all.
enum class Math { fp32, tf32, bf16 };

}  // namespace molgraph::MOLGRAPH_CUDA

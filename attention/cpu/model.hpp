// The CPU engine (attention/engine.hpp).
#pragma once

#include <memory>
#include <string>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/engine.hpp"

namespace molgraph {

/// Throws std::invalid_argument for an invalid plan and for a precision that this processor does not support.
std::unique_ptr<Engine> make_cpu_engine(const ModelPlan& plan, int threads, Precision precision);

namespace cpu {

/// The reason why this processor does not support the precision, or "" if it does.
std::string why_unusable(Precision precision);

/// molgraph::used_precision() for a processor with bfloat16 products of this kind.
UsedPrecision used_precision(Precision requested, Bf16Products products = bf16_products());

}  // namespace cpu
}  // namespace molgraph

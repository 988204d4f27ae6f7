// The engine on the CPU (attention/engine.hpp).
#pragma once

#include <memory>
#include <string>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/engine.hpp"

namespace molgraph {

/// Throws std::invalid_argument for a plan that does not fit and for a precision that this processor lacks.
std::unique_ptr<Engine> make_cpu_engine(const ModelPlan& plan, int threads, Precision precision);

namespace cpu {

/// Why this processor cannot compute in the precision, "" if it can.
std::string why_unusable(Precision precision);

/// molgraph::used_precision() of a processor with such products.
UsedPrecision used_precision(Precision asked, Bf16Products products = bf16_products());

}  // namespace cpu
}  // namespace molgraph

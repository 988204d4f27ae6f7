// How large a model is, told from its plan before any of it exists.
#pragma once

#include <cstdint>

#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// What training keeps of each parameter, in arrays of float32.
struct KeptArrays {
  bool trains = true;    ///< gradient and two moments; false: frozen
  bool average = false;  ///< --ema
  bool engine = true;    ///< the CPU engine's own layouts of the weights
};
/// Throws UsageError with the numbers if this machine's memory cannot hold what training keeps at least of such a
/// model.
void check_model_fits(const ModelPlan& plan, const KeptArrays& kept);

}  // namespace molgraph

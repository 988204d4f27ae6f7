// Memory that a model needs, computed from its plan before it is created.
#pragma once

#include <cstdint>

#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// float32 arrays that training needs for each parameter.
struct KeptArrays {
  bool trains = true;    ///< gradient and two moments; false: frozen
  bool average = false;  ///< --ema
  bool engine = true;    ///< the CPU engine's layouts of the weights
};
/// Throws UsageError, with the sizes, if this machine has less memory than training such a model needs at least.
void check_model_fits(const ModelPlan& plan, const KeptArrays& kept);

}  // namespace molgraph

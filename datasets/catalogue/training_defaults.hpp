// What a training of a named data set does where nobody says otherwise.
#pragma once

#include <cstdint>
#include <string>

namespace molgraph {

/// "", 0 and false: as for any table.
struct TrainingDefaults {
  std::string recipe{};         ///< where nothing of the model is said; what follows counts without it
  std::string model{};          ///< an architecture's name
  std::int64_t steps = 0;       ///< updates
  std::int64_t batch_size = 0;  ///< molecules
  bool computed = false;        ///< targets are computed, without an assay's noise: learned longer, by larger models
};

}  // namespace molgraph

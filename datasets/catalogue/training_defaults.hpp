// Default training settings of a named data set.
#pragma once

#include <cstdint>
#include <string>

namespace molgraph {

/// "", 0 and false: same defaults as for other tables.
struct TrainingDefaults {
  std::string recipe{};         ///< used if no model option is specified; the other fields apply without it
  std::string model{};          ///< name of an architecture
  std::int64_t steps = 0;       ///< updates
  std::int64_t batch_size = 0;  ///< molecules
  bool computed = false;  ///< targets are computed, without experimental noise: trained longer and with larger models
};

}  // namespace molgraph

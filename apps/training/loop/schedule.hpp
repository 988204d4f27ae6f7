// Learning rate schedules. Does not include torch.
#pragma once

#include <cstdint>

namespace molgraph {

/// Decay of the learning rate after the warm-up, from the peak to the value of the last step: linear, or half a cosine
/// period (Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5, without restarts).
enum class Schedule : std::uint8_t { linear, cosine };

}  // namespace molgraph

// How the learning rate falls: no torch here.
#pragma once

#include <cstdint>

namespace molgraph {

/// Behind the warm-up, from the peak to the last step's: in a line, or by half a cosine (Loshchilov & Hutter 2017,
/// arXiv:1608.03983, eq. 5, without restarts).
enum class Schedule : std::uint8_t { linear, cosine };

}  // namespace molgraph

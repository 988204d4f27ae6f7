// Number of usable cores, and the parallel loop that uses them.
#pragma once

#include <cstdint>
#include <functional>

namespace molgraph {

/// Returns the number of cores from the process's affinity mask and its cgroup's CPU quota (rounded up); at least 1.
int usable_cores();
/// Returns `requested` if it is positive, otherwise usable_cores().
int thread_count(int requested);

/// Calls work(begin, end) for consecutive pieces of [0, count), at most `piece` long, on `threads` threads (0 = all
/// usable cores). Pieces are started in order. The first exception ends the loop and is rethrown.
void parallel_for(std::int64_t count, std::int64_t piece, int threads,
                  const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace molgraph

// Runs the processes of a data-parallel training as threads of a test.
#pragma once

#include <functional>
#include <memory>

#include "apps/training/loop/processes.hpp"

namespace molgraph::test {

/// Returns a TCP port of this machine that is not in use, below the range from which the system assigns ports. It
/// depends on the process id, so tests that run at the same time choose different ports.
int free_port();

/// Calls `work` in `count` threads, each as one process of a new group. Rethrows the first exception after all threads
/// have ended.
void run_together(int count, const std::function<void(const std::shared_ptr<Processes>&)>& work);

}  // namespace molgraph::test

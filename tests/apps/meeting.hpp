// Several processes of one training, as threads of a test.
#pragma once

#include <functional>
#include <memory>

#include "apps/training/processes.hpp"

namespace molgraph::test {

/// A TCP port of this machine that nobody uses at the moment, below those that the system gives to sockets that ask for
/// any. It follows from the number of the process, so that tests side by side do not choose the same one.
int free_port();

/// Calls `work` in `count` threads, each with its place in a group of its own. The first exception is thrown again at
/// the end.
void run_together(int count, const std::function<void(const std::shared_ptr<Processes>&)>& work);

}  // namespace molgraph::test

// Several processes of one training, as threads of a test.
#pragma once

#include <functional>
#include <memory>

#include "apps/training/processes.hpp"

namespace molgraph::test {

/// A TCP port of this machine that nobody uses at the moment, below those that the system gives to sockets that ask for
/// any. Processes that run at the same time get different ones.
int free_port();

/// Calls `work` in `count` threads, each with its place in a group of its own. The first exception is thrown again at
/// the end.
void run_together(int count, const std::function<void(const std::shared_ptr<Processes>&)>& work);

}  // namespace molgraph::test

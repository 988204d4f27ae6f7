// Threads for short parallel sections.
#pragma once

#include <functional>

namespace molgraph {

/// Calls task() on the calling thread and on `threads` - 1 others at once, and returns when all calls have ended.
/// `task` must not throw. May be called on several threads, and inside of a task. The other threads are kept for later
/// calls: they first wait actively for at most about 0.1 ms and then sleep. An update of a small model has several
/// parallel sections of less than a millisecond, and waking a sleeping thread or starting one can take 0.3 ms.
/// After a fork, the child starts its own threads. Throws std::system_error if a thread cannot be started.
void run_on_threads(int threads, const std::function<void()>& task);

}  // namespace molgraph

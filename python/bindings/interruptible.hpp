// Work without the interpreter's lock, which Ctrl-C ends.
#pragma once

#include <atomic>
#include <functional>

namespace molgraph::python {

/// Runs `work` on a thread of its own, without Python's lock (GIL), while this one asks Python for signals ten times a
/// second. After a signal `stopped` is true, work is to return soon, and Python's exception (KeyboardInterrupt) is
/// thrown. What `work` throws is thrown here.
void interruptible(const std::function<void(const std::atomic<bool>& stopped)>& work);

}  // namespace molgraph::python

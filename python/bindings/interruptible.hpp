// Work without the GIL that Ctrl-C can interrupt.
#pragma once

#include <atomic>
#include <functional>

namespace molgraph::python {

/// Runs `work` in a separate thread without the GIL, while the calling thread checks for Python signals ten times per
/// second. After a signal, `stopped` is true, `work` must return soon, and Python's exception (KeyboardInterrupt) is
/// thrown. Rethrows exceptions of `work`.
void interruptible(const std::function<void(const std::atomic<bool>& stopped)>& work);

}  // namespace molgraph::python

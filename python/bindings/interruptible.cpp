#include "python/bindings/interruptible.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <future>

namespace molgraph::python {

namespace nb = nanobind;

constexpr std::chrono::milliseconds kSignalCheckInterval{100};

void interruptible(const std::function<void(const std::atomic<bool>&)>& work) {
  std::atomic<bool> stopped{false};
  bool interrupted = false;
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release free;
    std::future<void> done = std::async(std::launch::async, [&] { work(stopped); });
    while (done.wait_for(kSignalCheckInterval) != std::future_status::ready) {
      if (stopped) continue;
      const nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) stopped = interrupted = true;
    }
    try {
      done.get();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (interrupted) throw nb::python_error();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace molgraph::python

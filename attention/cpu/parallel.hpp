// Distributes work over a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "featurize/graph/helper_threads.hpp"

namespace molgraph::cpu {

/// Calls run(next) on up to `threads` threads at once. next() returns each number below `count` once, then `count`. If
/// a thread throws an exception, it is rethrown here after all threads have ended.
template <class Run>
void on_threads(int threads, std::size_t count, Run run) {
  std::atomic<std::size_t> counter{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto next = [&] { return std::min(counter++, count); };
  const auto loop = [&] {
    try {
      run(next);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  run_on_threads(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), count)), loop);
  if (failure) std::rethrow_exception(failure);
}

/// Calls work(k) once for each k in [0, count), on up to `threads` threads.
template <class Work>
void for_each_on_threads(int threads, std::size_t count, Work work) {
  on_threads(threads, count, [&](const auto& next) {
    for (std::size_t k = next(); k < count; k = next()) work(k);
  });
}

}  // namespace molgraph::cpu

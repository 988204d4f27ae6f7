// A pipeline that reads items one at a time, processes them in several threads and consumes the results in input order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace molgraph {

template <class Item, class Result>
struct OrderedPipeline {
  std::function<bool(Item&)> next;        ///< reads the next item; false at the end. Called by one thread at a time.
  std::function<Result(Item&&)> work;     ///< called concurrently by `threads` threads
  std::function<void(Result&&)> consume;  ///< called in order, in the thread that calls run()
  std::function<void()> cancel;           ///< makes a waiting next() return false
  int threads = 1;

  /// Rethrows an exception of `next` or `work` after consuming the results of all earlier items. All threads have ended
  /// when run() returns or throws. At most threads + 4 items are in progress, so memory is bounded.
  void run();
};

template <class Item, class Result>
void OrderedPipeline<Item, Result>::run() {
  struct Outcome {
    std::optional<Result> result;
    std::exception_ptr error;
  };
  std::mutex source, mutex;
  std::condition_variable changed;
  std::map<std::int64_t, Outcome> finished;  // key: item number
  std::int64_t started = 0, consumed = 0;    // numbers of items
  bool ended = false;                        // start no more items
  const std::int64_t max_in_progress = std::int64_t{threads} + 4;

  const auto loop = [&] {
    while (true) {
      Item item{};
      Outcome outcome;
      std::int64_t number = 0;
      bool has_item = false;
      {
        const std::lock_guard one_at_a_time(source);
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return ended || started - consumed < max_in_progress; });
          if (ended) return;
        }
        try {
          has_item = next(item);
        } catch (...) {
          outcome.error = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        if (!has_item) {
          ended = true;
          changed.notify_all();
          if (!outcome.error) return;
        }
        number = started++;
      }
      if (has_item) {
        try {
          outcome.result = work(std::move(item));
        } catch (...) {
          outcome.error = std::current_exception();
        }
      }
      const std::lock_guard lock(mutex);
      if (outcome.error) ended = true;
      finished.emplace(number, std::move(outcome));
      changed.notify_all();
    }
  };

  std::vector<std::thread> workers;
  const auto stop_and_join = [&] {
    {
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
    }
    if (cancel) cancel();
    for (std::thread& worker : workers) worker.join();
  };
  try {
    for (int t = 0; t < threads; ++t) workers.emplace_back(loop);
    while (true) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return finished.contains(consumed) || (ended && consumed == started); });
      const auto found = finished.find(consumed);
      if (found == finished.end()) break;
      Outcome outcome = std::move(found->second);
      finished.erase(found);
      lock.unlock();
      if (outcome.error) std::rethrow_exception(outcome.error);
      consume(std::move(*outcome.result));
      lock.lock();
      ++consumed;
      changed.notify_all();
    }
  } catch (...) {
    stop_and_join();
    throw;
  }
  stop_and_join();
}

}  // namespace molgraph

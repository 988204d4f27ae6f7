#include "featurize/graph/helper_threads.hpp"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace molgraph {
namespace {

constexpr int kActiveWaits = 4000;  // at most about 0.1 ms

/// Tells the processor that the thread is waiting for another one.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A thread that runs one task at a time. It is never destroyed, because a program may end while it sleeps.
class alignas(64) Helper {  // a cache line
 public:
  Helper() {
    std::thread([this] { run(); }).detach();
  }

  void start(const std::function<void()>& task) {
    task_ = &task;
    set(kBusy);
  }
  void wait_for_end() { wait_while(kBusy); }

 private:
  // An int, because std::atomic waits for other types by means of a shared table.
  static constexpr int kIdle = 0, kBusy = 1;

  void run() {
    for (;;) {
      wait_while(kIdle);
      (*task_)();
      set(kIdle);
    }
  }
  // Sequentially consistent: notify_one() reads whether a thread sleeps, and must not do so before the store.
  void set(int state) {
    state_.store(state);
    state_.notify_one();
  }
  void wait_while(int state) {
    for (int k = 0; k < kActiveWaits; ++k) {
      if (state_.load(std::memory_order_acquire) != state) return;
      relax();
    }
    state_.wait(state, std::memory_order_acquire);
  }

  std::atomic<int> state_{kIdle};
  const std::function<void()>* task_ = nullptr;
};

/// The helpers that no call uses.
class IdleHelpers {
 public:
  /// The last used helpers first, because they may still wait actively.
  std::vector<Helper*> take(std::size_t count) {
    std::vector<Helper*> taken;
    {
      const std::lock_guard lock(mutex_);
      for (; taken.size() < count && !idle_.empty(); idle_.pop_back()) taken.push_back(idle_.back());
    }
    try {
      while (taken.size() < count) taken.push_back(new Helper);
    } catch (...) {
      give_back(taken);
      throw;
    }
    return taken;
  }
  void give_back(const std::vector<Helper*>& helpers) {
    const std::lock_guard lock(mutex_);
    idle_.insert(idle_.end(), helpers.rbegin(), helpers.rend());
  }

  /// For fork(): its child has none of the threads.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void forget() { idle_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<Helper*> idle_;
};

IdleHelpers& idle_helpers() {
  static IdleHelpers* const helpers = [] {
    ::pthread_atfork([] { idle_helpers().lock(); }, [] { idle_helpers().unlock(); },
                     [] {
                       idle_helpers().forget();
                       idle_helpers().unlock();
                     });
    return new IdleHelpers;  // helpers may outlive all static objects
  }();
  return *helpers;
}

}  // namespace

void run_on_threads(int threads, const std::function<void()>& task) {
  if (threads <= 1) return task();
  const std::vector<Helper*> helpers = idle_helpers().take(static_cast<std::size_t>(threads - 1));
  for (Helper* helper : helpers) helper->start(task);
  task();
  for (Helper* helper : helpers) helper->wait_for_end();
  idle_helpers().give_back(helpers);
}

}  // namespace molgraph

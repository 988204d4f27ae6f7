#include "featurize/graph/helper_threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace molgraph {
namespace {

/// The threads on which a task of run_on_threads() ran. All calls of a task must be active at once to end.
std::set<std::thread::id> threads_of_one_call(int threads) {
  std::barrier all(threads);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  run_on_threads(threads, [&] {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    all.arrive_and_wait();
  });
  return ids;
}

TEST(HelperThreads, RunATaskOnEachThreadAtOnce) {
  for (const int threads : {1, 2, 5}) {
    const std::set<std::thread::id> ids = threads_of_one_call(threads);
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(threads));
    EXPECT_TRUE(ids.contains(std::this_thread::get_id()));
  }
}

TEST(HelperThreads, AreUsedAgain) {
  const std::set<std::thread::id> first = threads_of_one_call(4);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(threads_of_one_call(4), first);
}

TEST(HelperThreads, WakeUpAfterTheySlept) {
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(threads_of_one_call(3).size(), 3u);
  }
}

TEST(HelperThreads, ACallEndsAfterAllItsTasks) {
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> ended{0};
    run_on_threads(3, [&] {
      for (int k = 0; k < 50 * (round % 7); ++k) std::atomic_signal_fence(std::memory_order_seq_cst);
      ++ended;
    });
    ASSERT_EQ(ended.load(), 3);
  }
}

TEST(HelperThreads, SeveralCallersAndNestedCallsHaveTheirOwnHelpers) {
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) run_on_threads(3, [&] { run_on_threads(2, [&] { ++calls; }); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls.load(), 4 * 100 * 3 * 2);
}

TEST(HelperThreads, AChildProcessStartsItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no new threads in the child of a process with several threads";
#endif
  threads_of_one_call(3);  // helpers exist
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(threads_of_one_call(3).size() == 3 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(threads_of_one_call(3).size(), 3u);
}

}  // namespace
}  // namespace molgraph

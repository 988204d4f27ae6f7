// Results come in input order with any number of threads. Errors come after the results of earlier items.
#include "apps/programs/shell/ordered_pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace molgraph {
namespace {

using Pipeline = OrderedPipeline<int, int>;

struct Counted {
  int items = 0, failing = -1, failing_work = -1;
  std::atomic<int> worked{0};
  std::vector<int> taken;
  int produced = 0;

  Pipeline pipeline(int threads) {
    Pipeline p;
    p.threads = threads;
    p.next = [this](int& item) {
      if (produced == failing) throw std::runtime_error("next");
      item = produced;
      return produced++ < items;
    };
    p.work = [this](int&& item) {
      if (item == failing_work) throw std::runtime_error("work");
      std::this_thread::sleep_for(std::chrono::microseconds(item % 3 == 0 ? 300 : 10));
      ++worked;
      return 10 * item;
    };
    p.consume = [this](int&& result) { taken.push_back(result); };
    return p;
  }
};

std::vector<int> tens(int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back(10 * i);
  return values;
}

TEST(OrderedPipeline, KeepsInputOrder) {
  for (const int threads : {1, 2, 7}) {
    for (const int items : {0, 1, 2, 100}) {
      Counted counted;
      counted.items = items;
      counted.pipeline(threads).run();
      EXPECT_EQ(counted.taken, tens(items)) << threads;
    }
  }
}

TEST(OrderedPipeline, ErrorsAreThrownAfterEarlierResults) {
  for (const int threads : {1, 4}) {
    Counted in_next, in_work;
    in_next.items = in_work.items = 100;
    in_next.failing = in_work.failing_work = 41;
    EXPECT_THROW(in_next.pipeline(threads).run(), std::runtime_error);
    EXPECT_THROW(in_work.pipeline(threads).run(), std::runtime_error);
    EXPECT_EQ(in_next.taken, tens(41)) << threads;
    EXPECT_EQ(in_work.taken, tens(41)) << threads;
  }
}

TEST(OrderedPipeline, SlowConsumerLimitsItemsInProgress) {
  Counted counted;
  counted.items = 60;
  Pipeline pipeline = counted.pipeline(3);
  int most_in_progress = 0;
  pipeline.consume = [&](int&& result) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    counted.taken.push_back(result);
    most_in_progress = std::max(most_in_progress, counted.worked.load() - static_cast<int>(counted.taken.size()));
  };
  pipeline.run();
  EXPECT_LE(most_in_progress, 3 + 4);
  EXPECT_EQ(counted.taken, tens(60));
}

TEST(OrderedPipeline, ThrowingConsumerCancelsAWaitingSource) {
  Counted counted;
  counted.items = 1000;
  std::atomic<bool> cancelled{false};
  Pipeline pipeline = counted.pipeline(2);
  pipeline.next = [&](int& item) {
    item = counted.produced++;
    while (item > 3 && !cancelled) std::this_thread::yield();  // without cancel, the source would wait forever
    return !cancelled;
  };
  pipeline.cancel = [&] { cancelled = true; };
  pipeline.consume = [](int&&) { throw std::runtime_error("consume"); };
  EXPECT_THROW(pipeline.run(), std::runtime_error);
}

}  // namespace
}  // namespace molgraph

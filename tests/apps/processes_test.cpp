#include "apps/training/loop/processes.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "featurize/graph/error.hpp"
#include "tests/apps/meeting.hpp"

namespace molgraph::test {
namespace {

TEST(Processes, SingleProcessChangesNothing) {
  Processes alone;
  std::vector<float> values{1, 2};
  alone.sum(std::span(values));
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  std::string text = "mine";
  alone.share(text);
  EXPECT_EQ(text, "mine");
  EXPECT_TRUE(alone.is_single() && alone.first());
}

TEST(Processes, SumAndShare) {
  for (const int count : {2, 3}) {
    run_together(count, [&](const std::shared_ptr<Processes>& processes) {
      const int rank = processes->rank();
      std::vector<float> floats{static_cast<float>(rank + 1), 0.5f};
      processes->sum(std::span(floats));
      EXPECT_EQ(floats,
                (std::vector<float>{static_cast<float>(count * (count + 1) / 2), 0.5f * static_cast<float>(count)}));
      std::vector<double> doubles(1000, 1e-12 + rank);
      processes->sum(std::span(doubles));
      EXPECT_DOUBLE_EQ(doubles[999], count * 1e-12 + count * (count - 1) / 2);
      std::string text = rank == 0 ? "the first's words" : std::string(static_cast<std::size_t>(rank) * 100, 'x');
      processes->share(text);
      EXPECT_EQ(text, "the first's words");
      std::string empty = rank == 0 ? "" : "not empty";
      processes->share(empty);
      EXPECT_EQ(empty, "");
    });
  }
}

TEST(Processes, PartsAreConsecutiveAndComplete) {
  for (const std::size_t size : {0u, 1u, 2u, 7u, 12u}) {
    std::vector<int> items(size), joined;
    std::iota(items.begin(), items.end(), 0);
    std::vector<std::vector<int>> parts(3);
    run_together(3, [&](const std::shared_ptr<Processes>& processes) {
      const auto part = processes->part(std::span(items));
      parts[static_cast<std::size_t>(processes->rank())].assign(part.begin(), part.end());
    });
    for (const auto& part : parts) {
      EXPECT_LE(part.size(), size / 3 + 1);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, items);
  }
}

TEST(Processes, EndedProcessIsAnError) {
  run_together(2, [&](const std::shared_ptr<Processes>& processes) {
    if (processes->rank() == 1) return;  // releases the only reference
    std::vector<double> values(4, 1.0);
    EXPECT_THROW(processes->sum(std::span(values)), ProcessError);
  });
}

TEST(Processes, ConnectOnTheChosenInterface) {
  ::setenv("GLOO_SOCKET_IFNAME", "lo", 1);
  run_together(2, [&](const std::shared_ptr<Processes>& processes) { processes->wait(); });
  ::setenv("GLOO_SOCKET_IFNAME", "nosuch0", 1);
  std::string problem;
  try {
    run_together(2, [&](const std::shared_ptr<Processes>&) {});
  } catch (const ProcessError& error) {
    problem = error.what();
  }
  EXPECT_NE(problem.find("GLOO_SOCKET_IFNAME=nosuch0: there is no such network interface"), std::string::npos)
      << problem;
  ::unsetenv("GLOO_SOCKET_IFNAME");
}

/// The error of one of three processes if the other two do not connect within one second.
std::string rendezvous_error(int rank) {
  try {
    Processes{{.rank = rank, .count = 3, .address = "127.0.0.1", .port = free_port(), .patience = 1}};
  } catch (const ProcessError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Processes, ErrorNamesMissingProcessesAfterTheTimeout) {
  EXPECT_NE(rendezvous_error(0).find("processes 1, 2 did not connect within 1 s"), std::string::npos)
      << rendezvous_error(0);
  EXPECT_NE(rendezvous_error(2).find("process 0, which hosts the rendezvous, did not answer within 1 s"),
            std::string::npos)
      << rendezvous_error(2);
}

TEST(Processes, PortInUseIsAnError) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const int port = free_port();
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(descriptor, 1), 0);
  try {
    Processes{{.rank = 0, .count = 2, .address = "127.0.0.1", .port = port, .patience = 1}};
    ADD_FAILURE() << "no error";
  } catch (const ProcessError& error) {
    EXPECT_NE(
        std::string(error.what()).find("cannot listen on port " + std::to_string(port) + ": Address already in use"),
        std::string::npos)
        << error.what();
  }
  ::close(descriptor);
}

class ProcessEnvironment : public testing::Test {
 protected:
  void set(const char* name, const char* value) {
    names_.push_back(name);
    ::setenv(name, value, 1);
  }
  void TearDown() override {
    for (const char* name : names_) ::unsetenv(name);
  }
  std::vector<const char*> names_;
};

TEST_F(ProcessEnvironment, ReadsTorchrunVariables) {
  EXPECT_EQ(process_info_from_environment().count, 1);
  set("WORLD_SIZE", "4"), set("RANK", "3"), set("LOCAL_WORLD_SIZE", "2"), set("LOCAL_RANK", "1");
  set("MASTER_ADDR", "node7"), set("MASTER_PORT", "29500"), set("TORCHELASTIC_RESTART_COUNT", "2"),
      set("TORCHELASTIC_USE_AGENT_STORE", "True");
  const ProcessInfo info = process_info_from_environment();
  EXPECT_EQ(info.count, 4);
  EXPECT_EQ(info.rank, 3);
  EXPECT_EQ(info.local_count, 2);
  EXPECT_EQ(info.local_rank, 1);
  EXPECT_EQ(info.address, "node7");
  EXPECT_EQ(info.port, 29500);
  EXPECT_EQ(info.attempt, "2");
  EXPECT_TRUE(info.launcher_hosts);
  EXPECT_EQ(info.patience, 300);
  set("MOLGRAPH_MEETING_SECONDS", "7");
  EXPECT_EQ(process_info_from_environment().patience, 7);
  set("MOLGRAPH_MEETING_SECONDS", "0");
  EXPECT_THROW(process_info_from_environment(), UsageError);
}

TEST_F(ProcessEnvironment, InvalidValuesAreUsageErrors) {
  set("WORLD_SIZE", "2");
  EXPECT_THROW(process_info_from_environment(), UsageError);  // no RANK
  set("RANK", "1");
  EXPECT_THROW(process_info_from_environment(), UsageError);  // no MASTER_PORT
  set("MASTER_PORT", "29500");
  EXPECT_THROW(process_info_from_environment(), UsageError);  // no MASTER_ADDR
  set("MASTER_ADDR", "localhost");
  EXPECT_EQ(process_info_from_environment().rank, 1);
  for (const char* rank : {"2", "-1", "1x", ""}) {
    set("RANK", rank);
    EXPECT_THROW(process_info_from_environment(), UsageError) << rank;
  }
  set("WORLD_SIZE", "0");
  EXPECT_THROW(process_info_from_environment(), UsageError);
}

}  // namespace
}  // namespace molgraph::test

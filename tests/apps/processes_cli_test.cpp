// molgraph-train in several processes, started by torchrun or from a shell.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/apps/meeting.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

class ProcessesCli : public testing::Test {
 protected:
  void SetUp() override {
    std::string table = "smiles,y,z\n";
    const char* tails[] = {"O", "C(=O)O", "OC", "N", "Cl", "c1ccccc1", "C#N", "S"};
    for (int length = 1; length <= 6; ++length)
      for (int t = 0; t < 8; ++t)
        table += std::string(static_cast<std::size_t>(length), 'C') + tails[t] + "," +
                 std::to_string(0.3 * length + t) + "," + (t % 3 == 0 ? "" : std::to_string(length)) + "\n";
    scratch.write("small.csv", table);
  }

  static std::string train_command(const std::string& arguments) {
    const std::string batch = arguments.find("--batch-size") == std::string::npos ? "--batch-size 7 " : "";
    return "molgraph-train small.csv --layers 2 --width 16 --ffn 16 --heads 2 --seed 5 --threads 1 --no-blend "
           "--no-baselines " +
           batch + arguments;
  }
  ShellResult run_one(const std::string& arguments) { return scratch.run(bin_dir(), train_command(arguments)); }
  /// Runs `count` processes with the same arguments. Their output is in out0, err0, out1, ..., their exit codes are in
  /// code0, code1, .... The shell command `meanwhile` can use the process IDs $pid0, $pid1, ....
  ShellResult run_processes(int count, const std::string& arguments, const std::string& meanwhile = "") {
    std::string command =
        "export MOLGRAPH_MEETING_SECONDS=60 GLOO_SOCKET_IFNAME=lo MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
        std::to_string(free_port()) + " WORLD_SIZE=" + std::to_string(count) +
        " LOCAL_WORLD_SIZE=" + std::to_string(count) + "\n";
    for (int rank = 0; rank < count; ++rank) {
      const std::string r = std::to_string(rank);
      command += "RANK=" + r + " LOCAL_RANK=" + r + " " + train_command(arguments) + " >out" + r + " 2>err" + r +
                 " & pid" + r + "=$!\n";
    }
    command += meanwhile + "\n";
    for (int rank = 0; rank < count; ++rank)
      command += "wait $pid" + std::to_string(rank) + "; echo $? >code" + std::to_string(rank) + "\n";
    return scratch.run(bin_dir(), command);
  }
  int code(int rank) { return std::stoi(scratch.read("code" + std::to_string(rank))); }

  std::vector<double> metrics(const std::string& run) {
    std::vector<double> all;
    const std::vector<std::string> lines = lines_of(scratch.read(run + "/metrics.csv"));
    for (std::size_t k = 1; k < lines.size(); ++k)
      for (const std::string& cell : cells_of(lines[k])) all.push_back(std::stod(cell));
    return all;
  }

  Scratch scratch;
};

TEST_F(ProcessesCli, MetricsMatchASingleProcess) {
  // 38 molecules in batches of 7: the last batch has 3 molecules. Of four processes, one gets none of them.
  int k = 0;
  for (const char* options : {"", "--flag 2,0.2,0", "--backend reference", "--ema 0.9 --model graphormer --urpe"}) {
    const std::string name = std::to_string(k++), arguments = std::string(options) + " --epochs 3 -o ";
    ASSERT_EQ(run_one(arguments + "one" + name).code, 0);
    const int count = k == 1 ? 4 : 2;
    run_processes(count, arguments + "many" + name);
    for (int rank = 0; rank < count; ++rank) ASSERT_EQ(code(rank), 0) << scratch.read("err" + std::to_string(rank));
    const std::vector<double> expected = metrics("one" + name), actual = metrics("many" + name);
    ASSERT_EQ(expected.size(), 15u);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 1e-4 * std::abs(expected[i])) << options << " " << i;
    EXPECT_NE(scratch.read("out0").find("rmse"), std::string::npos);
    EXPECT_EQ(scratch.read("out1") + scratch.read("err1"), "") << "only the first process writes output";
    EXPECT_TRUE(scratch.exists("many" + name + "/model.safetensors"));
  }
}

TEST_F(ProcessesCli, TrainsEnsemblesAndFolds) {
  run_processes(2, "--epochs 2 --ensemble-size 2 -o ensemble");
  ASSERT_EQ(code(0), 0) << scratch.read("err0");
  ASSERT_EQ(code(1), 0) << scratch.read("err1");
  EXPECT_TRUE(scratch.exists("ensemble/model_1/model.safetensors"));
  run_processes(2, "--epochs 2 --folds 2 -o folds");
  ASSERT_EQ(code(0), 0) << scratch.read("err0");
  ASSERT_EQ(code(1), 0) << scratch.read("err1");
  EXPECT_TRUE(scratch.exists("folds/model_1/model.safetensors"));
}

TEST_F(ProcessesCli, SignalToOneStopsAllAndResumeMatches) {
  const std::string arguments = "--epochs 100 --patience 0 -o ";
  run_processes(2, arguments + "whole");
  ASSERT_EQ(code(0), 0) << scratch.read("err0");
  run_processes(2, arguments + "parts",
                "for i in $(seq 30000); do grep -q 'epoch  10' err0 && break; sleep 0.01; done; kill -TERM $pid1");
  EXPECT_EQ(code(0), 143) << scratch.read("err0");
  EXPECT_EQ(code(1), 143) << scratch.read("err1");
  EXPECT_NE(scratch.read("err0").find("Stopped. To resume in all 2 processes: molgraph-train -o parts --resume"),
            std::string::npos);
  EXPECT_FALSE(scratch.exists("parts/model.safetensors"));
  run_processes(2, arguments + "parts --resume");
  EXPECT_EQ(code(0), 0) << scratch.read("err0");
  EXPECT_EQ(code(1), 0) << scratch.read("err1");
  EXPECT_NE(scratch.read("err0").find("Resuming after epoch"), std::string::npos);
  EXPECT_TRUE(scratch.read("parts/model.safetensors") == scratch.read("whole/model.safetensors"));
  EXPECT_TRUE(scratch.read("parts/metrics.csv") == scratch.read("whole/metrics.csv"));
}

TEST_F(ProcessesCli, SignalWithinAnEpochStopsAllAndResumeMatches) {
  scratch.run(
      bin_dir(),
      "(head -1 small.csv; for i in $(seq 40); do tail -n +2 small.csv; done) > long.csv && mv long.csv small.csv");
  const std::string arguments = "--epochs 2 --batch-size 2 --duplicates keep -o ";  // an epoch has 768 updates
  run_processes(2, arguments + "whole");
  ASSERT_EQ(code(0), 0) << scratch.read("err0");
  run_processes(
      2, arguments + "parts",
      "for i in $(seq 30000); do grep -q 'The run takes' err0 && break; sleep 0.01; done; sleep 0.2; kill -TERM $pid1");
  EXPECT_EQ(code(0), 143) << scratch.read("err0");
  EXPECT_EQ(code(1), 143) << scratch.read("err1");
  const std::string log = scratch.read("err0"), prefix = "Stopped after step ";
  ASSERT_NE(log.find(prefix), std::string::npos) << log;
  EXPECT_LT(std::stoi(log.substr(log.find(prefix) + prefix.size())), 768) << log;
  run_processes(2, arguments + "parts --resume");
  EXPECT_EQ(code(0), 0) << scratch.read("err0");
  EXPECT_TRUE(scratch.read("parts/model.safetensors") == scratch.read("whole/model.safetensors"));
  EXPECT_TRUE(scratch.read("parts/metrics.csv") == scratch.read("whole/metrics.csv"));
}

TEST_F(ProcessesCli, RemainingProcessReportsALostProcess) {
  run_processes(2, "--epochs 100000 --patience 0 -o run",
                "for i in $(seq 30000); do grep -q 'epoch  10' err0 && break; sleep 0.01; done; kill -KILL $pid1");
  EXPECT_EQ(code(0), 1);
  EXPECT_NE(scratch.read("err0").find("process 0 of 2 has lost contact with the other"), std::string::npos)
      << scratch.read("err0");
  EXPECT_EQ(scratch.read("err0").find("internal error"), std::string::npos) << scratch.read("err0");
  run_processes(2, "--epochs 1 -o run");
  EXPECT_EQ(code(0), 2);
  EXPECT_NE(scratch.read("err0").find("already contains a run"), std::string::npos) << scratch.read("err0");
  EXPECT_EQ(code(1), 1);
}

TEST_F(ProcessesCli, BadBatchSizesAndDifferentTablesAreErrors) {
  run_processes(8, "--epochs 1 -o run");
  for (const int rank : {0, 7}) {
    EXPECT_EQ(code(rank), 2);
    EXPECT_NE(scratch.read("err" + std::to_string(rank)).find("--batch-size 7 cannot be divided among 8 processes"),
              std::string::npos);
  }
  // The processes read different tables.
  scratch.run(bin_dir(), "mkdir other; head -40 small.csv > other/small.csv");
  const std::string environment = "MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port()) + " WORLD_SIZE=2 ";
  const ShellResult result =
      scratch.run(bin_dir(), "export " + environment + "\n(cd other; RANK=1 " + train_command("--epochs 1 -o x") +
                                 " 2>/dev/null; echo $? >code) & RANK=0 " + train_command("--epochs 1 -o x") +
                                 "; code=$?; wait; cat other/code; exit $code");
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_EQ(result.out, "3\n");
  EXPECT_NE(result.err.find("different data or options"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace molgraph::test

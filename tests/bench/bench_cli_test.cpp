// molgraph-bench from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

// The bench measures all models. It then fails because it finds no programs to measure.
TEST(BenchCli, WritesFiguresAfterEachModel) {
  const Scratch scratch;
  std::string table = "smiles,y\n";
  for (int k = 0; k < 200; ++k)
    table += std::string(1 + static_cast<std::size_t>(k % 20), 'C') + "[" + std::to_string(3 + k / 20) + "CH3]," +
             std::to_string(k % 5) + ".5\n";  // isotopes: no duplicates
  scratch.write("t.csv", table);
  const ShellResult result =
      scratch.run(bin_dir(),
                  "molgraph-bench --data t.csv --json out.json --batch-size 8 --rounds 1 --no-reference "
                  "--no-train --programs /nowhere",
                  300);
  EXPECT_EQ(result.code, 1) << result.err;
  ASSERT_TRUE(scratch.exists("out.json")) << result.err;
  const nlohmann::json report = nlohmann::json::parse(scratch.read("out.json"));
  for (const char* name : {"graphormer", "grpe-standard"})  // the first and the last
    EXPECT_GT(report.at("cases").at(name).at("infer"), 0) << name;
  EXPECT_FALSE(report.contains("programs"));
}

TEST(BenchCli, ComparesChosenModelsAndThreads) {
  const Scratch scratch;
  std::string table = "smiles,y\n";
  for (int k = 1; k <= 40; ++k) table += std::string(static_cast<std::size_t>(k), 'C') + ",1.5\n";
  scratch.write("t.csv", table);
  const ShellResult result = scratch.run(bin_dir(),
                                         "molgraph-bench --data t.csv --json out.json --batch-size 4 --rounds 2 "
                                         "--no-reference --threads 2 --scaling --only grpe-walk+urpe+paths graphormer",
                                         120);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("    time relative to grpe-walk+urpe+paths: fp32 x"));
  EXPECT_THAT(result.out, testing::Not(testing::HasSubstr("time relative to graphormer")));
  EXPECT_THAT(result.out, testing::HasSubstr("    2 threads over 1: fp32 x"));
  const nlohmann::json cases = nlohmann::json::parse(scratch.read("out.json")).at("cases");
  ASSERT_EQ(cases.size(), 2);
  for (const nlohmann::json& measured : cases)
    for (const char* what : {"train", "infer"}) EXPECT_GT(measured.at("threads_over_one").at(what), 0) << what;
}

TEST(BenchCli, PeerIsMeasuredOrItsErrorIsReported) {
  const Scratch scratch;
  std::string table = "smiles,y\n";
  for (int k = 1; k <= 40; ++k) table += std::string(static_cast<std::size_t>(k), 'C') + ",1.5\n";
  scratch.write("t.csv", table);
  const auto bench = [&](const std::string& arguments) {
    return scratch.run(bin_dir(), "molgraph-bench --batch-size 4 --rounds 1 --only graphormer --data " + arguments,
                       120);
  };
  EXPECT_THAT(bench("t.csv --peer --peer-python python3").err, testing::HasSubstr("read ZINC's features"));
  const char* data = std::getenv("MOLGRAPH_DATA");
  if (data == nullptr) GTEST_SKIP() << "MOLGRAPH_DATA is not set";
  const ShellResult missing = bench("zinc --peer --peer-python /nowhere/python");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, testing::HasSubstr("peer.py ended early"));
  const char* python = std::getenv("MOLGRAPH_PEER_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "MOLGRAPH_PEER_PYTHON, with PyTorch, is not set";
  const ShellResult measured =
      bench("zinc --no-reference --json out.json --compile-seconds 0 --peer --peer-python " + std::string(python));
  ASSERT_EQ(measured.code, 0) << measured.err;
  const auto report = nlohmann::json::parse(scratch.read("out.json"));
  EXPECT_GT(report.at("cases").at("graphormer").at("peers").at("eager").at(0), 0);
  EXPECT_THAT(measured.out, testing::HasSubstr("beside the best of PyTorch"));
}

}  // namespace
}  // namespace molgraph::test

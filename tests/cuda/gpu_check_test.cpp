// scripts/gpu-check in a folder with stand-ins for the programs: verdicts, figures, time limits and the files of the
// result.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/shell.hpp"

namespace molgraph::test {
namespace {

namespace fs = std::filesystem;

class GpuCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (scratch.run("", "command -v python3").code != 0) GTEST_SKIP() << "gpu-check needs python3";
    for (const char* folder : {"bin", "lib", "tools", "python/torch/lib", "python/nvidia/cu13/lib"})
      fs::create_directories(scratch.path(folder));
    scratch.write("python/torch/__init__.py", "");
    scratch.write("zinc.h5", "");
    program("tools/nvidia-smi", "echo a card");
    program("tools/compute-sanitizer", "shift 4; \"$@\"");
    program("tools/ncu", "exit 3");
    program("bin/cuda_random_test", "echo '[  SKIPPED ] no device'");
    program("bin/cuda_test", "echo libraries $LD_LIBRARY_PATH; echo asked $*");
    program("bin/cuda_loop_test", "true");
    program("bin/molgraph-bench",
            "while [ $1 != --json ]; do shift; done; echo '{\"cases\": {\"one\": 1}}' >$2; exit 1");
    program("bin/molgraph-train", "mkdir $3 && echo the same >$3/model.safetensors");
    scratch.write("peer.py", "import os, sys\nsys.exit(5 if 'LD_LIBRARY_PATH' in os.environ else 0)\n");
  }
  void program(const std::string& name, const std::string& text) const {
    scratch.write(name, "#!/bin/bash\n" + text + "\n");
    fs::permissions(scratch.path(name), fs::perms::owner_all);
  }
  /// Runs groups and returns the figures.
  nlohmann::json run(const std::string& groups, const std::string& environment = "") const {
    const ShellResult result =
        scratch.run(scratch.path("tools"), "unset LD_LIBRARY_PATH; PYTHONPATH=$PWD/python " + environment +
                                               " " MOLGRAPH_GPU_CHECK " run . result " + groups);
    printed = result.out + result.err, code = result.code;
    return nlohmann::json::parse(scratch.read("result/result.json"));
  }
  static int status(const nlohmann::json& report, const char* part) {
    return report.at("parts").at(part).at("status").get<int>();
  }

  Scratch scratch;
  mutable std::string printed;
  mutable int code = 0;
};

TEST_F(GpuCheck, EveryPartHasAVerdict) {
  const nlohmann::json report = run("");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(status(report, "random"), 77) << "a skipped test is not a success";
  for (const char* part : {"libraries", "card", "smoke", "tests", "loop", "synccheck", "memcheck", "racecheck", "train",
                           "train-again", "same-bits"})
    EXPECT_EQ(status(report, part), 0) << part << "\n" << printed;
  EXPECT_EQ(status(report, "peer"), 0) << "Python keeps its own libraries";
  EXPECT_EQ(status(report, "ncu"), 3);
  EXPECT_EQ(status(report, "grpe+urpe"), 1);
  EXPECT_EQ(report.at("grpe_urpe").at("cases").at("one"), 1) << "the figures of a benchmark that failed later";
  EXPECT_EQ(report.at("graphormer-base").at("cases").at("one"), 1);
  const std::string log = scratch.read("result/log.txt");
  EXPECT_NE(log.find("libraries " + scratch.path("lib") + ":" + scratch.path("python/torch/lib")), std::string::npos)
      << log;
  EXPECT_NE(log.find("cu13/lib"), std::string::npos);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path("result"))) {
    ++files;
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz._-"), std::string::npos) << name;
  }
  EXPECT_LE(files, 8u);
}

TEST_F(GpuCheck, GroupStopsAtItsTimeLimit) {
  program("bin/cuda_loop_test", "exec sleep 900");
  const nlohmann::json report = run("check", "GPU_CHECK_LIMIT=30");
  EXPECT_EQ(status(report, "tests"), 0);
  EXPECT_EQ(status(report, "loop"), 124);
  EXPECT_EQ(status(report, "racecheck"), 124) << "no time was left";
  EXPECT_EQ(code, 1);
}

TEST_F(GpuCheck, FailedSmokeTestRunsMemcheckAndEndsTheGroup) {
  program("bin/cuda_test", "exit 1");
  const nlohmann::json report = run("check");
  EXPECT_EQ(status(report, "smoke"), 1);
  EXPECT_EQ(status(report, "smoke-memcheck"), 1);
  EXPECT_FALSE(report.at("parts").contains("tests"));
}

TEST_F(GpuCheck, FilterWithoutMatchingTestFails) {
  program("bin/cuda_test", "echo '[==========] 0 tests from 0 test suites ran.'");
  EXPECT_EQ(status(run("check"), "smoke"), 78);
}

TEST_F(GpuCheck, DifferentBitsFail) {
  program("bin/molgraph-train", "mkdir $3 && echo $3 >$3/model.safetensors");
  EXPECT_NE(status(run("wide"), "same-bits"), 0);
}

}  // namespace
}  // namespace molgraph::test

// A run directory has one writer. A failed start leaves no files and does not change files that it did not write.
#include "apps/training/run/run_claim.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/training/run/run_directory.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph::test {
namespace {

class RunClaimTest : public testing::Test {
 protected:
  void write_start(const std::string& run) const {
    scratch.write(run + "/log.txt", "began\n");
    scratch.write(run + "/config.toml", std::string(kConfigHeading) + "\nlr = 1.0\n");
    scratch.write(run + "/splits.csv", "row\n");
    scratch.write(run + "/model_0/checkpoints/last.safetensors.part.17.0", "half");
    scratch.write(run + "/model_0/metrics.csv", "epoch\n");
  }
  std::string problem(const std::string& run, bool resume = false) const {
    try {
      const RunClaim claim(scratch.path(run), resume);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  Scratch scratch;
};

TEST_F(RunClaimTest, FailedStartLeavesNoFiles) {
  {
    const RunClaim claim(scratch.path("a/b/run"), false);
    write_start("a/b/run");
  }
  EXPECT_FALSE(scratch.exists("a"));
}

TEST_F(RunClaimTest, FailedStartKeepsOtherFiles) {
  scratch.write("mine/notes.txt", "mine");
  scratch.write("mine/log.txt", "mine too");
  {
    const RunClaim claim(scratch.path("mine"), false);
    write_start("mine");
    scratch.write("mine/model_0/from_elsewhere", "x");
  }
  EXPECT_TRUE(scratch.exists("mine/notes.txt"));
  EXPECT_TRUE(scratch.exists("mine/log.txt"));
  EXPECT_TRUE(scratch.exists("mine/model_0/from_elsewhere"));
  EXPECT_FALSE(scratch.exists("mine/config.toml"));
  EXPECT_FALSE(scratch.exists("mine/model_0/metrics.csv"));
  EXPECT_FALSE(scratch.exists("mine/training.lock"));
}

TEST_F(RunClaimTest, WeightsMakeTheFolderARun) {
  for (const char* weights : {"model.safetensors", "checkpoints/last.safetensors", "model_3/model.safetensors"}) {
    const std::string run = "run" + std::to_string(std::string(weights).size());
    {
      const RunClaim claim(scratch.path(run), false);
      write_start(run);
      scratch.write(run + "/" + weights, "w");
    }
    EXPECT_TRUE(scratch.exists(run + "/config.toml")) << weights;
    EXPECT_TRUE(scratch.exists(run + "/" + weights));
    EXPECT_FALSE(scratch.exists(run + "/training.lock"));
    EXPECT_NE(problem(run).find("already contains a run"), std::string::npos);
    EXPECT_TRUE(scratch.exists(run + "/" + weights));
    EXPECT_EQ(problem(run, true), "");
  }
}

TEST_F(RunClaimTest, FilesOfAKilledStartAreRemoved) {
  write_start("killed");
  {
    const RunClaim claim(scratch.path("killed"), false);
    EXPECT_FALSE(scratch.exists("killed/config.toml"));
    EXPECT_FALSE(scratch.exists("killed/model_0"));
  }
  EXPECT_TRUE(scratch.exists("killed")) << "the folder existed before";
  write_start("kept");
  EXPECT_EQ(problem("kept", true), "");
  EXPECT_TRUE(scratch.exists("kept/config.toml")) << "--resume continues from it";
  scratch.write("other/config.toml", "lr = 1.0\n");
  EXPECT_NE(problem("other").find("belongs to no run"), std::string::npos);
  EXPECT_EQ(scratch.read("other/config.toml"), "lr = 1.0\n");
}

TEST_F(RunClaimTest, ResumeRemovesTemporaryFilesOfKilledWrites) {
  write_start("run");
  const std::string suffix = ".part.1073741824.12";  // process ID above the Linux maximum
  const std::vector<std::string> leftover{"log.txt" + suffix, "refit/checkpoints/last.safetensors" + suffix,
                                          "model_0/metrics.csv" + suffix};
  const std::vector<std::string> kept{"scored.csv.part." + std::to_string(::getpid()) + ".0", "mine.part.two",
                                      "x.part.1.2.csv", "notes/a" + suffix, "config.toml"};
  for (const std::string& name : leftover) scratch.write("run/" + name, "half");
  for (const std::string& name : kept)
    if (name != "config.toml") scratch.write("run/" + name, "mine");
  EXPECT_EQ(problem("run", true), "");
  for (const std::string& name : leftover) EXPECT_FALSE(scratch.exists("run/" + name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(scratch.exists("run/" + name)) << name;
}

TEST_F(RunClaimTest, SecondWriterIsAnErrorUntilTheFirstEnds) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // otherwise it outlives a test that is killed
    const RunClaim claim(scratch.path("run"), false);
    (void)!::write(ready[1], "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  for (const bool resume : {false, true})
    EXPECT_NE(problem("run", resume).find("is being written by process " + std::to_string(child)), std::string::npos)
        << problem("run", resume);
  EXPECT_TRUE(scratch.exists("run/training.lock"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(scratch.exists("run/training.lock")) << "the killed process leaves its lock file";
  EXPECT_EQ(problem("run"), "");
  EXPECT_FALSE(scratch.exists("run/training.lock"));
}

TEST_F(RunClaimTest, ImpossibleFoldersAreFileErrors) {
  scratch.write("file", "x");
  EXPECT_THROW(RunClaim(scratch.path("file/run"), false), FileError);
  EXPECT_THROW(RunClaim(scratch.path("file"), false), FileError);
  try {
    const RunClaim claim(scratch.path(std::string(5000, 'x')), false);
    ADD_FAILURE();
  } catch (const FileError& error) {
    EXPECT_LT(std::string(error.what()).size(), 500u);
    EXPECT_NE(std::string(error.what()).find("too long"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace molgraph::test

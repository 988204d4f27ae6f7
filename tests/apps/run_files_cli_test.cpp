// Files next to a model must belong to its run; files of other runs cause an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-report ";

/// Chains with different ends and a target that depends on their length.
std::string chains(int count) {
  std::string text = "smiles,y\n";
  const char* ends[] = {"O", "N", "F", "c1ccccc1", "C1CC1", "C(=O)O"};
  for (int k = 0; k < count; ++k)
    text += "C" + std::string(static_cast<std::size_t>(1 + k % 50), 'C') + (k / 300 > 0 ? "(C)" : "") +
            ends[k / 50 % 6] + "," + std::to_string(0.1 * (k % 50) + 0.37 * ((k * 7919) % 11)) + "\n";
  return text;
}

class RunFilesCli : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch.write("t.csv", chains(600));
    scratch.write("small.csv", chains(90));
    scratch.write("in.csv", "smiles\nCCO\n");
  }
  ShellResult run(const std::string& command) const { return scratch.run(bin_dir(), command); }
  void train(const std::string& arguments) const {
    const ShellResult result = run("molgraph-train " + arguments + kTiny);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  ShellResult score(const std::string& arguments) const {
    return run("rm -f out.csv && molgraph-score -i in.csv -o out.csv -m " + arguments);
  }
  /// Replaces a file by another one during the lifetime of the object.
  class Swapped {
   public:
    Swapped(fs::path file, const fs::path& with) : file_(std::move(file)), kept_(file_.string() + ".kept") {
      fs::rename(file_, kept_);
      fs::copy_file(with, file_);
    }
    ~Swapped() { fs::rename(kept_, file_); }
    Swapped(const Swapped&) = delete;
    Swapped& operator=(const Swapped&) = delete;

   private:
    fs::path file_, kept_;
  };

  Scratch scratch;
};

TEST_F(RunFilesCli, FilesOfAnotherRunAreErrors) {
  train("t.csv -o A");
  train("t.csv -o B --seed 1");
  const std::string all = "A --interval 0.9 --domain --explain atoms";
  ASSERT_EQ(score(all).code, 0) << score(all).err;
  EXPECT_THAT(run("molgraph-info A").out, Not(HasSubstr("missing")));
  int swapped = 0;
  for (const std::string name : {"model.safetensors", "trees.safetensors", "gaussian_process.safetensors",
                                 "calibration.json", "domain.safetensors", "explanation.safetensors"}) {
    if (!scratch.exists("A/" + name)) continue;  // the trees, in a build without XGBoost
    const Swapped other(scratch.path("A/" + name), scratch.path("B/" + name));
    const ShellResult result = score(all);
    EXPECT_EQ(result.code, 4) << name;
    EXPECT_THAT(result.err, HasSubstr("A/" + name + ": is not the file that the run wrote"));
    const ShellResult info = run("molgraph-info A");
    EXPECT_EQ(info.code, 0) << info.err;
    EXPECT_THAT(info.out, HasSubstr("A/" + name + ": is not the file that the run wrote"));
    ++swapped;
  }
  EXPECT_GE(swapped, 5);
  EXPECT_EQ(score(all).code, 0);
  // Paths without a folder name; a file that the run did not write.
  EXPECT_EQ(run("cd A && molgraph-score -m . -i ../in.csv -o ../dot.csv && molgraph-score -m ../A/ -i ../in.csv -o "
                "../slash.csv && cd .. && cmp dot.csv slash.csv")
                .code,
            0);
  train("t.csv -o N --no-blend");
  fs::copy_file(scratch.path("A/gaussian_process.safetensors"), scratch.path("N/gaussian_process.safetensors"));
  const ShellResult foreign = score("N");
  EXPECT_EQ(foreign.code, 4);
  EXPECT_THAT(foreign.err, HasSubstr("gaussian_process.safetensors: run.json does not list this file"));
  ASSERT_EQ(run("molgraph-train -o N --resume").code, 0);
  EXPECT_FALSE(scratch.exists("N/gaussian_process.safetensors")) << "resuming removes a file of another run";
  EXPECT_EQ(score("N").code, 0);
  // A calibration for other targets; an explanation with a model file outside its run directory.
  scratch.write("z.csv", "smiles,z" + chains(600).substr(8));
  train("z.csv -o Z --no-baselines");
  {
    const Swapped other(scratch.path("A/calibration.json"), scratch.path("Z/calibration.json"));
    const ShellResult info = run("molgraph-info A");
    EXPECT_EQ(info.code, 0) << info.err;
    EXPECT_THAT(info.out, HasSubstr("A/calibration.json: is not the file that the run wrote"));
  }
  ASSERT_EQ(run("mkdir alone && cp A/model.safetensors A/explanation.safetensors alone").code, 0);
  EXPECT_EQ(score("alone/model.safetensors --explain atoms").code, 0);
}

TEST_F(RunFilesCli, MissingFilesAndRecordsAreErrors) {
  train("small.csv -o R");
  ASSERT_EQ(score("R").code, 0);
  fs::remove(scratch.path("R/gaussian_process.safetensors"));
  const ShellResult partner = score("R");
  EXPECT_EQ(partner.code, 4);
  const bool trees = fs::remove(scratch.path("R/trees.safetensors"));
  const ShellResult incomplete = run("molgraph-info R");
  EXPECT_EQ(incomplete.code, 0) << incomplete.err;
  EXPECT_THAT(incomplete.out, HasSubstr("R/gaussian_process.safetensors is missing"));
  EXPECT_EQ(incomplete.out.find("R/trees.safetensors is missing") != std::string::npos, trees);
  fs::remove(scratch.path("R/run.json"));
  const ShellResult record = score("R");
  EXPECT_EQ(record.code, 4);
  EXPECT_THAT(record.err, HasSubstr("R/run.json is missing"));
  EXPECT_THAT(run("molgraph-info R").out, HasSubstr("R/run.json is missing"));
  EXPECT_EQ(score("R/model.safetensors").code, 0) << "a model file needs no record";
}

TEST_F(RunFilesCli, MembersShareEnsembleFilesAndFoldsHaveTheirOwn) {
  train("small.csv -o E --ensemble-size 2");
  train("small.csv -o F --folds 2");
  for (const char* whole : {"E", "F", "E/model_1", "F/model_1"}) EXPECT_EQ(score(whole).code, 0) << whole;
  ASSERT_EQ(score("E/model_1").code, 0);
  EXPECT_EQ(run("cd E/model_1 && molgraph-score -m . -i ../../in.csv -o ../../dot.csv && ln -s model_1 ../link && "
                "molgraph-score -m ../link -i ../../in.csv -o ../../link.csv && cd ../.. && cmp out.csv dot.csv && "
                "cmp out.csv link.csv && rm E/link")
                .code,
            0)
      << "a member uses the partners of its ensemble, whatever its path";
  {
    const Swapped other(scratch.path("E/model_1/model.safetensors"), scratch.path("E/model_0/model.safetensors"));
    for (const char* of : {"E", "E/model_1"}) {
      EXPECT_EQ(score(of).code, 4) << of;
      EXPECT_THAT(run(std::string("molgraph-info ") + of).out, HasSubstr("is not the file that the run wrote")) << of;
    }
    EXPECT_EQ(score("E/model_0").code, 0);
  }
  {
    const Swapped other(scratch.path("F/model_1/gaussian_process.safetensors"),
                        scratch.path("F/model_0/gaussian_process.safetensors"));
    EXPECT_EQ(score("F").code, 4);
    EXPECT_THAT(run("molgraph-info F").out, HasSubstr("F/model_1/gaussian_process.safetensors: is not the file"));
  }
  EXPECT_THAT(run("molgraph-info F").out, Not(HasSubstr("missing"))) << "each fold has its partners in its own folder";
  // A complete run, with its own record, in place of a member or a fold.
  train("small.csv -o B --seed 1");
  for (const std::string whole : {"E", "F"}) {
    ASSERT_EQ(run("mv " + whole + "/model_1 kept && cp -r B " + whole + "/model_1").code, 0);
    EXPECT_EQ(score(whole).code, 4) << whole;
    EXPECT_THAT(run("molgraph-info " + whole).out, HasSubstr(whole + "/model_1/model.safetensors: is not the file"));
    ASSERT_EQ(run("rm -r " + whole + "/model_1 && mv kept " + whole + "/model_1").code, 0);
    EXPECT_EQ(score(whole).code, 0) << whole;
  }
  {
    const std::string finished = scratch.read("E/run.json");
    nlohmann::json record = nlohmann::json::parse(finished);
    record.erase("finished");
    scratch.write("E/run.json", record.dump());
    for (const char* of : {"E", "E/model_0"}) EXPECT_THAT(score(of).err, HasSubstr("E: its training is not finished"));
    EXPECT_EQ(score("E").code, 4);
    EXPECT_EQ(score("E/model_0/model.safetensors").code, 0);
    EXPECT_EQ(run("molgraph-info E").code, 0);
    scratch.write("E/run.json", finished);
  }
  // A member without its ensemble: model_0 is moved out of the folder.
  fs::create_directory(scratch.path("elsewhere"));
  fs::rename(scratch.path("E/model_0"), scratch.path("elsewhere/model_0"));
  EXPECT_EQ(score("elsewhere/model_0").code, 4);
}

TEST_F(RunFilesCli, ResumeAddsMissingChecksums) {
  train("small.csv -o R --no-out-of-fold");
  const std::string path = "R/run.json";
  nlohmann::json record = nlohmann::json::parse(scratch.read(path));
  const nlohmann::json whole = record;
  ASSERT_EQ(record["checksums"].size(), scratch.exists("R/trees.safetensors") ? 5u : 4u) << record.dump(1);
  record.erase("checksums");
  scratch.write(path, record.dump());
  EXPECT_EQ(score("R").code, 0);
  const ShellResult resumed = run("molgraph-train -o R --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(nlohmann::json::parse(scratch.read(path)), whole) << "resuming adds only the checksums";
}

}  // namespace
}  // namespace molgraph::test

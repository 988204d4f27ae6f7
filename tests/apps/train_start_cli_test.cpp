// The start of a training run: a failed start leaves no files, one process writes a run directory, and flags without
// effect fail.
#include <gtest/gtest.h>

#include <set>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

const std::string kTiny = " --layers 1 --width 8 --ffn 8 --heads 2 --threads 1 --epochs 1 --no-blend --no-baselines ";

class TrainStart : public testing::Test {
 protected:
  void SetUp() override {
    std::string table = "smiles,y\n";
    for (int i = 1; i <= 40; ++i)
      table += std::string(static_cast<std::size_t>(i % 20 + 1), 'C') + (i <= 20 ? "O" : "N") + "," +
               std::to_string(0.37 * i) + "\n";
    scratch.write("t.csv", table);
  }
  ShellResult train(const std::string& arguments) { return scratch.run(bin_dir(), "molgraph-train " + arguments); }
  void expect_error(const std::string& arguments, const std::string& message, int code = 2) {
    const ShellResult result = train(arguments + kTiny + "-o refused");
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << arguments << "\n" << result.err;
    EXPECT_FALSE(scratch.exists("refused")) << arguments;
  }
  Scratch scratch;
};

TEST_F(TrainStart, FailedStartLeavesNoFiles) {
  scratch.write("broken.csv", "smiles,y\nC1CC,1\nnonsense,2\n");
  const struct {
    const char* arguments;
    int code;
  } starts[] = {{"t.csv --lr 100 --grad-clip 0 --dropout 0 --target-columns z", 3},  // no such column
                {"broken.csv", 3},
                {"absent.csv", 4},
                {"t.csv --from absent", 4},
                {"t.csv --loss bce", 2},
                {"t.csv --metric roc-auc", 2},
                {"t.csv --backend reference --precision bf16", 2},
                {"t.csv --ensemble-size 2 --folds 3", 2}};
  for (const auto& [arguments, code] : starts) {
    EXPECT_EQ(train(arguments + kTiny + "-o R").code, code) << arguments;
    EXPECT_FALSE(scratch.exists("R")) << arguments;
    EXPECT_EQ(train(arguments + kTiny).code, code) << arguments;
    EXPECT_FALSE(scratch.exists("runs")) << arguments;
  }
  // The loss becomes non-finite before the first checkpoint.
  scratch.write("far.csv", "smiles,y\nC,1e30\nCC,-1e30\nCCC,1e30\nCCCC,-1e30\nCCCCC,1e30\nCCO,2e30\n");
  const ShellResult overflow = train("far.csv --loss mse --no-scale-targets --split-sizes 0.8 0 0.2" + kTiny + "-o R");
  EXPECT_EQ(overflow.code, 1) << overflow.err;
  EXPECT_FALSE(scratch.exists("R"));
  EXPECT_EQ(train("t.csv -o R" + kTiny).code, 0) << "the corrected command";
  EXPECT_TRUE(scratch.exists("R/model.safetensors"));
  EXPECT_FALSE(scratch.exists("R/training.lock"));
}

TEST_F(TrainStart, PairStatesAreKeptByScoringAndByFrom) {
  const std::string walks = " --encoding grpe-walk --pair-relations walks paths --pe-dim 3 --layers 3";
  const ShellResult first = train("t.csv -o R --pair-state 12 --width 16 --heads 2 --epochs 2 --seed 1" + walks +
                                  " --ffn 8 --no-blend --no-baselines");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("GRPE + pair states of 12 numbers, 3 layers"), std::string::npos) << first.err;
  EXPECT_NE(scratch.run(bin_dir(), "molgraph-info R").out.find("pair states of 12 numbers"), std::string::npos);
  EXPECT_NE(scratch.read("R/report.html").find("pair states of 12 numbers"), std::string::npos);
  for (const char* threads : {"1", "3"}) {
    const std::string out = std::string("s") + threads + ".csv";
    ASSERT_EQ(scratch.run(bin_dir(), "molgraph-score -m R -i t.csv -o " + out + " --threads " + threads).code, 0);
  }
  EXPECT_EQ(scratch.read("s1.csv"), scratch.read("s3.csv"));
  for (const char* method : {"atoms", "rollout"}) {
    const ShellResult explained = scratch.run(
        bin_dir(), std::string("molgraph-score -m R -i t.csv --explain ") + method + " -o " + method + ".csv");
    EXPECT_EQ(explained.code, 0) << explained.err;
  }
  EXPECT_EQ(train("t.csv --from R -o S --epochs 1 --threads 1 --no-blend --no-baselines").code, 0);
  const ShellResult other = train("t.csv --from R -o T --pair-state 8 --epochs 1");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--pair-state contradicts the run given with --from"), std::string::npos) << other.err;
}

TEST_F(TrainStart, FailedStartOfOtherProgramsLeavesNoFiles) {
  ASSERT_EQ(train("t.csv -o R" + kTiny).code, 0);
  scratch.write("broken.csv", "smiles,y\nC1CC,1\nnonsense,2\n");
  scratch.write("w.pt", "no archive");
  std::string command = "touch before after; ls -R >before\n";
  for (const char* call :
       {"molgraph-score -m absent -i t.csv -o s.csv", "molgraph-score -m R -i absent.csv -o s.csv",
        "molgraph-score -m R -i t.csv -o s.csv --shard 9/3", "molgraph-score -m R -i broken.csv -o s.csv --strict",
        "molgraph-embed -m R -i t.csv -o e.npz --layer 7", "molgraph-embed -m R -i broken.csv -o e.h5 --strict",
        "molgraph-embed -m R -i absent.csv -o e.npy", "molgraph-featurize broken.csv -o b.h5 --rejected r.csv",
        "molgraph-featurize t.csv -o b.h5 --rejected r.csv --split-type time",
        "molgraph-import w.pt --origin grpe -o new/run", "molgraph-import R --export x.pt",
        "molgraph-import w.pt --origin grpe -o R"}) {
    command += std::string(call) + " 2>/dev/null && echo '" + call + " did not fail'\n";
    command += "ls -R >after; diff before after >/dev/null || { echo '" + std::string(call) +
               " left:'; diff before after; }\n";
  }
  EXPECT_EQ(scratch.run(bin_dir(), command).out, "");
}

TEST_F(TrainStart, OneProcessPerRunDirectory) {
  const ShellResult result = scratch.run(
      bin_dir(),
      "molgraph-train t.csv -o R --epochs 1000000 --patience 0 --layers 1 --width 8 --ffn 8 --heads 2 --threads 1 "
      "2>first & pid=$!\n"
      "for i in $(seq 30000); do grep -q 'epoch   2' first && break; sleep 0.01; done\n"
      "echo $pid >pid\n"
      "molgraph-train t.csv -o R --epochs 1 2>second; echo $?\n"
      "molgraph-train -o R --resume 2>third; echo $?\n"
      "molgraph-import w.pt --origin grpe -o R 2>fourth; echo $?\n"
      "molgraph-score -m R -i t.csv -o s.csv 2>/dev/null; molgraph-info R/checkpoints/best.safetensors >card; echo $?\n"
      "kill -9 $pid; wait $pid 2>/dev/null\n"
      "test -e R/training.lock; echo $?\n"
      "molgraph-train -o R --resume 2>fifth & pid=$!\n"
      "for i in $(seq 30000); do grep -q 'Resuming' fifth && break; sleep 0.01; done; kill -TERM $pid; wait $pid; echo "
      "$?\n"
      "test -e R/training.lock; echo $?\n");
  EXPECT_EQ(result.out, "2\n2\n2\n0\n0\n143\n1\n") << result.err;
  std::string pid = scratch.read("pid");
  pid.pop_back();
  for (const char* file : {"second", "third", "fourth"}) {
    EXPECT_NE(scratch.read(file).find("R is being written by process " + pid + " on "), std::string::npos)
        << scratch.read(file);
    EXPECT_NE(scratch.read(file).find("--epochs 1000000"), std::string::npos) << scratch.read(file);
  }
}

TEST_F(TrainStart, LogGivesTheResumeCommandAfterASignal) {
  const ShellResult result = scratch.run(
      bin_dir(),
      "stop() { for i in $(seq 30000); do grep -q \"$2\" $1 && break; sleep 0.01; done; kill -TERM $pid; wait $pid; "
      "echo $?; }\n"
      "molgraph-train t.csv -o \"it's my run\" --epochs 1000000 --patience 0 --layers 1 --width 8 --ffn 8 --heads 2 "
      "--threads 1 "
      "2>first & pid=$!\n"
      "stop first 'epoch   2'\n"
      "command=$(sed -n 's/.*Stopped. To resume: //p' first); echo \"$command\"\n"
      "eval \"exec $command\" 2>second & pid=$!\n"
      "stop second 'Resuming'\n");
  EXPECT_EQ(result.out, "143\nmolgraph-train -o 'it'\\''s my run' --resume --threads 1\n143\n") << result.err;
}

TEST_F(TrainStart, ModelTooLargeForMemoryFailsAtOnce) {
  const ShellResult result = scratch.run(
      bin_dir(),
      "ulimit -t 20; molgraph-train t.csv -o R --layers 1000 --width 65536 --ffn 262144 --heads 4096 --path-hops 65000 "
      "--encoding graphormer --max-distance 65000 --no-share-encodings");
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("does not fit into memory"), std::string::npos) << result.err;
  EXPECT_FALSE(scratch.exists("R"));
}

TEST_F(TrainStart, LimitsOfOptionRangesAreAccepted) {
  EXPECT_EQ(train("t.csv -o R --batch-size 1000000 --limit 1000000000000 --max-atoms 65533 --seed 9223372036854775807 "
                  "--patience 1000000 --dropout 0.999" +
                  kTiny)
                .code,
            0);
  EXPECT_EQ(
      scratch.run(bin_dir(), "molgraph-score -m R -i t.csv -o s.csv --batch-size 1000000 --max-atoms 65533 --threads 1")
          .code,
      0);
}

TEST_F(TrainStart, FlagsWithoutEffectFail) {
  ASSERT_EQ(train("t.csv -o G --model grpe" + kTiny).code, 0);
  expect_error("t.csv --freeze encoder", "--from");
  expect_error("t.csv --from G --freeze encoder --urpe", "--urpe");
  expect_error("t.csv --from G --no-scale-targets", "--scale-targets");
  expect_error("t.csv --from G --path single", "--path");
  expect_error("t.csv --from G --spatial-pos-max 4", "--spatial-pos-max");
  expect_error("t.csv --model grpe --path mean", "--path");
  expect_error("t.csv --warmup-steps 3 --warmup-epochs 1", "--warmup-epochs");
  expect_error("t.csv --split-sizes 0.8 0 0.2 --patience 3", "--patience");
  expect_error("t.csv --data-dir .", "--data-dir");
  expect_error("t.csv --subset full", "--subset");
  expect_error("t.csv t.csv t.csv --split-sizes 0.5 0.25 0.25", "--split-sizes");
  expect_error("t.csv --recipe grpe-zinc --path single", "--path");
  EXPECT_EQ(train("t.csv -o W --recipe graphormer-zinc --warmup-epochs 1 --batch-size 8" + kTiny).code, 0);
  EXPECT_NE(scratch.read("W/config.toml").find("warmup-steps = 4"), std::string::npos)
      << "not the recipe's 40,000 steps in proportion";
  EXPECT_EQ(train("--config G/config.toml -o again --epochs 2").code, 0) << "the command line overrides the file";
  EXPECT_NE(scratch.read("again/config.toml").find("epochs = 2"), std::string::npos);
}

TEST_F(TrainStart, CommandLineTableOverridesTheConfigFile) {
  std::string other = "smiles,z\n";
  for (int i = 1; i <= 30; ++i)
    other += std::string(static_cast<std::size_t>(i % 15 + 1), 'C') + "," + std::to_string(i) + "\n";
  scratch.write("other.csv", other);
  ASSERT_EQ(train("t.csv -o first" + kTiny).code, 0);
  for (const char* call :
       {"other.csv --config first/config.toml -o after", "--config first/config.toml -o before other.csv",
        "--config first/config.toml -i other.csv -o flag"}) {
    const ShellResult result = train(call);
    ASSERT_EQ(result.code, 0) << call << result.err;
    EXPECT_NE(result.err.find("Targets (regression): z"), std::string::npos) << call << result.err;
  }
  for (const char* run : {"after", "before", "flag"})
    EXPECT_NE(scratch.read(std::string(run) + "/config.toml").find("data-path = [ 'other.csv' ]"), std::string::npos)
        << run;
}

TEST_F(TrainStart, ChangedTrainingLengthRecomputesTheWarmUp) {
  const std::string small = " --layers 1 --width 8 --ffn 8 --heads 2 --threads 1 --batch-size 8 ";
  ASSERT_EQ(train("t.csv -o long --epochs 20" + small).code, 0);
  EXPECT_NE(scratch.read("long/config.toml").find("warmup-steps = 8\n"), std::string::npos)
      << "a tenth of 20 x 4 steps";
  ASSERT_EQ(train("--config long/config.toml -o short --epochs 5").code, 0);
  EXPECT_NE(scratch.read("short/config.toml").find("warmup-steps = 2\n"), std::string::npos);
}

TEST_F(TrainStart, WarnsIfInitialWeightsWereTrainedOnHeldOutMolecules) {
  ASSERT_EQ(train("t.csv -o first" + kTiny).code, 0);
  const auto warning_of = [&](const std::string& arguments) {
    scratch.run("", "rm -rf other");
    const ShellResult result = train(arguments + " -o other" + kTiny);
    EXPECT_EQ(result.code, 0) << result.err;
    const std::size_t at = result.err.find(" test molecules are in the training or validation set of ");
    return at == std::string::npos ? std::string() : result.err.substr(result.err.rfind(' ', at - 10) + 1, 60);
  };
  const auto expect_validation_warning = [&](const std::string& arguments, bool expected) {
    const ShellResult result = train(arguments + " -o other_" + std::to_string(expected) + kTiny);
    EXPECT_EQ(result.code, 0) << result.err;
    const std::size_t at = result.err.find(" validation molecules are in the training set of first");
    EXPECT_EQ(at != std::string::npos, expected) << arguments << "\n" << result.err;
  };
  EXPECT_EQ(warning_of("t.csv --from first"), "") << "the same split";
  expect_validation_warning("t.csv --from first", false);
  expect_validation_warning("t.csv --seed 7 --from first", true);
  const std::string leak = warning_of("t.csv --seed 7 --from first");
  EXPECT_NE(leak, "");
  EXPECT_EQ(warning_of("t.csv --seed 7 --from first/model.safetensors"), leak);
  std::string reversed = "smiles,y\n";
  for (const std::string& line : lines_of(scratch.read("t.csv")))
    if (const auto cells = cells_of(line); cells[0] != "smiles")
      reversed += std::string(cells[0].rbegin(), cells[0].rend()) + "," + cells[1] + "\n";
  scratch.write("turned.csv", reversed);
  EXPECT_EQ(warning_of("turned.csv --seed 7 --from first"), leak) << "OC and CO are the same molecule";
  scratch.run("", "sed 's/^smiles,y/smiles,Y/' t.csv > upper.csv");
  EXPECT_EQ(warning_of("upper.csv --seed 7 --from first"), leak);
  scratch.run("", "sed 's/^smiles,y/smiles,z/' t.csv > z.csv");
  EXPECT_EQ(warning_of("z.csv --seed 7 --from first"), "") << "another target";
  scratch.write("first/splits.csv", "row,id,smiles,split\n1,\"2");
  EXPECT_EQ(warning_of("t.csv --seed 7 --from first"), "") << "a damaged splits.csv does not stop the run";
}

TEST_F(TrainStart, WarnsOfTheValidationMoleculesThatARefitHasLearned) {
  ASSERT_EQ(train("t.csv -o first --refit" + kTiny).code, 0);
  const ShellResult result = train("t.csv -o other --from first" + kTiny);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find(" validation molecules are in the training or validation set of first"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("without --refit"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(" test molecules are in"), std::string::npos) << result.err;
}

TEST_F(TrainStart, ResumeNeedsACheckpointAndChangesNoFinishedRun) {
  EXPECT_EQ(train("t.csv --resume" + kTiny).code, 2);
  EXPECT_FALSE(scratch.exists("runs"));
  ASSERT_EQ(train("t.csv -o R" + kTiny).code, 0);
  const std::string record = scratch.read("R/run.json"), weights = scratch.read("R/model.safetensors");
  ASSERT_EQ(train("--resume -o R").code, 0);
  EXPECT_EQ(scratch.read("R/run.json"), record) << "nothing was trained";
  // A folder with weights only, as molgraph-import writes it.
  ASSERT_EQ(scratch.run("", "mkdir W && cp R/model.safetensors W").code, 0);
  const ShellResult resumed = train("t.csv --resume -o W" + kTiny);
  EXPECT_EQ(resumed.code, 2) << resumed.err;
  EXPECT_EQ(scratch.read("W/model.safetensors"), weights);
  // A finished run whose weights were moved.
  ASSERT_EQ(scratch.run("", "rm -r R/model.safetensors R/checkpoints").code, 0);
  EXPECT_EQ(train("t.csv -o R" + kTiny).code, 2);
  EXPECT_EQ(scratch.read("R/run.json"), record);
}

TEST_F(TrainStart, ResultsTableIsAligned) {
  const ShellResult result = train("t.csv -o R" + kTiny);
  ASSERT_EQ(result.code, 0) << result.err;
  std::vector<std::size_t> widths;
  for (const std::string& line : lines_of(result.out)) {
    if (line.starts_with("part") || line.starts_with("train") || line.starts_with("valid") || line.starts_with("test"))
      widths.push_back(line.size());
    EXPECT_EQ(line.find("00000"), std::string::npos) << line;
  }
  ASSERT_EQ(widths.size(), 4u) << result.out;
  EXPECT_EQ(std::set<std::size_t>(widths.begin(), widths.end()).size(), 1u) << result.out;
  for (const std::string& line : lines_of(result.err)) {
    const std::size_t valid = line.find("valid mae ");
    if (line.find("epoch   1") == std::string::npos || valid == std::string::npos) continue;
    std::string number = line.substr(valid + 10);
    number = number.substr(number.find_first_not_of(' '));
    number = number.substr(0, number.find(' '));
    EXPECT_LE(number.size(), 6u) << line;
  }
}

}  // namespace
}  // namespace molgraph::test

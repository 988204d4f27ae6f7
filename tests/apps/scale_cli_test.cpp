// molgraph-score and molgraph-embed on large libraries: several input files, shards, and resumed runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attention/engine.hpp"
#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

class ScaleTest : public testing::Test {
 protected:
  void SetUp() override { save_tiny_run(scratch.path("run"), tiny_config(graphormer_architecture(), {"y"}), 1); }

  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult score(const std::string& arguments) { return run("molgraph-score " + arguments); }

  /// A table of `rows` molecules. One row in 100 has an invalid SMILES, one in 50 a quoted cell with a line break.
  void write_library(const std::string& name, int rows, int longest_chain = 5) {
    std::string text = "id,smiles\n";
    for (int i = 0; i < rows; ++i) {
      std::string smiles(static_cast<std::size_t>(1 + i % longest_chain), 'C');
      smiles += i % 100 == 7 ? "(" : "c1ccc(N)cc1" + std::string(static_cast<std::size_t>(i % 7), 'O');
      text += "m" + std::to_string(i) + (i % 50 == 3 ? ",\"" + smiles + "\n\"\n" : "," + smiles + "\n");
    }
    scratch.write(name, text);
  }

  Scratch scratch;
};

TEST_F(ScaleTest, KilledRunResumesToTheSameBytes) {
  write_library("in.csv", 15000, 60);
  ASSERT_EQ(run("gzip -k in.csv").code, 0);
  const struct {
    const char *input, *output;
  } cases[] = {{"in.csv", "out.csv"}, {"in.csv.gz", "out.csv.gz"}, {"in.csv", "out.jsonl"}};
  for (const auto& one : cases) {
    const std::string output = one.output, whole = "whole_" + output;
    ASSERT_EQ(score(std::string("-m run -i ") + one.input + " -o " + whole).code, 0);
    const auto killed =
        run(std::string("molgraph-score -m run -i ") + one.input + " -o " + output +
            " --threads 1 & pid=$!\nwhile [ ! -e " + output +
            ".part.json ] && kill -0 $pid; do sleep 0.01; done\nkill -9 $pid; wait $pid; echo garbage >> " + output +
            ".part");
    ASSERT_TRUE(scratch.exists(output + ".part.json")) << "the run was too short to be killed: " << killed.err;
    const auto refused = score(std::string("-m run -i ") + one.input + " -o " + output);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find("continue with --resume"), std::string::npos) << refused.err;
    const auto resumed = score(std::string("-m run --resume -i ") + one.input + " -o " + output);
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("resuming after "), std::string::npos) << resumed.err;
    EXPECT_EQ(resumed.err.find("resuming after 0 rows"), std::string::npos) << resumed.err;
    EXPECT_NE(resumed.err.find("15,000 rows in"), std::string::npos) << "all rows are counted: " << resumed.err;
    EXPECT_TRUE(scratch.read(output) == scratch.read(whole)) << output;
    EXPECT_FALSE(scratch.exists(output + ".part"));
    EXPECT_FALSE(scratch.exists(output + ".part.json"));
    const auto again = score(std::string("-m run --resume -i ") + one.input + " -o " + output);
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.err.find("nothing to resume"), std::string::npos) << again.err;
  }
}

TEST_F(ScaleTest, StoppedScoringAndEmbeddingResume) {
  write_library("in.csv", 15000, 60);
  for (const std::string program : {"molgraph-score", "molgraph-embed"}) {
    const std::string start = program + " -m run -i in.csv -o out.csv";
    ASSERT_EQ(run(program + " -m run -i in.csv -o whole.csv").code, 0);
    const auto stopped =
        run(start +
            " --threads 1 & pid=$!\nwhile [ $(cat out.csv.part 2>/dev/null | wc -l) -le 900 ] && kill -0 $pid; do "
            "sleep 0.01; done\nkill -TERM $pid; wait $pid; echo $?");
    ASSERT_EQ(lines_of(stopped.out).back(), "143") << stopped.err;
    EXPECT_NE(stopped.err.find("continue with --resume"), std::string::npos) << stopped.err;
    const auto resumed = run(start + " --resume --batch-size 100");
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_TRUE(scratch.read("out.csv") == scratch.read("whole.csv"));
    ASSERT_EQ(run("rm out.csv whole.csv").code, 0);
  }
}

TEST_F(ScaleTest, StoppedShardResumes) {
  write_library("in.csv", 15000, 60);
  const std::string start = "molgraph-score -m run -i in.csv -o out.csv --shard 1/2";
  ASSERT_EQ(score("-m run -i in.csv -o whole.csv --shard 1/2").code, 0);
  const auto stopped = run(start +
                           " --threads 1 & pid=$!; while [ ! -e out.csv.part ] && kill -0 $pid; do sleep 0.001; done; "
                           "kill -TERM $pid; wait $pid");
  ASSERT_EQ(stopped.code, 143) << stopped.err;
  EXPECT_EQ(run(start + " --resume && cmp out.csv whole.csv").code, 0);
}

TEST_F(ScaleTest, SecondStopKeepsPartialOutput) {
  write_library("in.csv", 15000, 60);
  const auto killed =
      run("molgraph-score -m run -i in.csv -o out.csv --nearest in.csv --threads 1 & pid=$!\n"
          "while [ ! -e out.csv.part.json ] && kill -0 $pid; do sleep 0.01; done; kill -9 $pid; wait $pid");
  ASSERT_TRUE(scratch.exists("out.csv.part.json")) << killed.err;
  // Stop the resumed run while it embeds the training molecules, before it scores more rows.
  const auto stopped =
      run("molgraph-score -m run -i in.csv -o out.csv --nearest in.csv --resume --threads 1 & pid=$!\n"
          "sleep 0.5; kill -TERM $pid; wait $pid");
  EXPECT_EQ(stopped.code, 143) << stopped.err;
  EXPECT_TRUE(scratch.exists("out.csv.part"));
  EXPECT_TRUE(scratch.exists("out.csv.part.json"));
  const auto strict = score("-m run -i in.csv -o out.csv --nearest in.csv --resume --strict");
  EXPECT_EQ(strict.code, 3) << strict.err;
  EXPECT_TRUE(scratch.exists("out.csv.part")) << "the rows of the first call, without --strict, are kept";
  EXPECT_EQ(score("-m run -i in.csv -o strict.csv --strict").code, 3);
  EXPECT_FALSE(scratch.exists("strict.csv.part")) << "--strict leaves no output if a row is invalid";
  EXPECT_FALSE(scratch.exists("strict.csv.part.json"));
}

TEST_F(ScaleTest, StrictKeepsPartialOutputUnlessARowIsBad) {
  std::string text = "smiles\n";
  for (int i = 0; i < 15000; ++i) text += std::string(static_cast<std::size_t>(1 + i % 60), 'C') + "\n";
  scratch.write("in.csv", text);
  const std::string start = "molgraph-score -m run -i in.csv -o out.csv --strict --threads 1 ";
  run(start +
      "& pid=$!\nwhile [ ! -e out.csv.part.json ] && kill -0 $pid; do sleep 0.01; done; kill -9 $pid; wait $pid");
  ASSERT_TRUE(scratch.exists("out.csv.part.json"));
  const auto full = run("ulimit -f 1; " + start + "--resume");
  EXPECT_EQ(full.code, 4) << full.err;
  EXPECT_NE(full.err.find("File too large"), std::string::npos) << full.err;
  EXPECT_TRUE(scratch.exists("out.csv.part")) << "the disk is full, but no row is bad";
  EXPECT_EQ(run(start + "--resume").code, 0);
}

TEST_F(ScaleTest, ResumeRejectsOtherInputsModelsAndOptions) {
  write_library("other.csv", 300);
  save_tiny_run(scratch.path("other"), tiny_config(graphormer_architecture(), {"y"}), 2);
  const std::string start = "molgraph-score -m run -i in.csv -o out.csv";
  // A signal before the first scored row also leaves a record.
  const auto stop_early = [&] {
    return run("rm -f out.csv*; " + start +
               " --threads 1 & pid=$!; while [ ! -e out.csv.part ] && kill -0 $pid; do sleep 0.002; done; "
               "kill -TERM $pid; wait $pid")
        .code;
  };
  write_library("in.csv", 15000, 60);
  ASSERT_EQ(stop_early(), 143);
  const struct {
    std::string arguments, message;
  } cases[] = {
      {"-m other -i in.csv -o out.csv", "other weights"},
      {"-m run -i other.csv -o out.csv", "other inputs: other.csv"},
      {"-m run -i in.csv -o out.csv --precision bf16", "precision: bf16 instead of fp32"},
      {"-m run -i in.csv -o out.csv --shard 0/2", "shard: 0/2 instead of none"},
      {"-m run -i in.csv -o out.csv --max-atoms 50", "max_atoms: 50 instead of 1024"},
      {"-m run -m other -i in.csv -o out.csv", "other header"},
  };
  for (const auto& one : cases) {
    if (one.message.starts_with("precision") && used_precision({}, Precision::bf16).precision == Precision::fp32)
      continue;  // this processor uses fp32 for both: nothing differs
    const auto result = score(one.arguments + " --resume");
    EXPECT_EQ(result.code, 4) << one.arguments << result.err;
    EXPECT_NE(result.err.find(one.message), std::string::npos) << one.arguments << result.err;
    EXPECT_TRUE(scratch.exists("out.csv.part")) << "a rejected resume keeps the partial output";
  }
  EXPECT_EQ(run(start + " --resume && molgraph-score -m run -i in.csv -o whole.csv && cmp out.csv whole.csv").code, 0);
  scratch.write("out.csv.part", "id,smiles,y_pred,status,reason\n");
  scratch.write("out.csv.part.json", "{\"version\": 1, \"made_from\": {}}");
  const auto damaged = score("-m run -i in.csv -o out.csv --resume");
  EXPECT_EQ(damaged.code, 4);
  EXPECT_NE(damaged.err.find("out.csv.part.json: is damaged"), std::string::npos) << damaged.err;
}

TEST_F(ScaleTest, ConcatenatedShardsEqualTheWholeOutput) {
  write_library("a.csv", 9000);
  write_library("b.csv", 8000);
  for (const std::string suffix : {"csv", "csv.gz", "jsonl"}) {
    const std::string inputs = "-m run -i a.csv b.csv ";
    ASSERT_EQ(score(inputs + "-o whole." + suffix).code, 0);
    for (const int shards : {2, 5}) {
      std::string parts;
      for (int s = 0; s < shards; ++s) {
        const std::string part = "part" + std::to_string(s) + "." + suffix;
        const auto result =
            score(inputs + "-o " + part + " --shard " + std::to_string(s) + "/" + std::to_string(shards));
        ASSERT_EQ(result.code, 0) << result.err;
        parts += scratch.read(part);
      }
      EXPECT_TRUE(parts == scratch.read("whole." + suffix)) << suffix << " in " << shards << " shards";
    }
  }
  scratch.write("few.csv", "smiles\nC\nCC\n");
  ASSERT_EQ(score("-m run -i few.csv -o few_whole.csv").code, 0);
  ASSERT_EQ(
      run("for s in 0 1 2 3 4; do molgraph-score -m run -i few.csv --shard $s/5 -o - || exit 1; done > few.out").code,
      0);
  EXPECT_EQ(scratch.read("few.out"), scratch.read("few_whole.csv"));
}

TEST_F(ScaleTest, SeveralInputFilesGiveOneTable) {
  scratch.write("lib/b.csv", "name,smiles\nx,N\n");
  scratch.write("lib/a.csv", "smiles,name\nC,u\nbad(,v\n");
  const auto result = score("-m run -i 'lib/*.csv' -o out.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto lines = lines_of(scratch.read("out.csv"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "smiles,name,y_pred,status,reason");
  EXPECT_EQ(lines[3].substr(0, 4), "N,x,");
  const auto strict = score("-m run -i lib/b.csv lib/a.csv -o strict.csv --strict");
  EXPECT_EQ(strict.code, 3);
  EXPECT_NE(strict.err.find("lib/a.csv, row 2: invalid_smiles"), std::string::npos) << strict.err;
  EXPECT_FALSE(scratch.exists("strict.csv.part"));
  ASSERT_EQ(run("molgraph-embed -m run -i lib/a.csv lib/b.csv --id-column smiles -o e.csv && "
                "cut -d, -f1 e.csv | tr '\\n' ' '")
                .out,
            "id C bad( N ");
}

TEST_F(ScaleTest, JsonLinesHaveNumbersAndNulls) {
  scratch.write("in.csv", "smiles,note\nC,\"a \"\"b\"\"\"\nbad(,\n");
  ASSERT_EQ(score("-m run -i in.csv -o out.jsonl && molgraph-score -m run -i in.csv -o out.csv").code, 0);
  const auto lines = lines_of(scratch.read("out.jsonl"));
  ASSERT_EQ(lines.size(), 2u);
  const auto good = nlohmann::json::parse(lines[0]), bad = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(good["note"], "a \"b\"");
  EXPECT_FLOAT_EQ(good["y_pred"].get<float>(), std::stof(cells_of(lines_of(scratch.read("out.csv"))[1])[2]));
  EXPECT_EQ(good["status"], "ok");
  EXPECT_TRUE(bad["y_pred"].is_null());
  EXPECT_NE(bad["reason"], "");
}

TEST_F(ScaleTest, FindsTheNearestTrainingMolecule) {
  scratch.write("train.csv", "id,smiles,y\na,CCO,1\nb,c1ccccc1O,2\nbad,C1,3\nc,CC(=O)NC,4\n");
  scratch.write("in.csv", "smiles\nCCO\nOCC\nxx\nCC(=O)NCC\n");
  ASSERT_EQ(run("molgraph-featurize train.csv -o train.h5").code, 0);
  ASSERT_EQ(score("-m run -i in.csv -o store.csv --nearest train.h5 && molgraph-score -m run -i in.csv -o table.csv "
                  "--nearest train.csv && "
                  "cmp store.csv table.csv")
                .code,
            0);
  const auto lines = lines_of(scratch.read("store.csv"));
  EXPECT_EQ(lines[0], "smiles,y_pred,nearest_distance,nearest_id,status,reason");
  EXPECT_EQ(cells_of(lines[1])[2], "0") << "the training set contains the molecule";
  EXPECT_EQ(cells_of(lines[1])[3], "a");
  EXPECT_LT(std::stod(cells_of(lines[2])[2]), 1e-4) << "another SMILES of the same molecule";
  EXPECT_EQ(lines[3].substr(0, 20), "xx,,,,invalid_smiles");
  EXPECT_EQ(cells_of(lines[4])[3], "c");
  EXPECT_GT(std::stod(cells_of(lines[4])[2]), 0);
  ASSERT_EQ(
      score("-m run -i in.csv -o plain.csv && cut -d, -f1,2 plain.csv > a && cut -d, -f1,2 store.csv | cmp - a").code,
      0);
  const auto ensemble = score("-m run -m run -i in.csv -o e.csv --nearest train.h5");
  EXPECT_EQ(ensemble.code, 2);
  EXPECT_NE(ensemble.err.find("give one -m"), std::string::npos) << ensemble.err;
  EXPECT_EQ(score("-m run -i in.csv -o e.csv --nearest none.h5").code, 4);
}

TEST_F(ScaleTest, WritesEmbeddingsAsHdf5) {
  scratch.write("in.csv", "smiles\nCCO\nxx\n");
  ASSERT_EQ(run("molgraph-embed -m run -i in.csv -o out.h5 --dtype float16").code, 0);
  EXPECT_EQ(scratch.read("out.h5").substr(1, 3), "HDF");
}

TEST_F(ScaleTest, ErrorsSayWhatToDo) {
  scratch.write("in.csv", "smiles\nC\n");
  const struct {
    std::string command;
    int code;
    std::string message;
  } cases[] = {
      {"molgraph-score -m run -i - -o out.csv --resume < in.csv", 2, "--resume needs an input that can be read again"},
      {"molgraph-score -m run -i in.csv -o - --resume", 2, "and an output file"},
      {"molgraph-score -m run -i - -o out.csv --shard 0/2 < in.csv", 2, "--shard needs files"},
      {"molgraph-score -m run -i in.csv -o out.csv --shard x", 2, "use I/N with 0 <= I < N"},
      {"molgraph-score -m run -i in.csv - -o out.csv", 2, "standard input"},
      {"molgraph-score -m run -i 'no*.csv' -o out.csv", 4, "no*.csv: no matching file"},
      {"molgraph-embed -m run -i in.csv -o out.npz --resume", 2, "--resume is for .csv, .tsv and .jsonl only"},
  };
  for (const auto& one : cases) {
    const auto result = run(one.command);
    EXPECT_EQ(result.code, one.code) << one.command << result.err;
    EXPECT_NE(result.err.find(one.message), std::string::npos) << one.command << result.err;
    EXPECT_FALSE(scratch.exists("out.csv.part"));
  }
}

TEST_F(ScaleTest, TwoProcessesDoNotWriteOneFile) {
  scratch.write("in.csv", "smiles\nC\n");
  const auto result =
      run("mkfifo pipe; (echo smiles; sleep 100) > pipe & writer=$!\n"
          "molgraph-score -m run -i pipe --format csv -o out.csv & first=$!\n"
          "for i in $(seq 500); do [ -e out.csv.part ] && break; sleep 0.01; done\n"
          "molgraph-score -m run -i in.csv -o out.csv; echo $?; kill $first $writer");
  EXPECT_EQ(lines_of(result.out).at(0), "4") << result.err;
  EXPECT_NE(result.err.find("another process is writing it"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace molgraph::test

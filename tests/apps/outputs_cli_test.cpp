// Output files: an output must not be an input, a finished output has a record of its sources, and a failure leaves no
// temporary files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

constexpr int kUsage = 2, kData = 3, kFile = 4;

class OutputsTest : public testing::Test {
 protected:
  void SetUp() override {
    save_tiny_run(scratch.path("run"), tiny_config(graphormer_architecture(), {"y"}), 1);
    scratch.write("in.csv", "id,smiles,y\na,CCO,1\nb,c1ccccc1O,2\nc,CC(=O)NC,3\nd,CCN,4\ne,CCCC,5\n");
  }

  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }

  void write_rows(const std::string& name, int rows) {
    std::string text = "smiles,y\n";
    for (int i = 0; i < rows; ++i)
      text +=
          "CC(=O)Nc1ccc(O)cc1" + std::string(static_cast<std::size_t>(i % 9), 'C') + "," + std::to_string(i % 7) + "\n";
    scratch.write(name, text);
  }

  /// Names of all files except those of the test shell.
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path(""))) {
      const std::string name = entry.path().lexically_relative(scratch.path("")).string();
      if (name != ".command" && name != ".out" && name != ".err") names.insert(name);
    }
    return names;
  }

  Scratch scratch;
};

TEST_F(OutputsTest, RejectsOutputsThatAreInputs) {
  const std::string table = scratch.read("in.csv");
  ASSERT_EQ(run("ln -s in.csv soft.csv; ln in.csv hard.csv; ln in.csv hard.h5; ln -s both.h5 both.csv; mkdir folder; "
                "ln -s ../in.csv folder/soft.csv\n"
                "cp in.csv part.csv.part; cp in.csv record.csv.json; cp in.csv v.npy.rows.csv; cp in.csv bad.csv.part; "
                "cp -r run base\n"
                "cp run/model.safetensors m.csv; cp run/model.safetensors m.npz; mkdir R; cp in.csv R/splits.csv; cp "
                "in.csv R/other.csv\n"
                "mkdir -p R/model_0/checkpoints; cp in.csv R/model_0/checkpoints/last.safetensors; echo '[]' > s.csv; "
                "echo '[]' > R/run.json; echo 'quiet = true' > c.csv")
                .code,
            0);
  const auto before = files();
  const std::string score = "molgraph-score -m run ", embed = "molgraph-embed -m run ",
                    train = "molgraph-train --target-columns y --epochs 1 ";
  const std::string commands[] = {
      score + "-i in.csv -o in.csv",
      score + "-i in.csv -o ./folder/../in.csv",
      score + "-i in.csv -o soft.csv",
      score + "-i soft.csv -o hard.csv",
      score + "-i folder/soft.csv -o hard.csv",
      score + "-i 'h*.csv' -o in.csv",
      score + "--shard 0/10 -i in.csv -o in.csv",
      score + "--resume -i in.csv -o in.csv",
      score + "-i part.csv.part --format csv -o part.csv",
      score + "-i record.csv.json --format csv -o record.csv",
      score + "-i v.npy.rows.csv --nearest in.csv -o hard.csv",
      score + "-i in.csv --config c.csv -o c.csv",
      score + "-i - -o in.csv < in.csv",
      score + "-i in.csv -o - >> in.csv",
      "molgraph-score -m m.csv -i in.csv -o m.csv",
      "molgraph-score -m run -m m.csv -i in.csv -o m.csv",
      embed + "-i in.csv -o in.csv",
      embed + "-i v.npy.rows.csv -o v.npy",
      "molgraph-embed -m m.npz -i in.csv -o m.npz",
      "molgraph-featurize in.csv -o hard.h5",
      "molgraph-featurize in.csv -o out.h5 --rejected in.csv",
      "molgraph-featurize in.csv -o out.h5 --rejected soft.csv",
      "molgraph-featurize bad.csv.part --format csv -o out.h5 --rejected bad.csv",
      "molgraph-featurize in.csv -o out.h5 --rejected s.csv --splits-file s.csv",
      "molgraph-featurize in.csv -o out.h5 --config c.csv --rejected c.csv",
      "molgraph-featurize in.csv -o both.h5 --rejected both.csv",
      train + "in.csv -o in.csv",
      train + "in.csv -o hard.csv/run",
      train + "R/splits.csv -o R",
      train + "R/model_0/checkpoints/last.safetensors --format csv -o R",
      train + "in.csv --splits-file R/run.json -o R",
      train + "in.csv --from base -o base",
      train + "in.csv --from base/model.safetensors -o base",
      train + "in.csv --from base -o base/model_0",
      "molgraph-import base --export base/model.safetensors",
      "molgraph-import in.csv --origin grpe -o in.csv",
      "molgraph-import m.csv --origin grpe -o base",
      "molgraph-info m.csv >> m.csv",
  };
  for (const std::string& command : commands) {
    const auto result = run(command);
    EXPECT_EQ(result.code, kUsage) << command << "\n" << result.err;
    EXPECT_EQ(files(), before) << command;
    EXPECT_EQ(scratch.read("in.csv"), table) << command;
    const bool names_it = result.err.find("is the same file as") != std::string::npos ||
                          result.err.find("lies inside") != std::string::npos ||
                          result.err.find("already contains a run") != std::string::npos;
    EXPECT_TRUE(names_it) << command << "\n" << result.err;
  }
  EXPECT_EQ(run("cmp m.csv run/model.safetensors && cmp base/model.safetensors run/model.safetensors && cmp hard.csv "
                "R/splits.csv")
                .code,
            0);
}

TEST_F(OutputsTest, AcceptsOutputsThatReplaceNoInput) {
  ASSERT_EQ(run("molgraph-score -m run -i in.csv -o /dev/null && molgraph-score -m run -i in.csv -o run/scored.csv && "
                "cat in.csv | molgraph-score -m run -i /dev/stdin --format csv -o - > piped.csv && cmp piped.csv "
                "run/scored.csv && "
                "molgraph-score -m run -i in.csv -o run/scored.csv && molgraph-embed -m run -i in.csv -o /dev/null")
                .code,
            0);
  // If the output is a link, its target is written. The record is next to the target.
  ASSERT_EQ(run("mkdir far; ln -s far/real.csv link.csv; molgraph-score -m run -i in.csv -o link.csv && cmp "
                "far/real.csv piped.csv")
                .code,
            0);
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.path("link.csv")));
  EXPECT_TRUE(scratch.exists("far/real.csv.json"));
  EXPECT_FALSE(scratch.exists("link.csv.json"));
  EXPECT_EQ(run("molgraph-score -m run -i in.csv -o link.csv --resume").code, 0);
  // A table next to the run's files is not one of them. A folder with the name of a data set is not an input.
  const auto trained =
      run("stop='--backend reference --precision bf16'; mkdir esol D; cp in.csv D/data.csv; molgraph-train D/data.csv "
          "-o D $stop; "
          "molgraph-train esol -o esol --data-dir D $stop");
  const auto messages = lines_of(trained.err);
  ASSERT_EQ(messages.size(), 2u) << trained.err;
  for (const auto& message : messages) EXPECT_NE(message.find("supports fp32 only"), std::string::npos) << message;
}

TEST_F(OutputsTest, FinishedOutputsRecordTheirSources) {
  save_tiny_run(scratch.path("other"), tiny_config(graphormer_architecture(), {"y"}), 2);
  scratch.write("in2.csv", "id,smiles,y\na,CCO,1\n");
  for (const std::string program : {"molgraph-score", "molgraph-embed"}) {
    ASSERT_EQ(run("rm -f out.csv*; touch out.csv").code, 0);
    const std::string start = program + " -m run -i in.csv -o out.csv ";
    const auto empty = run(start + "--resume");
    EXPECT_EQ(empty.code, kFile) << empty.err;
    EXPECT_NE(empty.err.find("out.csv exists without out.csv.json"), std::string::npos) << empty.err;
    EXPECT_EQ(scratch.read("out.csv"), "");
    ASSERT_EQ(run(start).code, 0) << "without --resume, the output is replaced";
    const auto record = nlohmann::json::parse(scratch.read("out.csv.json"));
    EXPECT_EQ(record["rows"], 5);
    EXPECT_EQ(record["made_from"]["inputs"].get<std::string>().substr(0, 7), "in.csv,");
    EXPECT_FALSE(scratch.exists("out.csv.part.json"));
    const std::string good = scratch.read("out.csv");
    const auto again = run(start + "--resume --threads 1 --batch-size 7");
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_NE(again.err.find("is finished (5 ok); there is nothing to resume"), std::string::npos) << again.err;
    const struct {
      std::string arguments, message;
    } others[] = {{"-m other -i in.csv", "other weights: "},
                  {"-m run -i in2.csv", "other inputs: in2.csv, "},
                  {"-m run -i in.csv --max-atoms 50", "other max_atoms: 50 instead of 1024"},
                  {"-m run -i in.csv --shard 0/2", "other shard: 0/2 instead of none"}};
    for (const auto& other : others) {
      const auto refused = run(program + " " + other.arguments + " -o out.csv --resume");
      EXPECT_EQ(refused.code, kFile) << refused.err;
      EXPECT_NE(refused.err.find("out.csv is finished, but it was made with " + other.message), std::string::npos)
          << refused.err;
      EXPECT_EQ(scratch.read("out.csv"), good);
    }
    scratch.write("out.csv", good + "more\n");
    const auto changed = run(start + "--resume");
    EXPECT_EQ(changed.code, kFile);
    EXPECT_NE(changed.err.find("out.csv has changed since it was finished"), std::string::npos) << changed.err;
    // As if killed between the renames of OUT.part and of its record.
    scratch.write("out.csv", good);
    EXPECT_EQ(run("mv out.csv.json out.csv.part.json; " + start + "--resume").code, 0);
    EXPECT_TRUE(scratch.exists("out.csv.json"));
    EXPECT_FALSE(scratch.exists("out.csv.part.json"));
    ASSERT_EQ(run("mv out.csv.json out.csv.part.json; " + start).code, 0);
    // An unfinished output is replaced only if it contains no rows.
    for (const int rows : {3, 0}) {
      nlohmann::json part = record;
      part["rows"] = rows;
      scratch.write("out.csv.part.json", part.dump());
      scratch.write("out.csv.part", "");
      EXPECT_EQ(run(program + " -m run -i in2.csv -o out.csv").code, rows > 0 ? kUsage : 0);
    }
    EXPECT_NE(scratch.read("out.csv"), good);
    nlohmann::json no_rows = record;
    no_rows["rows"] = 0;
    scratch.write("out.csv.part.json", no_rows.dump());
    scratch.write("out.csv.part", "");
    ASSERT_EQ(run(program + " -m run -i - -o out.csv < in.csv").code, 0);
    EXPECT_FALSE(scratch.exists("out.csv.part.json"));
    ASSERT_EQ(run(start).code, 0);
    // An output that cannot be resumed removes the record of an older output.
    ASSERT_EQ(run(program + " -m run -i - -o out.csv < in2.csv").code, 0);
    EXPECT_FALSE(scratch.exists("out.csv.json"));
  }
}

TEST_F(OutputsTest, ResumingAFinishedOutputKeepsTheExitCode) {
  scratch.write("bad.csv", "smiles\nnone(\n");
  const auto first = run("molgraph-score -m run -i bad.csv -o out.csv"),
             again = run("molgraph-score -m run -i bad.csv -o out.csv --resume");
  EXPECT_EQ(first.code, kData);
  EXPECT_EQ(again.code, kData) << again.err;
  scratch.write("mixed.csv", "smiles\nC\nnone(\n");
  ASSERT_EQ(run("molgraph-score -m run -i mixed.csv -o mixed_out.csv").code, 0);
  EXPECT_EQ(run("molgraph-score -m run -i mixed.csv -o mixed_out.csv --resume").code, 0);
  EXPECT_EQ(run("molgraph-score -m run -i mixed.csv -o mixed_out.csv --resume --strict").code, kData);
  // The same if it is unfinished.
  ASSERT_EQ(run("mv mixed_out.csv mixed_out.csv.part; mv mixed_out.csv.json mixed_out.csv.part.json").code, 0);
  const auto strict = run("molgraph-score -m run -i mixed.csv -o mixed_out.csv --resume --strict");
  EXPECT_EQ(strict.code, kData);
  EXPECT_NE(strict.err.find("mixed_out.csv.part contains rows that --strict rejects"), std::string::npos) << strict.err;
  EXPECT_EQ(run("molgraph-score -m run -i mixed.csv -o mixed_out.csv --resume").code, 0);
}

TEST_F(OutputsTest, ResumingRequiresTheSameFlags) {
  const std::string plain = "molgraph-score -m run -i in.csv -o ";
  ASSERT_EQ(run(plain + "a.csv --no-calibrate && " + plain + "b.csv").code, 0);
  const auto less = run(plain + "a.csv --resume"), more = run(plain + "b.csv --resume --no-calibrate");
  EXPECT_EQ(less.code, kFile);
  EXPECT_NE(less.err.find("made with other calibrate: nothing instead of no"), std::string::npos) << less.err;
  EXPECT_EQ(more.code, kFile);
  EXPECT_NE(more.err.find("made with other calibrate: no instead of nothing"), std::string::npos) << more.err;
}

TEST_F(OutputsTest, RecordsDoNotReplaceOtherFiles) {
  scratch.write("out.csv.json", "{\"mine\": 1}");
  const auto refused = run("molgraph-score -m run -i in.csv -o out.csv");
  EXPECT_EQ(refused.code, kFile);
  EXPECT_NE(refused.err.find("out.csv.json: is damaged or not a record"), std::string::npos) << refused.err;
  EXPECT_EQ(scratch.read("out.csv.json"), "{\"mine\": 1}");
  EXPECT_FALSE(scratch.exists("out.csv"));
  EXPECT_FALSE(scratch.exists("out.csv.part"));
}

TEST_F(OutputsTest, RowsAreKeptIfTheRecordCannotBeWritten) {
  const auto result = run("mkdir out.csv.part.json.part; molgraph-score -m run -i in.csv -o out.csv");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: out.csv.part.json.part: cannot write: "), std::string::npos) << result.err;
  EXPECT_EQ(lines_of(scratch.read("out.csv")).size(), 6u);
  EXPECT_FALSE(scratch.exists("out.csv.json"));
}

TEST_F(OutputsTest, RejectsSuffixesOfOtherFormats) {
  const auto before = files();
  for (const std::string suffix : {"parquet", "xlsx", "npz", "csv.bz2", "csv.xz", "txt", "json", "h5", "csv.gz.zip"}) {
    const auto result = run("molgraph-score -m run -i in.csv -o out." + suffix);
    EXPECT_EQ(result.code, kUsage) << suffix;
    EXPECT_NE(result.err.find("the suffix must be .csv, .tsv or .jsonl"), std::string::npos) << result.err;
  }
  for (const std::string suffix : {"parquet", "xlsx", "csv.bz2", "npz.gz", "h5.gz", "txt"}) {
    const auto result = run("molgraph-embed -m run -i in.csv -o out." + suffix);
    EXPECT_EQ(result.code, kUsage) << suffix;
    EXPECT_NE(result.err.find("the suffix must be .npz, .npy, .h5, .csv, .tsv or .jsonl"), std::string::npos)
        << result.err;
  }
  for (const std::string output : {"out.csv", "out.parquet", "out.h5.gz", "out"}) {
    const auto result = run("molgraph-featurize in.csv -o " + output);
    EXPECT_EQ(result.code, kUsage) << output;
    EXPECT_NE(result.err.find("the store's suffix must be .h5 or .hdf5"), std::string::npos) << result.err;
  }
  for (const std::string output : {"bad.xlsx", "bad.tsv", "bad.csv.bz2"}) {
    const auto result = run("molgraph-featurize in.csv -o out.h5 --rejected " + output);
    EXPECT_EQ(result.code, kUsage) << output;
    EXPECT_NE(result.err.find("the suffix must be .csv or .csv.gz"), std::string::npos) << result.err;
  }
  EXPECT_EQ(files(), before);
  EXPECT_EQ(run("molgraph-score -m run -i in.csv -o OUT.CSV && molgraph-featurize in.csv -o S.HDF5 --rejected "
                "BAD.CSV.gz && zcat BAD.CSV.gz")
                .out,
            "row,status,reason,smiles\n");
}

TEST_F(OutputsTest, RejectsModelsThatAreNotRegularFiles) {
  ASSERT_EQ(run("mkfifo pipe; mkdir -p fifo_run; mkfifo fifo_run/model.safetensors").code, 0);
  for (const std::string model : {"pipe", "fifo_run", "/dev/zero"}) {
    for (const std::string command :
         {"molgraph-score -i in.csv -o out.csv -m ", "molgraph-embed -i in.csv -o out.npz -m ", "molgraph-info ",
          "molgraph-import --origin grpe -o imported ", "molgraph-train in.csv --epochs 1 -o trained --from "}) {
      const auto result = run(command + model);
      EXPECT_EQ(result.code, kFile) << command << model << "\n" << result.err;
    }
  }
  const auto result = run("molgraph-score -i in.csv -o out.csv -m pipe");
  EXPECT_NE(result.err.find("pipe: not a regular file"), std::string::npos) << result.err;
}

TEST_F(OutputsTest, FileSizeLimitIsAFileErrorAndLeavesNoFiles) {
  write_rows("rows.csv", 3000);
  const auto before = files();
  for (const std::string command :
       {"molgraph-score -m run -i rows.csv -o out.csv", "molgraph-embed -m run -i rows.csv -o out.jsonl",
        "molgraph-embed -m run -i rows.csv -o out.npz", "molgraph-embed -m run -i rows.csv -o out.npy",
        "molgraph-embed -m run -i rows.csv -o out.h5", "molgraph-featurize rows.csv -o out.h5"}) {
    const auto result = run("ulimit -f 8; " + std::string(command));
    EXPECT_EQ(result.code, kFile) << command << "\n" << result.err;
    EXPECT_NE(result.err.find("File too large"), std::string::npos) << command << "\n" << result.err;
    EXPECT_EQ(files(), before) << command;
  }
  const auto trained =
      run("ulimit -f 64; molgraph-train rows.csv -o trained --epochs 1 --layers 1 --width 64 --heads 4 -t regression "
          "--target-columns y --threads 1");
  EXPECT_EQ(trained.code, kFile) << trained.err;
  EXPECT_NE(trained.err.find("File too large"), std::string::npos) << trained.err;
  for (const std::string& name : files()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
}

TEST_F(OutputsTest, UnwritableOutputPathsAreFileErrors) {
  const std::string longest(5000, 'x');
  scratch.write("a_file", "");
  for (const std::string& folder : {std::string("/proc"), std::string("missing"), std::string("a_file"), longest}) {
    for (const std::string& command :
         {"molgraph-score -m run -i in.csv -o " + folder + "/o.csv",
          "molgraph-embed -m run -i in.csv -o " + folder + "/o.npz",
          "molgraph-embed -m run -i in.csv -o " + folder + "/o.h5",
          "molgraph-embed -m run -i in.csv -o " + folder + "/o.csv", "molgraph-featurize in.csv -o " + folder + "/o.h5",
          "molgraph-featurize in.csv -o out.h5 --rejected " + folder + "/o.csv"}) {
      const auto result = run(command);
      EXPECT_EQ(result.code, kFile) << command << "\n" << result.err;
      EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
      EXPECT_LT(result.err.size(), 2000u);
      EXPECT_FALSE(scratch.exists("out.h5"));
    }
    if (folder == "missing") continue;  // molgraph-train creates the directory
    const auto trained = run("molgraph-train in.csv --target-columns y --epochs 1 -o " + folder + "/run");
    EXPECT_EQ(trained.code, kFile) << trained.err;
    EXPECT_EQ(trained.err.find("internal error"), std::string::npos) << trained.err;
    EXPECT_LT(trained.err.size(), 2000u);
  }
  for (const std::string command :
       {"molgraph-score -o out.csv -m run -i ", "molgraph-score -o out.csv -i in.csv -m ", "molgraph-info ",
        "molgraph-featurize -o out.h5 ", "molgraph-train -o trained ", "molgraph-import --origin grpe -o imported "}) {
    const auto result = run(command + longest);
    EXPECT_EQ(result.code, kFile) << command << result.err.substr(0, 500);
    EXPECT_LT(result.err.size(), 2500u);
  }
  const auto full = run("molgraph-score -m run -i in.csv -o /dev/full");
  EXPECT_EQ(full.code, kFile);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
}

/// The visible text of each terminal line: the text after the last erase sequence.
std::vector<std::string> shown_lines(const std::string& transcript) {
  std::vector<std::string> lines;
  for (std::string line : lines_of(transcript)) {
    while (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t erased = line.rfind("\r\033[K");
    lines.push_back(erased == std::string::npos ? line : line.substr(erased + 4));
  }
  return lines;
}

TEST_F(OutputsTest, RowsAndProgressUseDifferentTerminalLines) {
  if (run("script -qec true /dev/null").code != 0) GTEST_SKIP() << "the program script or a terminal is missing";
  // The rows are so long that none waits in a read-ahead buffer. The script writes 400 rows, then single rows until the
  // terminal shows a progress bar, then five more.
  scratch.write(
      "go.sh",
      "row=CCO,$(printf 'x%.0s' {1..1000})\n"
      "(echo smiles,note; yes $row | head -n 400 | tee given\n"
      "for i in $(seq 3000); do echo $row | tee -a given; grep -q 'Scoring: ' shown && break; sleep 0.2; done\n"
      "for i in 1 2 3 4 5; do echo $row | tee -a given; sleep 0.2; done) | "
      "molgraph-score -m run -i - -o - --batch-size 1\n");
  const auto result = run("TERM=xterm script -qefc 'bash go.sh' shown");
  ASSERT_NE(result.out.find("Scoring: "), std::string::npos) << "no progress was shown: " << result.out;
  std::size_t rows = 0;
  for (const std::string& line : shown_lines(result.out)) {
    EXPECT_FALSE(line.find("CCO,") != std::string::npos && line.find("Scoring") != std::string::npos) << line;
    rows += line.rfind("CCO,", 0) == 0;
  }
  EXPECT_EQ(rows, lines_of(scratch.read("given")).size()) << result.out;
}

TEST_F(OutputsTest, PercentageForPlainTablesIsBasedOnBytes) {
  if (run("script -qec true /dev/null").code != 0) GTEST_SKIP() << "the program script or a terminal is missing";
  write_rows("rows.csv", 400'000);
  const auto result =
      run("TERM=xterm script -qec 'molgraph-score -m run -i rows.csv -o out.csv --threads 1' /dev/null");
  EXPECT_NE(result.out.find(" %, "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" left"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find(" of 400,000"), std::string::npos) << "rows are not counted in advance";
}

}  // namespace
}  // namespace molgraph::test

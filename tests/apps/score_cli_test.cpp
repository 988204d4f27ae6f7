// molgraph-score from the command line: row order, columns, statuses, formats, pipes, exit codes.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

class ScoreTest : public testing::Test {
 protected:
  void SetUp() override { save_tiny_run(scratch.path("run"), tiny_config(graphormer_architecture(), {"y"}), 1); }

  ShellResult score(const std::string& arguments) { return scratch.run(bin_dir(), "molgraph-score " + arguments); }

  Scratch scratch;
};

double number(const std::string& cell) {
  std::size_t used = 0;
  const double value = std::stod(cell, &used);
  EXPECT_EQ(used, cell.size()) << cell;
  return value;
}

TEST_F(ScoreTest, KeepsRowOrderAndColumnsAndGivesReasons) {
  scratch.write("in.csv",
                "name,smiles,y\n"
                "a,CCO,1.50\n"
                "b,C1CC,>5\n"
                "c,,\n"
                "\"d, \"\"quoted\"\"\nin two lines\",c1ccccc1,007\n"
                "e,not a molecule,1e3\n"
                "f,C,2,too,many\n"
                "g,CCO,\n");
  const auto result = score("-m run -i in.csv -o out.csv");
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string text = scratch.read("out.csv");
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 9u) << text;  // one record has two lines
  EXPECT_EQ(lines[0], "name,smiles,y,y_pred,status,reason");
  EXPECT_EQ(lines[1].substr(0, 11), "a,CCO,1.50,");
  EXPECT_EQ(cells_of(lines[1])[4], "ok");
  EXPECT_EQ(lines[2].substr(0, 10), "b,C1CC,>5,");
  EXPECT_EQ(cells_of(lines[2])[3], "");
  EXPECT_EQ(cells_of(lines[2])[4], "invalid_smiles");
  EXPECT_NE(cells_of(lines[2])[5], "");
  EXPECT_EQ(cells_of(lines[3])[4], "empty");
  EXPECT_EQ(lines[4], "\"d, \"\"quoted\"\"");
  EXPECT_EQ(lines[5].substr(0, 27), "in two lines\",c1ccccc1,007,");
  EXPECT_EQ(lines[5].substr(lines[5].size() - 4), ",ok,");
  EXPECT_EQ(cells_of(lines[6])[0], "e");
  EXPECT_EQ(cells_of(lines[6])[4], "invalid_smiles");
  EXPECT_EQ(cells_of(lines[7])[0], "f");
  EXPECT_EQ(cells_of(lines[7])[3], "") << "a malformed row is not scored";
  EXPECT_EQ(cells_of(lines[7])[4], "invalid_smiles");
  EXPECT_EQ(cells_of(lines[8])[3], cells_of(lines[1])[3]) << "the same molecule gets the same number";
  EXPECT_FALSE(scratch.exists("out.csv.part"));
  EXPECT_NE(result.err.find("7 rows"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("3 ok, 1 empty, 3 invalid_smiles"), std::string::npos) << result.err;
}

TEST_F(ScoreTest, PredictionsDependOnTheMolecule) {
  scratch.write("in.csv", "smiles\nCCO\nc1ccccc1\nCC(=O)Oc1ccccc1C(=O)O\n");
  ASSERT_EQ(score("-m run -i in.csv -o out.csv").code, 0);
  const auto lines = lines_of(scratch.read("out.csv"));
  EXPECT_NE(cells_of(lines[1])[1], cells_of(lines[2])[1]);
  EXPECT_NE(cells_of(lines[2])[1], cells_of(lines[3])[1]);
}

// The processor decides which of the two applies.
TEST_F(ScoreTest, Bfloat16IsCloseOrFallsBackToFloat32WithANote) {
  scratch.write("in.csv", "smiles\nCCO\nc1ccccc1O\nCC(=O)N\n");
  ASSERT_EQ(score("-m run -i in.csv -o exact.csv").code, 0);
  const auto result = score("-m run -i in.csv -o rounded.csv --precision bf16");
  ASSERT_EQ(result.code, 0) << result.err;
  if (result.err.find("; fp32 is used") != std::string::npos) {
    EXPECT_EQ(scratch.read("exact.csv"), scratch.read("rounded.csv"));
    return;
  }
  const auto exact = lines_of(scratch.read("exact.csv")), rounded = lines_of(scratch.read("rounded.csv"));
  EXPECT_NE(exact, rounded);
  for (std::size_t i = 1; i <= 3; ++i)
    EXPECT_NEAR(number(cells_of(rounded[i])[1]), number(cells_of(exact[i])[1]), 0.1) << i;
}

TEST_F(ScoreTest, RemovesByteOrderMarkAndCarriageReturns) {
  scratch.write("in.csv", "\xEF\xBB\xBFsmiles,y\r\nCCO,1\r\nC,2");
  ASSERT_EQ(score("-m run -i in.csv -o out.csv").code, 0);
  const auto lines = lines_of(scratch.read("out.csv"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "smiles,y,y_pred,status,reason");
  EXPECT_EQ(lines[2].substr(0, 4), "C,2,");
  EXPECT_EQ(lines[2].find('\r'), std::string::npos);
}

TEST_F(ScoreTest, OutputColumnsThatTheInputHasGetAPrefix) {
  scratch.write("in.csv", "smiles,y_pred,status,molgraph_status\nCCO,old,known,x\n");
  ASSERT_EQ(score("-m run -i in.csv -o out.csv").code, 0);
  const auto lines = lines_of(scratch.read("out.csv"));
  EXPECT_EQ(lines[0], "smiles,y_pred,status,molgraph_status,molgraph_y_pred,molgraph_molgraph_status,reason");
  EXPECT_EQ(lines[1].substr(0, 16), "CCO,old,known,x,");
  const auto again = score("-m run -i out.csv -o twice.csv");
  EXPECT_EQ(again.code, 0) << "an output can be scored again: " << again.err;
}

TEST_F(ScoreTest, SupportsGzipTsvSmiAndSdf) {
  scratch.write("in.csv", "smiles,y\nCCO,1\nC,2\n");
  ASSERT_EQ(score("-m run -i in.csv -o out.csv && gzip -k in.csv && molgraph-score -m run -i in.csv.gz -o gz.csv.gz && "
                  "zcat gz.csv.gz > plain.csv && cmp plain.csv out.csv")
                .code,
            0);
  ASSERT_EQ(score("-m run -i in.csv -o out.tsv").code, 0);
  EXPECT_EQ(lines_of(scratch.read("out.tsv"))[0], "smiles\ty\ty_pred\tstatus\treason");

  scratch.write("in.smi", "CCO first\nC\tsecond one\n");
  ASSERT_EQ(score("-m run -i in.smi -o smi.csv").code, 0);
  const auto smi = lines_of(scratch.read("smi.csv"));
  ASSERT_EQ(smi.size(), 3u);
  EXPECT_EQ(cells_of(smi[1])[0], "CCO");
  EXPECT_EQ(cells_of(smi[1])[1], "first");
  EXPECT_EQ(cells_of(smi[1])[2], cells_of(lines_of(scratch.read("out.csv"))[1])[2]);

  const std::string methanol =
      "methanol\n  test\n\n  2  1  0  0  0  0            999 V2000\n"
      "    0.0000    0.0000    0.0000 C   0  0\n    1.4000    0.0000    0.0000 O   0  0\n  1  2  1  0\nM  END\n";
  scratch.write("in.sdf", methanol + "> <batch>\n7, b\n\n$$$$\nbroken\n\n\n nonsense\nM  END\n$$$$\n");
  scratch.write("methanol.csv", "smiles\nCO\n");
  ASSERT_EQ(score("-m run -i in.sdf -o sdf.csv && molgraph-score -m run -i methanol.csv -o methanol_out.csv").code, 0);
  const auto sdf = lines_of(scratch.read("sdf.csv"));
  ASSERT_EQ(sdf.size(), 3u) << scratch.read("sdf.csv");
  EXPECT_EQ(sdf[0], "smiles,name,batch,y_pred,status,reason");
  const std::string predicted = cells_of(lines_of(scratch.read("methanol_out.csv"))[1])[1];
  EXPECT_EQ(sdf[1], "CO,methanol,\"7, b\"," + predicted + ",ok,");
  EXPECT_NE(sdf[2].find(",invalid_smiles,"), std::string::npos);
}

TEST_F(ScoreTest, ReasonsNameInvalidCharactersInEveryTableFormat) {
  const std::string dash =
                        "C\xE2\x80\x93"
                        "C",
                    cyrillic = "\xD0\xA1O", bell = "CC\x07O", wide = "CCO\xE2\x80\x8B";
  const std::vector<std::string> reasons{"(U+2013) is not a SMILES symbol (character 2)",
                                         "(U+0421) is not a SMILES symbol (character 1)",
                                         "control character U+0007 is not a SMILES symbol (character 3)",
                                         "invisible character U+200B is not a SMILES symbol (character 4)"};
  scratch.write("in.csv",
                "smiles,name\n" + dash + ",a\n" + cyrillic + ",b\n" + bell + ",c\n" + wide + ",d\nCCO,\xC3\xA9\n");
  scratch.write("in.tsv", "smiles\tname\n" + dash + "\ta\n" + cyrillic + "\tb\n" + bell + "\tc\n" + wide +
                              "\td\nCCO\t\xC3\xA9\n");
  scratch.write("in.smi", dash + " a\n" + cyrillic + " b\n" + bell + " c\n" + wide + " d\nCCO \xC3\xA9\n");
  for (const std::string in : {"in.csv", "in.tsv", "in.smi"}) {
    ASSERT_EQ(score("-m run -i " + in + " -o out.csv").code, 0) << in;
    const auto lines = lines_of(scratch.read("out.csv"));
    ASSERT_EQ(lines.size(), 6u) << in;
    for (std::size_t k = 0; k < reasons.size(); ++k) {
      EXPECT_NE(lines[k + 1].find(",invalid_smiles,"), std::string::npos) << in << ": " << lines[k + 1];
      EXPECT_NE(lines[k + 1].find(reasons[k]), std::string::npos) << in << ": " << lines[k + 1];
    }
    EXPECT_NE(lines[5].find(",ok,"), std::string::npos) << in << ": " << lines[5];
  }
  scratch.write("name.sdf",
                "\xC3\xA9"
                "thanol \xE2\x80\x93 2\n  test\n\n  1  0  0  0  0  0            999 V2000\n"
                "    0.0000    0.0000    0.0000 O   0  0\nM  END\n$$$$\n");
  ASSERT_EQ(score("-m run -i name.sdf -o sdf.csv").code, 0);
  EXPECT_EQ(lines_of(scratch.read("sdf.csv"))[1].substr(0, 17),
            "O,\xC3\xA9"
            "thanol \xE2\x80\x93 2,");
}

TEST_F(ScoreTest, ReadsFilesWithoutAHeader) {
  scratch.write("in.csv", "CCO,one\nC,two\n");
  ASSERT_EQ(score("-m run -i in.csv --no_header -o out.csv").code, 0);
  const auto lines = lines_of(scratch.read("out.csv"));
  EXPECT_EQ(lines[0], "smiles,column_2,y_pred,status,reason");
  EXPECT_EQ(lines[1].substr(0, 8), "CCO,one,");
  ASSERT_EQ(lines.size(), 3u);
}

TEST_F(ScoreTest, PipesAndStandardStreams) {
  scratch.write("in.csv", "id,structure\n1,CCO\n2,C\n");
  const auto result = score("-m run -i - -o - -s structure < in.csv");
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(lines_of(result.out).size(), 3u);
  EXPECT_EQ(lines_of(result.out)[0], "id,structure,y_pred,status,reason");
  const auto tsv = scratch.run(bin_dir(), "printf 'smiles\\tid\\nCCO\\t1\\n' | molgraph-score -m run -i - -o -");
  EXPECT_EQ(lines_of(tsv.out)[0], "smiles\tid\ty_pred\tstatus\treason") << tsv.err;
}

TEST_F(ScoreTest, ClosedPipeEndsQuietlyAndEndlessInputIsStreamed) {
  const auto result = scratch.run(
      bin_dir(),
      "(echo smiles; yes CCO) | molgraph-score -m run -i - -o - --batch-size 16 -q | head -n 3; echo ${PIPESTATUS[1]}");
  EXPECT_EQ(result.code, 0);
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 4u) << result.out << result.err;
  EXPECT_EQ(lines[3], "0");
  EXPECT_EQ(result.err.find("molgraph-score"), std::string::npos) << result.err;
}

TEST_F(ScoreTest, TerminatedRunKeepsTheScoredRows) {
  const auto result = scratch.run(
      bin_dir(),
      "mkfifo pipe; (echo smiles; yes C | head -n 200000; exec sleep 900) > pipe & writer=$!\n"
      "molgraph-score -m run -i pipe --format csv -o out.csv --batch-size 512 & pid=$!\n"
      "for i in $(seq 3000); do [ \"$(cat out.csv.part 2>/dev/null | wc -l)\" -ge 513 ] && break; sleep 0.1; done\n"
      "kill -TERM $pid; wait $pid; echo $?; kill $writer");
  EXPECT_EQ(lines_of(result.out).at(0), "143") << result.err;
  EXPECT_FALSE(scratch.exists("out.csv"));
  ASSERT_TRUE(scratch.exists("out.csv.part")) << result.err;
  const std::string part = scratch.read("out.csv.part");
  EXPECT_EQ(part.back(), '\n');
  EXPECT_GE(lines_of(part).size(), 513u);
  EXPECT_EQ(lines_of(part).back().substr(lines_of(part).back().size() - 4), ",ok,") << "complete lines";
  EXPECT_NE(result.err.find("the output so far is in out.csv.part"), std::string::npos) << result.err;
}

// The reading thread is blocked in a read when the signal arrives. The rows are long, so that no read-ahead hides them.
TEST_F(ScoreTest, SignalEndsAProgramThatWaitsForInput) {
  const auto result = scratch.run(
      bin_dir(),
      "mkfifo pipe; (echo smiles,note; yes C,$(printf 'x%.0s' {1..1000}) | head -n 400; exec sleep 900) > pipe & "
      "writer=$!\n"
      "molgraph-score -m run -i pipe --format csv -o out.csv --batch-size 100 & pid=$!\n"
      "for i in $(seq 3000); do [ \"$(cat out.csv.part 2>/dev/null | wc -l)\" -ge 401 ] && break; sleep 0.1; done\n"
      "kill -TERM $pid; wait $pid; echo $?; kill $writer");
  EXPECT_EQ(lines_of(result.out).at(0), "143") << result.err;
  EXPECT_EQ(lines_of(scratch.read("out.csv.part")).size(), 401u);
  EXPECT_NE(result.err.find("stopped after 400 rows"), std::string::npos) << result.err;
}

TEST_F(ScoreTest, ThreadsAndBatchSizeDoNotChangePredictions) {
  std::string table = "smiles\n";
  for (int i = 1; i <= 60; ++i)
    table += std::string(static_cast<std::size_t>(i), 'C') + "\n" + "c1ccccc1" +
             std::string(static_cast<std::size_t>(i % 7), 'N') + "\n";
  scratch.write("in.csv", table);
  ASSERT_EQ(
      score("-m run -i in.csv -o one.csv --threads 1 && molgraph-score -m run -i in.csv -o two.csv --threads 3").code,
      0);
  EXPECT_EQ(scratch.read("one.csv"), scratch.read("two.csv"));
  ASSERT_EQ(score("-m run -i in.csv -o small.csv --batch-size 7").code, 0);
  const auto whole = lines_of(scratch.read("one.csv")), pieces = lines_of(scratch.read("small.csv"));
  ASSERT_EQ(whole.size(), 121u);
  ASSERT_EQ(pieces.size(), 121u);
  // LibTorch may choose another kernel for another number of rows. Sums of some hundred terms then differ by rounding.
  constexpr double kRounding = 1e-5;
  for (std::size_t i = 1; i < whole.size(); ++i) {
    EXPECT_NEAR(number(cells_of(whole[i])[1]), number(cells_of(pieces[i])[1]), kRounding) << whole[i];
  }
}

TEST_F(ScoreTest, SeveralRunsFormAnEnsemble) {
  const auto config = tiny_config(graphormer_architecture(), {"y"});
  save_tiny_run(scratch.path("folder/model_0"), config, 5);
  save_tiny_run(scratch.path("folder/model_1"), config, 6);
  save_tiny_run(scratch.path("folder/model_2"), tiny_config(grpe_architecture(), {"y"}), 7);
  scratch.write("in.csv", "smiles\nCCO\nxx\n");
  ASSERT_EQ(score("-m folder -i in.csv -o out.csv --individual").code, 0);
  const auto lines = lines_of(scratch.read("out.csv"));
  EXPECT_EQ(lines[0], "smiles,y_pred,y_std,y_pred_0,y_pred_1,y_pred_2,status,reason");
  const auto cells = cells_of(lines[1]);
  const double a = number(cells[3]), b = number(cells[4]), c = number(cells[5]), mean = (a + b + c) / 3;
  EXPECT_NE(a, b);
  EXPECT_NEAR(number(cells[1]), mean, 1e-5);
  EXPECT_NEAR(number(cells[2]),
              std::sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 3), 1e-5);
  EXPECT_EQ(lines[2].substr(0, 23), "xx,,,,,,invalid_smiles,");
  ASSERT_EQ(
      score("-m folder/model_0 folder/model_1 -m folder/model_2/model.safetensors -i in.csv -o again.csv --individual")
          .code,
      0);
  EXPECT_EQ(scratch.read("again.csv"), scratch.read("out.csv"));
  save_tiny_run(scratch.path("other"), tiny_config(graphormer_architecture(), {"z"}), 5);
  const auto mixed = score("-m run -m other -i in.csv -o -");
  EXPECT_EQ(mixed.code, 4);
  EXPECT_NE(mixed.err.find("targets z instead of y"), std::string::npos) << mixed.err;
}

TEST_F(ScoreTest, WritesClassProbabilities) {
  auto config = tiny_config(grpe_architecture(), {"tox"});
  config.task.kind = TaskKind::binary;
  save_tiny_run(scratch.path("binary"), config, 2);
  config.task.kind = TaskKind::multiclass;
  config.task.classes = 3;
  config.task.class_labels = {"low", "mid", "high"};
  save_tiny_run(scratch.path("classes"), config, 3);
  scratch.write("in.csv", "smiles\nCCO\nc1ccccc1\n");
  ASSERT_EQ(score("-m binary -i in.csv -o binary.csv && molgraph-score -m classes -i in.csv -o classes.csv").code, 0);
  const double p = number(cells_of(lines_of(scratch.read("binary.csv"))[1])[1]);
  EXPECT_GT(p, 0);
  EXPECT_LT(p, 1);
  const auto lines = lines_of(scratch.read("classes.csv"));
  EXPECT_EQ(lines[0], "smiles,tox_pred,tox_prob_low,tox_prob_mid,tox_prob_high,status,reason");
  for (std::size_t row : {1u, 2u}) {
    const auto cells = cells_of(lines[row]);
    const double low = number(cells[2]), mid = number(cells[3]), high = number(cells[4]);
    EXPECT_NEAR(low + mid + high, 1, 1e-5);
    EXPECT_EQ(cells[1], low > mid && low > high ? "low" : mid > high ? "mid" : "high");
  }
}

TEST_F(ScoreTest, ExitCodes) {
  scratch.write("in.csv", "smiles\nCCO\nbad(\n");
  scratch.write("bad.csv", "smiles\nbad(\n\nq\n");
  scratch.write("empty.csv", "");
  scratch.write("header.csv", "smiles,y\n");
  scratch.write("damaged.safetensors", "nothing of the kind");
  const struct {
    std::string arguments;
    int code;
    std::string message;
  } cases[] = {
      {"-m run -i in.csv -o out.csv", 0, "1 invalid_smiles"},
      {"-m run -i in.csv", 2, "--output is required"},
      {"run in.csv -o out.csv", 2, "--model is required; 'run' follows no flag"},
      {"-m run -i in.csv -o out.csv --inptu x", 2, "did you mean --input?"},
      {"-m run -i in.csv -o out.csv --shard 2/2", 2, "--shard 2/2: use I/N"},
      {"-m run -i in.csv -o out.csv --device cuda:99", 2, "device cuda: "},
      {"-m run -i in.csv -o out.csv --device cuda:x", 2, "use auto, cpu, cuda or cuda:N"},
      {"-m run -i in.csv -o out.csv --precision tf32", 2, "tf32 is for GPUs"},
      {"-m run -i in.csv -o out.csv --device tpu", 2, "use auto, cpu, cuda"},
      {"-m run -i in.csv -o out.csv --format xls", 2, "xls"},
      {"-m run -i in.csv -o out.csv --batch-size 0", 2, "--batch-size"},
      {"-m run -i bad.csv -o out.csv", 3, "no usable row"},
      {"-m run -i header.csv -o out.csv", 3, "no usable row"},
      {"-m run -i empty.csv -o out.csv", 3, "empty.csv"},
      {"-m run -i in.csv -o out.csv -s structure", 3, "structure"},
      {"-m run -i in.csv -o strict.csv --strict", 3, "in.csv, row 2: invalid_smiles"},
      {"-m none -i in.csv -o out.csv", 4, "none: no such run directory"},
      {"-m . -i in.csv -o out.csv", 4, "contains neither model.safetensors nor model_0"},
      {"-m damaged.safetensors -i in.csv -o out.csv", 4, "damaged.safetensors"},
      {"-m run -i missing.csv -o out.csv", 4, "missing.csv"},
      {"-m run -i in.csv -o no/such/folder.csv", 4, "no/such/folder.csv"},
      {"-m run -i in.csv -o out.csv --config missing.toml", 4, "missing.toml"},
  };
  for (const auto& one : cases) {
    const auto result = score(one.arguments);
    EXPECT_EQ(result.code, one.code) << one.arguments << "\n" << result.err;
    EXPECT_NE(result.err.find(one.message), std::string::npos) << one.arguments << "\n" << result.err;
    EXPECT_FALSE(scratch.exists("out.csv.part"));
  }
  EXPECT_FALSE(scratch.exists("strict.csv"));
  EXPECT_FALSE(scratch.exists("strict.csv.part"));
}

TEST_F(ScoreTest, DeviceAsOutputIsWrittenAndNotReplaced) {
  scratch.write("in.csv", "smiles\nCCO\n");
  EXPECT_EQ(score("-m run -i in.csv -o /dev/null && test -c /dev/null && test ! -e /dev/null.part").code, 0);
}

TEST_F(ScoreTest, CommandLineOverridesTheConfigurationFile) {
  scratch.write("in.csv", "smiles\nCCO\n" + std::string(40, 'C') + "\n");
  scratch.write("score.toml", "model = [\"run\"]\ninput = \"in.csv\"\nmax_atoms = 10\noutput = \"from_file.csv\"\n");
  ASSERT_EQ(score("--config score.toml").code, 0);
  EXPECT_NE(scratch.read("from_file.csv").find(",too_large,"), std::string::npos);
  ASSERT_EQ(score("--config score.toml -o from_line.csv --max-atoms 50").code, 0);
  EXPECT_EQ(scratch.read("from_line.csv").find(",too_large,"), std::string::npos);
  scratch.write("wrong.toml", "modle = \"run\"\n");
  const auto wrong = score("--config wrong.toml");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("wrong.toml: unknown key modle; did you mean model?"), std::string::npos) << wrong.err;
}

TEST_F(ScoreTest, HelpBeginsWithAnExampleAndNamesEveryDefault) {
  const auto help = score("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.out.rfind("Example:\n  molgraph-score -m", 0), 0u) << help.out;
  for (const char* text : {"--individual", "--strict", "512]", "--max-atoms N", "[default: 1024]", "--threads N"}) {
    EXPECT_NE(help.out.find(text), std::string::npos) << text;
  }
  const auto version = score("--version");
  EXPECT_EQ(version.out.rfind("molgraph-score (molgraph ", 0), 0u) << version.out;
}

}  // namespace
}  // namespace molgraph::test

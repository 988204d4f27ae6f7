// molgraph-train from the command line: the built program, in scratch folders, on small tables.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Alcohols, acids, ethers and amines with a value that depends on the number of atoms.
std::string small_table(int copies = 1) {
  std::string text = "smiles,name,y\n";
  const char* tails[] = {"O", "C(=O)O", "OC", "N", "Cl", "c1ccccc1", "C#N", "S"};
  for (int copy = 0; copy < copies; ++copy) {
    for (int length = 1; length <= 8; ++length) {
      for (int t = 0; t < 8; ++t) {
        const std::string smiles = std::string(static_cast<std::size_t>(length + 8 * copy), 'C') + tails[t];
        text += smiles + ",m" + std::to_string(length) + "_" + std::to_string(t) + "," +
                std::to_string(0.3 * static_cast<double>(smiles.size()) + t) + "\n";
      }
    }
  }
  return text;
}

class TrainCli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("molgraph_train_" + std::to_string(::getpid()) + "_" +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    write("small.csv", small_table());
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) { return slurp(folder_ / name); }

  /// Runs the program in the scratch folder; output in out.txt and err.txt.
  int run(const std::string& arguments, const std::string& program = MOLGRAPH_TRAIN) {
    const std::string command =
        "cd '" + folder_.string() + "' && '" + program + "' " + arguments + " >out.txt 2>err.txt";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Starts molgraph-train in the background.
  pid_t start(const std::vector<std::string>& arguments) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    std::vector<char*> argv{const_cast<char*>(MOLGRAPH_TRAIN)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    if (::chdir(folder_.c_str()) != 0) ::_exit(99);
    if (!std::freopen("out.txt", "w", stdout) || !std::freopen("err.txt", "w", stderr)) ::_exit(99);
    ::execv(MOLGRAPH_TRAIN, argv.data());
    ::_exit(99);
  }

  double last_loss(const std::string& folder) {  // epoch,step,lr,train_loss,valid
    std::istringstream lines(read(folder + "/metrics.csv"));
    std::string line, cell;
    while (std::getline(lines, line)) cell = line;
    std::istringstream cells(cell);
    for (int k = 0; k < 4; ++k) std::getline(cells, cell, ',');
    return std::stod(cell);
  }

  fs::path folder_;
};

const std::string kBlended = " --layers 2 --width 16 --ffn 16 --heads 2 --seed 5 --threads 2 ";
const std::string kModelOnly = "--no-blend --no-baselines ", kTiny = kBlended + kModelOnly;  // trees are slow

TEST_F(TrainCli, TrainsARunThatScores) {
  ASSERT_EQ(run("small.csv -o R --epochs 3" + kTiny), 0) << read("err.txt");
  for (const char* name : {"config.toml", "model.safetensors", "metrics.csv", "splits.csv", "test_predictions.csv",
                           "log.txt", "results.csv", "checkpoints/last.safetensors", "checkpoints/best.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder_ / "R" / name)) << name;
  }
  const std::string out = read("out.txt");
  for (const char* word : {"train", "valid", "test", "mae", "rmse"})
    EXPECT_NE(out.find(word), std::string::npos) << out;
  const std::string metrics = read("R/metrics.csv");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 4) << metrics;
  ASSERT_EQ(run("-m R -i small.csv -o scored.csv", MOLGRAPH_SCORE), 0) << read("err.txt");
  EXPECT_NE(read("scored.csv").find("y_pred"), std::string::npos);
}

std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line, cell; std::getline(lines, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    while (std::getline(cells, cell, ',')) rows.back().push_back(cell);
  }
  return rows;
}

// Energies of -500,000 +- 0.05 are scaled and predicted in double, because float32 values there are 0.03 apart.
TEST_F(TrainCli, LargeMeanLosesNoPrecision) {
  std::string far = "smiles,energy\n", near = far;
  std::istringstream lines(small_table());
  std::string line;
  std::getline(lines, line);
  for (int k = 0; std::getline(lines, line); ++k) {
    const std::string smiles = line.substr(0, line.find(','));
    const int thousandths = static_cast<int>(smiles.size() * 9 + k % 8 * 5);  // 0.018 ... 0.16
    char text[64];
    std::snprintf(text, sizeof text, "%.3f\n", -500000 + thousandths / 1000.0);
    far += smiles + "," + text;
    std::snprintf(text, sizeof text, "%.3f\n", thousandths / 1000.0);
    near += smiles + "," + text;
  }
  write("far.csv", far);
  write("near.csv", near);
  ASSERT_EQ(run("far.csv -o F --epochs 12" + kTiny), 0) << read("err.txt");
  ASSERT_EQ(run("near.csv -o N --epochs 12" + kTiny), 0) << read("err.txt");
  const auto far_results = cells_of(read("F/results.csv")), near_results = cells_of(read("N/results.csv"));
  ASSERT_EQ(far_results.size(), near_results.size());
  ASSERT_GT(far_results.size(), 8u);
  for (std::size_t k = 1; k < far_results.size(); ++k) {
    const double actual = std::stod(far_results[k].at(3)), expected = std::stod(near_results[k].at(3));
    EXPECT_NEAR(actual, expected, 1e-3 * std::abs(expected)) << far_results[k][0] << " " << far_results[k][2];
  }
  // True values are written as in the table, predictions with the digits of the scaled output.
  const auto far_test = cells_of(read("F/test_predictions.csv")), near_test = cells_of(read("N/test_predictions.csv"));
  for (std::size_t k = 1; k < far_test.size(); ++k) {
    EXPECT_NE(far.find("," + far_test[k].at(2) + "\n"), std::string::npos) << far_test[k][2];
    EXPECT_NEAR(std::stod(far_test[k].at(3)) + 500000, std::stod(near_test[k].at(3)), 1e-5);
    EXPECT_LE(far_test[k][3].size(), 17u) << far_test[k][3];
  }
  ASSERT_EQ(run("-m F -i far.csv -o scored.csv", MOLGRAPH_SCORE), 0) << read("err.txt");
  const auto scored = cells_of(read("scored.csv"));
  for (std::size_t k = 1; k < scored.size(); ++k) {
    for (const auto& row : far_test) {
      if (row[1] != scored[k].at(0)) continue;
      EXPECT_NEAR(std::stod(row[3]), std::stod(scored[k].at(2)), 1e-7);
    }
  }
}

TEST_F(TrainCli, WritesValuesWithoutSuperfluousDigits) {
  std::string table = "smiles,y\n";
  for (int k = 1; k <= 40; ++k)
    table += std::string(static_cast<std::size_t>(k), 'C') + ",-" + std::to_string(k) + ".77\n";
  write("digits.csv", table);
  ASSERT_EQ(run("digits.csv -o R --epochs 2" + kTiny), 0) << read("err.txt");
  const auto rows = cells_of(read("R/test_predictions.csv"));
  ASSERT_GT(rows.size(), 2u);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    EXPECT_TRUE(rows[k].at(2).ends_with(".77")) << rows[k][2];
    EXPECT_LE(rows[k].at(3).size(), 12u) << rows[k][3];
  }
  for (const auto& file : {cells_of(read("R/metrics.csv")), cells_of(read("R/results.csv"))})
    for (std::size_t k = 1; k < file.size(); ++k)
      for (const auto& cell : file[k]) EXPECT_LE(cell.size(), 14u) << cell;
}

TEST_F(TrainCli, EqualRunsGiveEqualFiles) {
  for (const char* model : {"grpe", "graphormer"}) {
    const std::string flags = "small.csv --epochs 2 --urpe --model " + std::string(model) + kBlended;
    ASSERT_EQ(run(flags + "-o A_" + model), 0) << read("err.txt");
    ASSERT_EQ(run(flags + "-o B_" + model), 0) << read("err.txt");
    for (const char* name : {"/model.safetensors", "/metrics.csv", "/test_predictions.csv", "/splits.csv"}) {
      const std::string a = read("A_" + std::string(model) + name);
      EXPECT_FALSE(a.empty());
      EXPECT_TRUE(a == read("B_" + std::string(model) + name)) << model << name;
    }
    ASSERT_EQ(run("small.csv --epochs 2 --urpe --model " + std::string(model) +
                  " --layers 2 --width 16 --ffn 16 --heads 2 --seed 6 --no-blend -o C_" + model),
              0);
    EXPECT_FALSE(read("A_" + std::string(model) + "/model.safetensors") ==
                 read("C_" + std::string(model) + "/model.safetensors"));
  }
}

// Two runs are equal with encodings that use more than the tables, and with several passes per update (FLAG).
TEST_F(TrainCli, EncodingsAndFlagAreReproducible) {
  for (const char* variant :
       {"--encoding laplacian", "--encoding tupe --no-share-encodings", "--encoding deberta --flag 2,0.01,0"}) {
    const std::string flags = "small.csv --epochs 2 --urpe --gate-path " + std::string(variant) + kTiny;
    ASSERT_EQ(run(flags + "-o A"), 0) << read("err.txt");
    ASSERT_EQ(run(flags + "-o B"), 0) << read("err.txt");
    EXPECT_TRUE(read("A/model.safetensors") == read("B/model.safetensors")) << variant;
    ASSERT_EQ(run("-m A -i small.csv -o scored.csv", MOLGRAPH_SCORE), 0) << read("err.txt");
    EXPECT_EQ(run("-o A --resume"), 0) << "config.toml identifies its run: " << read("err.txt");
    fs::remove_all(folder_ / "A");
    fs::remove_all(folder_ / "B");
  }
}

TEST_F(TrainCli, FilesDoNotDependOnThreadsOrOmpNumThreads) {
  const std::string flags = "small.csv --epochs 3 --urpe --layers 2 --width 80 --ffn 80 --heads 8 --seed 5 -o ";
  ASSERT_EQ(run(flags + "one --threads 1"), 0) << read("err.txt");
  ASSERT_EQ(run(flags + "two --threads 2"), 0) << read("err.txt");
  ASSERT_EQ(run("--version; OMP_NUM_THREADS=1 '" MOLGRAPH_TRAIN "' " + flags + "pinned --threads 3"), 0)
      << read("err.txt");
  for (const char* name : {"model.safetensors", "metrics.csv", "test_predictions.csv"}) {
    EXPECT_FALSE(read(std::string("one/") + name).empty());
    EXPECT_TRUE(read(std::string("one/") + name) == read(std::string("two/") + name)) << name;
    EXPECT_TRUE(read(std::string("one/") + name) == read(std::string("pinned/") + name)) << name;
  }
}

// Initial weights, order, dropout and schedule are equal. Only rounding differs; it grows by an order of magnitude in a
// few epochs.
TEST_F(TrainCli, ReferenceTrainsLikeTheEngine) {
  const std::string flags = "small.csv --epochs 2 --model grpe --urpe" + kTiny + "-o ";
  ASSERT_EQ(run(flags + "engine"), 0) << read("err.txt");
  ASSERT_EQ(run(flags + "reference --backend reference"), 0) << read("err.txt");
  EXPECT_NEAR(last_loss("engine"), last_loss("reference"), 1e-4 * last_loss("reference"));
  EXPECT_FALSE(read("engine/model.safetensors") == read("reference/model.safetensors"));  // rounding differs
}

TEST_F(TrainCli, Bfloat16TrainsAlikeOrFallsBackToFloat32WithANote) {
  const std::string flags = "small.csv --epochs 2 --model grpe --urpe" + kTiny + "-o ";
  EXPECT_EQ(run(flags + "neither --backend reference --precision bf16"), 2);
  EXPECT_FALSE(fs::exists(folder_ / "neither"));
  ASSERT_EQ(run(flags + "exact"), 0) << read("err.txt");
  ASSERT_EQ(run(flags + "rounded --precision bf16"), 0) << read("err.txt");
  const bool fp32 = read("err.txt").find("; fp32 is used") != std::string::npos;
  const std::string used = fp32 ? "fp32" : "bf16";
  EXPECT_NE(read("rounded/run.json").find("\"precision\": \"" + used), std::string::npos);
  EXPECT_EQ(read("rounded/model.safetensors") == read("exact/model.safetensors"), fp32);
  EXPECT_NEAR(last_loss("rounded"), last_loss("exact"), 2e-2 * last_loss("exact"));
}

TEST_F(TrainCli, RepeatedStopsAndResumesGiveTheSameFiles) {
  write("more.csv", small_table(4));
  std::istringstream words("more.csv --epochs 120 --batch-size 8 --ema 0.9" + kTiny + "-o whole");
  std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
  int status = 0;
  ::waitpid(start(arguments), &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read("err.txt");

  const auto epochs = [&] {
    const std::string metrics = fs::exists(folder_ / "parts/metrics.csv") ? read("parts/metrics.csv") : "";
    return std::count(metrics.begin(), metrics.end(), '\n') - 1;
  };
  arguments.back() = "parts";
  for (const int epoch : {0, 1, 20, 21, 60}) {
    const pid_t child = start(arguments);
    pid_t ended = 0;
    while (epochs() < epoch && (ended = ::waitpid(child, &status, WNOHANG)) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(ended, 0) << "status " << status << " before epoch " << epoch << "\n" << read("err.txt");
    ::kill(child, SIGTERM);
    ::waitpid(child, &status, 0);
    const bool stopped = WIFEXITED(status) && WEXITSTATUS(status) == 143;
    const bool killed_at_start = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    ASSERT_TRUE(stopped || killed_at_start) << "status " << status << "\n" << read("err.txt");
    if (epoch == 0) arguments.push_back("--resume");
  }
  ::waitpid(start(arguments), &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read("err.txt");
  for (const char* name : {"model.safetensors", "metrics.csv", "test_predictions.csv", "splits.csv"}) {
    EXPECT_TRUE(read(std::string("whole/") + name) == read(std::string("parts/") + name)) << name;
  }
}

TEST_F(TrainCli, ResumeRejectsOtherOptionsAndOtherData) {
  ASSERT_EQ(run("small.csv -o R --epochs 1" + kTiny), 0) << read("err.txt");
  EXPECT_EQ(run("-o R --resume --lr 0.5"), 2);
  EXPECT_NE(read("err.txt").find("--lr"), std::string::npos) << read("err.txt");
  EXPECT_EQ(run("-o R --resume"), 0) << read("err.txt");
  write("small.csv", small_table(2));
  EXPECT_EQ(run("-o R --resume"), 4) << read("err.txt");
}

TEST_F(TrainCli, RunIsNeverOverwritten) {
  ASSERT_EQ(run("small.csv -o R --epochs 1" + kTiny), 0) << read("err.txt");
  const std::string before = read("R/model.safetensors");
  EXPECT_EQ(run("small.csv -o R --epochs 2" + kTiny), 2);
  EXPECT_TRUE(before == read("R/model.safetensors"));
}

TEST_F(TrainCli, FineTuningKeepsTheHeadForEqualTargetsOnly) {
  ASSERT_EQ(run("small.csv -o R --epochs 2 --model graphormer --no-calibrate" + kTiny), 0) << read("err.txt");
  ASSERT_EQ(run("small.csv -o F --no-calibrate --epochs 1 --lr 1e-12 --dropout 0 --attention-dropout 0 --from R --urpe "
                "--gate-path --seed 5 " +
                kModelOnly),
            0)
      << read("err.txt");
  EXPECT_NE(read("err.txt").find("gate initialised to ones"), std::string::npos) << read("err.txt");
  // With a vanishing learning rate, the upgraded model gives the same predictions as the original.
  std::istringstream a(read("R/test_predictions.csv")), b(read("F/test_predictions.csv"));
  std::string line_a, line_b;
  std::getline(a, line_a), std::getline(b, line_b);
  int rows = 0;
  while (std::getline(a, line_a) && std::getline(b, line_b)) {
    EXPECT_NEAR(std::stod(line_a.substr(line_a.rfind(',') + 1)), std::stod(line_b.substr(line_b.rfind(',') + 1)), 1e-4);
    ++rows;
  }
  EXPECT_GT(rows, 3);
  std::string other = small_table();
  other.replace(other.find(",y\n"), 3, ",z\n");
  write("other.csv", other);
  ASSERT_EQ(run("other.csv -o G --epochs 1 --from R --freeze encoder " + kModelOnly), 0) << read("err.txt");
  EXPECT_NE(read("err.txt").find("new head"), std::string::npos) << read("err.txt");
  EXPECT_EQ(run("other.csv -o H --epochs 1 --from R --heads 4"), 2);
  EXPECT_EQ(run("other.csv -o H --epochs 1 --from nowhere"), 4);
}

TEST_F(TrainCli, EnsembleFolderScoresAsOneModel) {
  ASSERT_EQ(run("small.csv -o E --epochs 1 --ensemble-size 2" + kTiny), 0) << read("err.txt");
  EXPECT_FALSE(read("E/model_0/model.safetensors") == read("E/model_1/model.safetensors"));
  ASSERT_EQ(run("-m E -i small.csv -o scored.csv", MOLGRAPH_SCORE), 0) << read("err.txt");
  EXPECT_NE(read("scored.csv").find("y_std"), std::string::npos);
}

TEST_F(TrainCli, ClassificationWithMissingLabels) {
  std::string text = "smiles,a,b\n";
  for (int i = 1; i <= 40; ++i) {
    text += std::string(static_cast<std::size_t>(i % 20 + 1), 'C') + (i % 2 ? "O" : "N") + "," + std::to_string(i % 2) +
            "," + (i % 5 == 0 ? "" : std::to_string(i / 3 % 2)) + "\n";
  }
  write("labels.csv", text);
  ASSERT_EQ(run("labels.csv -t classification -o R --epochs 2 --split-sizes 0.5 0.25 0.25" + kTiny), 0)
      << read("err.txt");
  EXPECT_NE(read("out.txt").find("roc-auc"), std::string::npos) << read("out.txt");
}

TEST_F(TrainCli, MulticlassLabelsMayBeText) {
  std::string text = "smiles,phase\n";
  const char* phases[] = {"gas", "liquid", "solid"};
  for (int i = 1; i <= 45; ++i) text += std::string(static_cast<std::size_t>(i), 'C') + "O," + phases[i / 16] + "\n";
  write("phases.csv", text);
  ASSERT_EQ(run("phases.csv -t multiclass --target-columns phase -o R --epochs 2" + kTiny), 0) << read("err.txt");
  EXPECT_NE(read("R/test_predictions.csv").find("phase_prob_liquid"), std::string::npos);
}

TEST_F(TrainCli, BadInputGivesTheDocumentedExitCode) {
  write("words.csv", "smiles,y\nCCO,1\nCCN,>high\nCCC,3\n");
  EXPECT_EQ(run("words.csv -o R1 --epochs 1"), 3);
  EXPECT_NE(read("err.txt").find(">high"), std::string::npos) << read("err.txt");
  write("empty.csv", "");
  EXPECT_EQ(run("empty.csv -o R2 --epochs 1"), 3);
  write("broken.csv", "smiles,y\nC1CC,1\nnonsense,2\n");
  EXPECT_EQ(run("broken.csv -o R3 --epochs 1"), 3);
  EXPECT_EQ(run("absent.csv -o R4 --epochs 1"), 4);
  EXPECT_EQ(run("small.csv -o R5 --epochz 1"), 2);
  EXPECT_NE(read("err.txt").find("--epochs"), std::string::npos) << read("err.txt");
  EXPECT_EQ(run("small.csv -o R6 --recipe urpe"), 2);
  EXPECT_EQ(run("small.csv -o R7 --loss bce"), 2);
  EXPECT_EQ(run(""), 2);
  for (const char* name : {"R1", "R2", "R3", "R4"}) EXPECT_FALSE(fs::exists(folder_ / name / "model.safetensors"));
}

TEST_F(TrainCli, ConfigFileReproducesTheRun) {
  ASSERT_EQ(run("small.csv -o A --epochs 2 --no-urpe --share_encodings" + kTiny), 0) << read("err.txt");
  ASSERT_EQ(run("--config A/config.toml -o B --threads 2"), 0) << read("err.txt");
  EXPECT_TRUE(read("A/model.safetensors") == read("B/model.safetensors"));
  EXPECT_TRUE(read("A/config.toml") == read("B/config.toml"));
}

TEST_F(TrainCli, HelpBeginsWithAnExample) {
  ASSERT_EQ(run("--help"), 0);
  const std::string out = read("out.txt");
  EXPECT_LT(out.find("molgraph-train my_assay.csv"), out.find("--batch-size"));
  EXPECT_NE(out.find("urpe-zinc"), std::string::npos);
  EXPECT_NE(out.find("tox21"), std::string::npos);
}

TEST_F(TrainCli, FoldsGiveOneModelEachAndOneResultsTable) {
  const std::string options = kTiny + "--epochs 2";
  ASSERT_EQ(run("small.csv --folds 3 -o cv" + options), 0) << read("err.txt");
  const std::string out = read("out.txt");
  for (const char* line : {"fold 0 ", "fold 2 ", "mean ", "deviation "})
    EXPECT_NE(out.find(line), std::string::npos) << out;
  for (const char* file : {"cv/model_0/model.safetensors", "cv/model_2/splits.csv", "cv/model_1/test_predictions.csv"})
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  EXPECT_NE(read("cv/results.csv").find("test,mean,mae,"), std::string::npos);
  ASSERT_EQ(run("-m cv -i small.csv -o scored.csv", MOLGRAPH_SCORE), 0) << read("err.txt");
  EXPECT_NE(read("scored.csv").find("y_std"), std::string::npos) << "the folds form an ensemble";
  EXPECT_EQ(run("-o cv --resume --folds 3 small.csv --threads 1"), 0) << read("err.txt");
  write("splits.json", R"([{"train": "0-39", "val": "40-49", "test": "50-63"}])");
  ASSERT_EQ(run("small.csv --splits-file splits.json -o one" + options), 0) << read("err.txt");
  EXPECT_FALSE(fs::exists(folder_ / "one/model_0")) << "one split is not a cross-validation";
  EXPECT_EQ(run("small.csv --folds 3 --ensemble-size 2 -o both" + options), 2);
}

}  // namespace

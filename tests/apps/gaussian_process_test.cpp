// Gaussian processes: kernels and predictions compared with hand calculations, and the file that stores them.
#include "apps/scoring/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "apps/scoring/gaussian_process_file.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/partner_fixtures.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
/// Distances are computed in single precision.
constexpr double kFloatTolerance = 1e-5;

// Counts {1: 2, 3: 1} and {1: 1, 2: 1}: the minima sum to 1, the maxima to 2 + 1 + 1 = 4. Numbers (1, -2) and
// (0, missing = 0): the second column is constant, so r^2 = 1 with one column: 1/(1 + 1/2).
TEST(GaussianProcess, KernelsMatchHandCalculation) {
  KernelMolecules molecules;
  const std::vector<std::uint32_t> column{1, 2};
  const std::vector<float> count{1, 1}, scaled{0, kMissing};
  molecules.add({column, count}, scaled);
  const KernelIndex index(molecules, {true, false});
  std::vector<double> alike;
  std::vector<float> near;
  const std::vector<std::uint32_t> own{1, 3};
  const std::vector<float> own_count{2, 1}, own_scaled{1, -2};
  index.kernels({own, own_count}, own_scaled, alike, near);
  ASSERT_EQ(alike.size(), 1u);
  EXPECT_DOUBLE_EQ(alike[0], 0.25);
  EXPECT_FLOAT_EQ(near[0], 1 / 1.5F);
}

GaussianProcess small_process() {
  GaussianProcess process{.descriptors = {"a"},
                          .columns = {"dose"},
                          .targets = {{.name = "y", .share = 0.25}, {.name = "active", .kind = TaskKind::binary}},
                          .fingerprint_share = {0.5, 1},
                          .noise = {0.1, 1},
                          .scaling = {{1, 0}, {2, 0}},
                          .mean = {10, 0.5},
                          .coefficient = {4, 8, 0.4, 0.9}};
  const std::vector<std::uint32_t> first{1}, second{1, 2};
  const std::vector<float> one{1}, two{1, 1}, low{0, 0}, high{1, 0};
  process.molecules.add({first, one}, low);
  process.molecules.add({second, two}, high);
  return process;
}

TEST(GaussianProcess, PredictionsMatchHandCalculation) {
  const ProcessPredictor process(small_process());
  ASSERT_EQ(process_problem(process.process()), "");
  const std::vector<std::uint32_t> column{1};
  const std::vector<float> count{1};
  double values[2];
  // Fingerprint kernels: 1 and 1/2. a = 5 is scaled to 2, so the number kernels are 1/(1 + 4/2) and 1/(1 + 1/2).
  process.predict({column, count}, std::vector<float>{5, 77}, values);
  EXPECT_NEAR(values[0], 10 + 4 * (0.5 + 0.5 / 3) + 8 * (0.25 + 0.5 / 1.5), kFloatTolerance);
  EXPECT_EQ(values[1], 0.99);  // 0.5 + 0.4 + 0.45 exceeds 1
  // No common fingerprint bit; a is the mean.
  process.predict({{}, {}}, std::vector<float>{kMissing, kMissing}, values);
  EXPECT_NEAR(values[0], 10 + 4 * 0.5 + 8 * 0.5 / 1.5, kFloatTolerance);
  EXPECT_EQ(values[1], 0.5);
}

TEST(GaussianProcess, DifficultyMatchesHandCalculation) {
  const ProcessPredictor process(small_process());
  const std::vector<std::uint32_t> column{1};
  const std::vector<float> count{1}, numbers{5, 77};
  double values[2], alone[2], difficulty[] = {-1, -1};
  process.predict({column, count}, numbers, values, difficulty);
  EXPECT_NEAR(difficulty[0], 1, 1e-12);  // both molecules are neighbours, and one has the same fingerprint
  EXPECT_EQ(difficulty[1], 0);           // classes
  process.predict({column, count}, numbers, alone);
  EXPECT_EQ(values[0], alone[0]);
}

TEST(GaussianProcess, DifficultyUsesTheNearestLabelledMolecules) {
  GaussianProcess process{.targets = {{.name = "y"}}, .fingerprint_share = {1}, .noise = {0.1}, .mean = {0}};
  const std::vector<std::uint32_t> column{1};
  for (int k = 0; k < 21; ++k) {  // similarities 1, 1/2, 1/3, ..., 1/17 four times
    process.molecules.add({column, std::vector<float>{std::min(1.0F + static_cast<float>(k), 17.0F)}}, {});
    // The most similar molecule has no label. Of equally similar molecules, the first counts.
    process.coefficient.push_back(k == 0 ? 0 : k <= 16 ? 3 : 30);
  }
  double value = 0, difficulty = 0;
  const auto compute = [&](double factor) {
    for (double& c : process.coefficient) c *= factor;
    ProcessPredictor(process).predict({column, std::vector<float>{1}}, {}, &value, &difficulty);
  };
  compute(1);
  const double expected = 3 / std::sqrt((16 * 9 + 4 * 900) / 20.0) * std::exp(1.5 * 0.5);
  EXPECT_NEAR(difficulty, expected, 1e-12);
  compute(-10);  // the unit of the coefficients depends on the noise
  EXPECT_NEAR(difficulty, expected, 1e-12);
  compute(0);
  EXPECT_EQ(difficulty, 0);
}

TEST(GaussianProcess, RareClassProbabilitiesKeepTheirOrder) {
  GaussianProcess process = small_process();
  process.mean[1] = 0.002;
  process.coefficient = {0, 0, 0.004, 0};
  const ProcessPredictor rare(process);
  const std::vector<std::uint32_t> column{1};
  const std::vector<float> count{1}, two{2}, numbers{0, 0};
  double identical[2], similar[2], dissimilar[2];
  rare.predict({column, count}, numbers, identical);
  rare.predict({column, two}, numbers, similar);
  rare.predict({{}, {}}, numbers, dissimilar);
  EXPECT_GT(identical[1], similar[1]);
  EXPECT_GT(similar[1], dissimilar[1]);
}

class ProcessFile : public ::testing::Test {
 protected:
  ProcessFile() {
    task_.kind = TaskKind::mixed;
    task_.names = {"y", "active"};
    task_.units = {"", ""};
    task_.kinds = {TaskKind::regression, TaskKind::binary};
  }
  std::string path() const { return scratch_.file("gaussian_process.safetensors"); }
  GaussianProcess read() const { return read_process(path(), task_, featurizer_); }
  std::string error_message() const {
    return testing::message_of<FileError>([&] { read(); });
  }
  void rewrite(const std::function<void(SafetensorsFile&)>& change) const {
    write_process(path(), small_process(), featurizer_);
    testing::rewrite(path(), change);
  }

  testing::ScratchFolder scratch_;
  FeaturizerOptions featurizer_;
  Task task_;
};

TEST_F(ProcessFile, RoundTripKeepsEveryField) {
  write_process(path(), small_process(), featurizer_);
  const GaussianProcess expected = small_process(), process = read();
  EXPECT_EQ(process.descriptors, expected.descriptors);
  EXPECT_EQ(process.columns, expected.columns);
  EXPECT_EQ(process.fingerprint_share, expected.fingerprint_share);
  EXPECT_EQ(process.noise, expected.noise);
  EXPECT_EQ(process.scaling, expected.scaling);
  EXPECT_EQ(process.molecules.count_offset, expected.molecules.count_offset);
  EXPECT_EQ(process.molecules.column, expected.molecules.column);
  EXPECT_EQ(process.molecules.count, expected.molecules.count);
  EXPECT_EQ(process.molecules.numbers, expected.molecules.numbers);
  EXPECT_EQ(process.mean, expected.mean);
  EXPECT_EQ(process.coefficient, expected.coefficient);
  EXPECT_EQ(process.targets[0].share, 0.25);
  EXPECT_EQ(process.targets[1].name, "active");
}

TEST_F(ProcessFile, RejectsTheProcessOfAnotherModel) {
  write_process(path(), small_process(), featurizer_);
  task_.names[0] = "z";
  EXPECT_NE(error_message().find("other targets"), std::string::npos) << error_message();
  task_.names[0] = "y";
  featurizer_.standardize = Standardize::parent;
  EXPECT_NE(error_message().find("another featuriser"), std::string::npos) << error_message();
}

TEST_F(ProcessFile, DamageErrorsNameTheFileAndTheProblem) {
  EXPECT_NE(error_message().find(path()), std::string::npos);  // no file
  const auto number = [](const char* tensor, std::size_t at, auto value) {
    return [=](SafetensorsFile& file) {
      std::memcpy(file.tensors.at(tensor).bytes.data() + at * sizeof(value), &value, sizeof(value));
    };
  };
  const std::vector<std::pair<std::function<void(SafetensorsFile&)>, std::string>> cases{
      {number("count_offset", 1, std::int64_t{9}), "count offsets"},
      {number("count_offset", 2, std::int64_t{1} << 60), "count offsets"},
      {number("column", 0, std::int32_t{2048}), "column 2048 of 2048"},
      {number("column", 0, std::int32_t{-1}), "negative column"},
      {number("count", 0, 0.0F), "not positive"},
      {number("numbers", 1, kMissing), "not finite"},
      {number("coefficient", 1, kNaN), "not finite"},
      {number("scale", 0, kNaN), "not finite"},
      {number("fingerprint_share", 0, 2.0), "share outside"},
      {number("share", 1, -1.0), "share outside"},
      {[](SafetensorsFile& file) { file.tensors.erase("mean"); }, "missing array mean"},
      {[](SafetensorsFile& file) { file.tensors.at("noise").shape = {1}, file.tensors.at("noise").bytes.resize(8); },
       "not one kernel"},
      {[](SafetensorsFile& file) { file.tensors.at("center") = file.tensors.at("clip"); }, "not one scale"},
      {[](SafetensorsFile& file) { file.tensors.at("clip") = file.tensors.at("center"); }, "not a single number"},
      {[](SafetensorsFile& file) { file.tensors.at("mean") = file.tensors.at("clip"); }, "outputs"},
      {[](SafetensorsFile& file) { file.metadata["molgraph.gaussian_process"] = "{"; }, "damaged Gaussian process"},
      {[](SafetensorsFile& file) { file.metadata["molgraph.gaussian_process"] = "{\"version\": 2}"; }, "version 2"},
      {[](SafetensorsFile& file) { file.metadata.erase("molgraph.gaussian_process"); }, "contains no Gaussian process"},
  };
  for (const auto& [change, what] : cases) {
    rewrite(change);
    EXPECT_NE(error_message().find(path()), std::string::npos) << what;
    EXPECT_NE(error_message().find(what), std::string::npos) << what << ": " << error_message();
  }
}

}  // namespace
}  // namespace molgraph

// Gaussian processes: kernels and predictions compared with hand calculations, and the file that stores them.
#include "apps/scoring/gaussian_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "apps/scoring/gaussian_process_file.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/descriptors/descriptors.hpp"
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
  index.kernels(std::array{KernelInput{{own, own_count}, own_scaled}}, alike, near);
  ASSERT_EQ(alike.size(), 1u);
  EXPECT_DOUBLE_EQ(alike[0], 0.25);
  EXPECT_FLOAT_EQ(near[0], 1 / 1.5F);
}

/// Molecules with random counts and `width` random numbers. Columns below 64 are common, the others rare.
KernelMolecules random_molecules(std::size_t size, std::size_t width, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  KernelMolecules molecules;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<std::uint32_t> column;
    std::vector<float> count, numbers;
    for (std::uint32_t c = 0; c < kFingerprintBins; ++c) {
      if (below(c < 64 ? 2 : 400) != 0) continue;
      column.push_back(c);
      count.push_back(static_cast<float>(below(8) == 0 ? 1 + below(255) : 1 + below(3)));
    }
    for (std::size_t d = 0; d < width; ++d)
      numbers.push_back(below(20) == 0 ? kMissing : static_cast<float>(below(2001)) / 500 - 2);
    molecules.add({column, count}, numbers);
  }
  return molecules;
}

std::vector<double> dense_counts(const CountsView& view) {
  std::vector<double> dense(kFingerprintBins);
  for (std::size_t k = 0; k < view.column.size(); ++k) dense[view.column[k]] = static_cast<double>(view.count[k]);
  return dense;
}

double tanimoto_formula(const CountsView& a, const CountsView& b) {
  const std::vector<double> left = dense_counts(a), right = dense_counts(b);
  double minima = 0, maxima = 0;
  for (std::size_t c = 0; c < kFingerprintBins; ++c) {
    minima += std::min(left[c], right[c]);
    maxima += std::max(left[c], right[c]);
  }
  return maxima > 0 ? minima / maxima : 0;
}

TEST(GaussianProcess, KernelsMatchTheFormulasForEveryNumberOfMolecules) {
  constexpr std::size_t kWidth = 7;
  const std::vector<bool> used{true, false, true, true, true, false, true};
  const KernelMolecules queries = random_molecules(KernelIndex::kMaxInputs, kWidth, 1);
  std::vector<KernelInput> inputs;
  for (std::size_t m = 0; m < queries.size(); ++m)
    inputs.push_back({queries.counts(m), std::span(queries.numbers).subspan(m * kWidth, kWidth)});
  const std::vector<float> unknown(kWidth, kMissing);  // like 0, the mean
  inputs[1].numbers = inputs[6].numbers = unknown;
  for (const std::size_t size : {1, 15, 16, 17, 200}) {
    const KernelMolecules molecules = random_molecules(size, kWidth, 2);
    const KernelIndex index(molecules, used);
    for (std::size_t count = 1; count <= inputs.size(); ++count) {
      SCOPED_TRACE(std::to_string(count) + " inputs, " + std::to_string(size) + " molecules");
      std::vector<double> alike;
      std::vector<float> near;
      index.kernels(std::span(inputs).first(count), alike, near);
      ASSERT_EQ(alike.size(), count * size);
      ASSERT_EQ(near.size(), count * size);
      std::vector<double> alike_in_baseline;
      std::vector<float> near_in_baseline;
      index.kernels(std::span(inputs).first(count), alike_in_baseline, near_in_baseline, false);
      EXPECT_EQ(alike, alike_in_baseline);
      EXPECT_EQ(near, near_in_baseline);
      for (std::size_t k = 0; k < alike.size(); ++k) {
        const KernelInput& input = inputs[k / size];
        const std::size_t i = k % size;
        EXPECT_EQ(alike[k], tanimoto_formula(input.counts, molecules.counts(i)));
        double squared = 0;
        for (std::size_t d = 0; d < kWidth; ++d)
          if (used[d]) {
            const double own = std::isnan(input.numbers[d]) ? 0 : static_cast<double>(input.numbers[d]);
            squared += std::pow(own - static_cast<double>(molecules.numbers[i * kWidth + d]), 2);
          }
        EXPECT_NEAR(static_cast<double>(near[k]), 1 / (1 + squared / 10), kFloatTolerance);
      }
    }
  }
}

TEST(GaussianProcess, KernelsWithoutMoleculesOrNumbers) {
  const KernelMolecules few = random_molecules(KernelIndex::kMaxInputs, 1, 3);
  std::vector<KernelInput> inputs;
  for (std::size_t m = 0; m < few.size(); ++m) inputs.push_back({few.counts(m), std::span(few.numbers).subspan(m, 1)});
  std::vector<double> alike;
  std::vector<float> near;
  const KernelIndex index(few, {false});
  index.kernels(inputs, alike, near);
  EXPECT_EQ(alike[0], 1);
  EXPECT_THAT(near, ::testing::Each(1.0F));
  index.kernels({}, alike, near);
  EXPECT_TRUE(alike.empty());
  KernelIndex({}, {true}).kernels(inputs, alike, near);
  EXPECT_TRUE(near.empty());
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
  const std::vector<float> numbers{5, 77}, none{kMissing, kMissing};
  process.predict(std::array{KernelInput{{column, count}, numbers}}, values);
  EXPECT_NEAR(values[0], 10 + 4 * (0.5 + 0.5 / 3) + 8 * (0.25 + 0.5 / 1.5), kFloatTolerance);
  EXPECT_EQ(values[1], 0.99);  // 0.5 + 0.4 + 0.45 exceeds 1
  // No common fingerprint bit; a is the mean.
  process.predict(std::array{KernelInput{{}, none}}, values);
  EXPECT_NEAR(values[0], 10 + 4 * 0.5 + 8 * 0.5 / 1.5, kFloatTolerance);
  EXPECT_EQ(values[1], 0.5);
}

TEST(GaussianProcess, PredictionsDoNotDependOnTheOtherMolecules) {
  const ProcessPredictor process(small_process());
  std::vector<std::uint32_t> column{1, 2};
  std::vector<float> counts, numbers;
  for (int m = 0; m < 19; ++m) {
    for (const int count : {1 + m % 5, 1 + m % 3}) counts.push_back(static_cast<float>(count));
    for (const int number : {m - 9, 3 * m}) numbers.push_back(static_cast<float>(number));
  }
  std::vector<KernelInput> inputs;
  for (std::size_t m = 0; m < 19; ++m)
    inputs.push_back({{column, std::span(counts).subspan(2 * m, 2)}, std::span(numbers).subspan(2 * m, 2)});
  std::vector<double> values(2 * inputs.size()), difficulty(2 * inputs.size());
  process.predict(inputs, values.data(), difficulty.data());
  for (std::size_t m = 0; m < inputs.size(); ++m) {
    double alone[2], own_difficulty[2];
    process.predict(std::span(inputs).subspan(m, 1), alone, own_difficulty);
    for (std::size_t o = 0; o < 2; ++o) {
      EXPECT_EQ(values[2 * m + o], alone[o]) << m;
      EXPECT_EQ(difficulty[2 * m + o], own_difficulty[o]) << m;
    }
  }
  EXPECT_NE(values[0], values[2]);
}

TEST(GaussianProcess, DifficultyMatchesHandCalculation) {
  const ProcessPredictor process(small_process());
  const std::vector<std::uint32_t> column{1};
  const std::vector<float> count{1}, numbers{5, 77};
  double values[2], alone[2], difficulty[] = {-1, -1};
  const std::array molecule{KernelInput{{column, count}, numbers}};
  process.predict(molecule, values, difficulty);
  EXPECT_NEAR(difficulty[0], 1, 1e-12);  // both molecules are neighbours, and one has the same fingerprint
  EXPECT_EQ(difficulty[1], 0);           // classes
  process.predict(molecule, alone);
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
  const std::vector<float> one{1};
  const auto compute = [&](double factor) {
    for (double& c : process.coefficient) c *= factor;
    ProcessPredictor(process).predict(std::array{KernelInput{{column, one}, {}}}, &value, &difficulty);
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
  double values[6];  // the same fingerprint, a similar one, none
  rare.predict(
      std::array{KernelInput{{column, count}, numbers}, KernelInput{{column, two}, numbers}, KernelInput{{}, numbers}},
      values);
  EXPECT_GT(values[1], values[3]);
  EXPECT_GT(values[3], values[5]);
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
      {number("column", 2, std::int32_t{1}), "columns of molecule 1 do not ascend"},
      {number("count", 0, 0.0F), "not a whole number from 1 to 255"},
      {number("count", 1, 1.5F), "not a whole number"},
      {number("count", 2, 256.0F), "not a whole number"},
      {number("count", 2, kMissing), "not a whole number"},
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

// Gaussian process fits: comparison with Gaussian elimination, and effects of labels, weights and limits.
#include "apps/training/baselines/gaussian_process_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "featurize/descriptors/descriptors.hpp"
#include "tests/apps/partner_fixtures.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

using Counts = std::vector<std::pair<std::uint32_t, float>>;

/// Feature rows of molecules with fingerprint counts and two numbers each (NaN = missing).
FeatureRows rows_of(const std::vector<Counts>& counts, const std::vector<std::array<float, 2>>& numbers) {
  FeatureRows rows{.descriptors = {"a", "b"}, .width = kFingerprintBins + 2};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto add = [&](std::uint32_t column, float value) {
      rows.column.push_back(column);
      rows.value.push_back(value);
    };
    for (const auto& [column, count] : counts[i]) add(column, count);
    for (std::uint32_t d = 0; d < 2; ++d)
      if (std::isfinite(numbers[i][d])) add(static_cast<std::uint32_t>(kFingerprintBins) + d, numbers[i][d]);
    rows.offset.push_back(rows.column.size());
  }
  return rows;
}

/// Twelve different molecules.
FeatureRows twelve_molecules() {
  std::vector<Counts> counts;
  std::vector<std::array<float, 2>> numbers;
  for (std::uint32_t i = 0; i < 12; ++i) {
    counts.push_back({{i % 5, 1.0F + static_cast<float>(i % 3)}, {7 + i % 4, 2.0F}});
    numbers.push_back({std::sin(static_cast<float>(i)) * 3, i == 4 ? kMissing : static_cast<float>(i * i % 7)});
  }
  return rows_of(counts, numbers);
}

using testing::set_of;

std::vector<std::int64_t> indices(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = begin; i < end; ++i) all.push_back(i);
  return all;
}

std::vector<double> predictions(const GaussianProcess& process, const FeatureRows& rows,
                                const std::vector<std::int64_t>& molecules, int threads = 1) {
  return process_predictions(ProcessPredictor(process), rows, molecules, threads);
}

/// Solves a x = b by Gaussian elimination with pivoting.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

double log_determinant(std::vector<std::vector<double>> a) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += std::log(a[k][k]);
    for (std::size_t i = k + 1; i < a.size(); ++i)
      for (std::size_t j = a.size(); j-- > k;) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
  }
  return sum;
}

/// The kernel matrix of the process's own molecules. `share`: of the fingerprint kernel; `noise`: added to the
/// diagonal.
std::vector<std::vector<double>> kernel_of(const GaussianProcess& p, double share, double noise) {
  const KernelIndex index(p.molecules, p.used_columns());
  std::vector<std::vector<double>> kernel;
  for (std::size_t i = 0; i < p.molecules.size(); ++i) {
    std::vector<double> alike;
    std::vector<float> near;
    index.kernels(std::array{KernelInput{p.molecules.counts(i), std::span(p.molecules.numbers).subspan(2 * i, 2)}},
                  alike, near);
    for (std::size_t j = 0; j < alike.size(); ++j) alike[j] = share * alike[j] + (1 - share) * near[j];
    alike[i] += noise;
    kernel.push_back(std::move(alike));
  }
  return kernel;
}

std::vector<double> cosine_labels() {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(20 + 3 * std::cos(1.7 * i));
  return values;
}

TEST(GaussianProcessFit, SelectsMostLikelyKernelAndSolvesForCoefficients) {
  const FeatureRows rows = twelve_molecules();
  const std::vector<double> y = cosine_labels();
  const GaussianProcess process = fit_process(rows, set_of(TaskKind::regression, {"y"}, y), indices(0, 12), {}).process;
  double mean = 0, squares = 0;
  for (const double value : y) mean += value / 12;
  for (const double value : y) squares += (value - mean) * (value - mean) / 12;
  std::vector<double> standardised;
  for (const double value : y) standardised.push_back((value - mean) / std::sqrt(squares));
  EXPECT_NEAR(process.mean[0], mean, 1e-12);
  const auto likelihood = [&](double share, double noise) {
    const auto kernel = kernel_of(process, share, noise);
    const std::vector<double> solved = solve(kernel, standardised);
    double product = 0;
    for (std::size_t i = 0; i < 12; ++i) product += solved[i] * standardised[i] / 12;
    return -0.5 * (12 * std::log(product) + log_determinant(kernel));
  };
  const double chosen = likelihood(process.fingerprint_share[0], process.noise[0]);
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    for (const double noise : {0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0})
      EXPECT_LE(likelihood(share, noise), chosen + 1e-6) << share << " " << noise;
  const std::vector<double> solved =
      solve(kernel_of(process, process.fingerprint_share[0], process.noise[0]), standardised);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(process.coefficient[i], std::sqrt(squares) * solved[i], 1e-4 * std::abs(solved[i]) + 1e-4);
}

TEST(GaussianProcessFit, ResultDoesNotDependOnThreads) {
  const FeatureRows rows = twelve_molecules();
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, cosine_labels());
  const GaussianProcess one = fit_process(rows, set, indices(0, 9), {.threads = 1}).process,
                        four = fit_process(rows, set, indices(0, 9), {.threads = 4}).process;
  EXPECT_EQ(one.coefficient, four.coefficient);
  EXPECT_EQ(predictions(one, rows, indices(0, 12)), predictions(four, rows, indices(0, 12), 3));
}

TEST(GaussianProcessFit, ReusesTheKernelOfAnotherProcess) {
  const FeatureRows rows = twelve_molecules();
  const MoleculeSet set = set_of(TaskKind::regression, {"y"}, cosine_labels());
  GaussianProcess other = fit_process(rows, set, indices(0, 6), {}).process;
  other.fingerprint_share = {0.25};
  other.noise = {0.3};
  const GaussianProcess again = fit_process(rows, set, indices(0, 12), {.like = &other}).process;
  EXPECT_EQ(again.fingerprint_share, other.fingerprint_share);
  EXPECT_EQ(again.noise, other.noise);
  EXPECT_EQ(again.molecules.size(), 12u);
}

TEST(GaussianProcessFit, MissingLabelsAndZeroWeightRowsAreIgnored) {
  const FeatureRows rows = twelve_molecules();
  std::vector<double> y = cosine_labels();
  MoleculeSet set = set_of(TaskKind::regression, {"y"}, y);
  const GaussianProcess like = fit_process(rows, set, indices(0, 12), {}).process;
  set.targets[3] = kNaN;
  const GaussianProcess without_label = fit_process(rows, set, indices(0, 12), {.like = &like}).process;
  EXPECT_EQ(without_label.molecules.size(), 11u);
  set.targets[3] = 1e6;
  set.weight.assign(12, 1);
  set.weight[3] = 0;
  EXPECT_EQ(fit_process(rows, set, indices(0, 12), {.like = &like}).process.coefficient, without_label.coefficient);
  // A larger row weight gives a smaller error.
  const auto error_of_5 = [&](float weight) {
    set.weight[5] = weight;
    GaussianProcess noisy = like;
    noisy.noise = {1.0};
    return std::abs(predictions(fit_process(rows, set, indices(0, 12), {.like = &noisy}).process, rows, {5})[0] - y[5]);
  };
  EXPECT_LT(error_of_5(100), 0.5 * error_of_5(1));
}

TEST(GaussianProcessFit, OnlyRelativeWeightsMatter) {
  const FeatureRows rows = twelve_molecules();
  MoleculeSet set = set_of(TaskKind::regression, {"y"}, cosine_labels());
  const auto coefficients = [&](float factor, bool equal) {
    set.weight.clear();
    for (int i = 0; i < 12; ++i) set.weight.push_back(factor * (equal ? 1.0F : static_cast<float>(1 + i % 3)));
    return fit_process(rows, set, indices(0, 12), {}).process.coefficient;
  };
  const std::vector<double> small = coefficients(1, false), large = coefficients(64, false);
  for (std::size_t i = 0; i < small.size(); ++i) EXPECT_NEAR(small[i], large[i], 1e-9 * std::abs(small[i]) + 1e-12);
  EXPECT_EQ(coefficients(2, true), coefficients(1, true));
  const std::vector<double> equal_weights = coefficients(4, true);
  set.weight.clear();
  const std::vector<double> no_weights = fit_process(rows, set, indices(0, 12), {}).process.coefficient;
  for (std::size_t i = 0; i < no_weights.size(); ++i)
    EXPECT_NEAR(equal_weights[i], no_weights[i], 1e-9 * std::abs(no_weights[i]) + 1e-12);
  // By hand: with weights 1, 1, 2 the mean of three labels is their weighted sum divided by 4.
  set.weight.assign(12, 0);
  set.weight[0] = set.weight[1] = 1;
  set.weight[2] = 2;
  const std::vector<double> y = cosine_labels();
  EXPECT_NEAR(fit_process(rows, set, indices(0, 12), {}).process.mean[0], (y[0] + y[1] + 2 * y[2]) / 4, 1e-12);
}

TEST(GaussianProcessFit, SolvesDuplicateRowsWithLargeWeights) {
  std::vector<Counts> counts(40, Counts{{3, 1.0F}});
  std::vector<std::array<float, 2>> numbers(40, {1.0F, 2.0F});
  counts[0] = {{4, 2.0F}};
  numbers[0] = {3.0F, -1.0F};
  const FeatureRows rows = rows_of(counts, numbers);
  std::vector<double> y(40, 1);
  y[0] = 5;
  y[1] = 2;
  MoleculeSet set = set_of(TaskKind::regression, {"y"}, y);
  set.weight.assign(40, 1e6F);
  set.weight[2] = 1e-3F;
  const GaussianProcess process = fit_process(rows, set, indices(0, 40), {}).process;
  EXPECT_EQ(process_problem(process), "");
  EXPECT_NEAR(predictions(process, rows, {0})[0], 5, 0.5);
}

TEST(GaussianProcessFit, KeepsOnlyMoleculesWithALabel) {
  const FeatureRows rows = twelve_molecules();
  std::vector<double> labels = cosine_labels();
  labels.insert(labels.end(), 12, 0);
  MoleculeSet set = set_of(TaskKind::regression, {"a", "b"}, labels);  // row-major: rows 0 to 11, two targets each
  for (std::size_t g = 0; g < 12; ++g) {
    set.targets[2 * g] = g < 6 ? cosine_labels()[g] : kNaN;
    set.targets[2 * g + 1] = g > 3 && g < 9 ? cosine_labels()[g] : kNaN;
  }
  const FittedProcess fitted = fit_process(rows, set, indices(0, 12), {});
  EXPECT_EQ(fitted.process.molecules.size(), 9u);  // 9, 10 and 11 have no label
  EXPECT_EQ(fitted.labels, 11);
  EXPECT_EQ(fitted.learned, 11);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(fitted.process.coefficient[i] != 0, i < 6) << i;
    EXPECT_EQ(fitted.process.coefficient[9 + i] != 0, i > 3) << i;
  }
}

TEST(GaussianProcessFit, LimitsAndReportsTheNumberOfLabels) {
  std::vector<Counts> counts;
  std::vector<std::array<float, 2>> numbers;
  std::vector<double> y;
  constexpr int kRows = 1400;
  for (int i = 0; i < kRows; ++i) {
    counts.push_back({{static_cast<std::uint32_t>(i % 50), 1.0F + static_cast<float>(i % 3)}});
    numbers.push_back({static_cast<float>(i % 17), static_cast<float>(i % 13)});
    for (int t = 0; t < 60; ++t) y.push_back(i % 17 + 0.01 * t);
  }
  std::vector<std::string> names;
  for (int t = 0; t < 60; ++t) names.push_back("y" + std::to_string(t));
  const FittedProcess fitted =
      fit_process(rows_of(counts, numbers), set_of(TaskKind::regression, names, y), indices(0, kRows), {});
  EXPECT_EQ(fitted.labels, 60 * kRows);
  EXPECT_EQ(fitted.learned, 60 * 1293);  // the cube root of 1.3e11/60
  EXPECT_EQ(fitted.process.molecules.size(), 1293u);
}

TEST(GaussianProcessFit, CensoredLabelsAreTreatedAsLimits) {
  const FeatureRows rows = twelve_molecules();
  MoleculeSet set = set_of(TaskKind::regression, {"y"}, cosine_labels());
  GaussianProcess like = fit_process(rows, set, indices(0, 12), {}).process;
  like.noise = {1.0};
  set.bound.assign(12, 0);
  set.bound[2] = 1;  // the true value is above
  const double above = predictions(fit_process(rows, set, indices(0, 12), {.like = &like}).process, rows, {2})[0];
  set.bound[2] = -1;
  const double below = predictions(fit_process(rows, set, indices(0, 12), {.like = &like}).process, rows, {2})[0];
  EXPECT_GT(above - below, 1e-3);
  // A censored label does not affect the mean, which is that of the exact labels.
  std::vector<double> exact = cosine_labels();
  exact.erase(exact.begin() + 2);
  double mean = 0;
  for (const double value : exact) mean += value / 11;
  EXPECT_NEAR(fit_process(rows, set, indices(0, 12), {.like = &like}).process.mean[0], mean, 1e-12);
}

TEST(GaussianProcessFit, ClassPredictionsAreProbabilities) {
  const FeatureRows rows = twelve_molecules();
  std::vector<double> three_classes, two_classes;
  for (int i = 0; i < 12; ++i) {
    three_classes.push_back(i % 3);
    two_classes.push_back(i % 5 == 0);
  }
  const GaussianProcess classes =
      fit_process(rows, set_of(TaskKind::multiclass, {"c"}, three_classes, 3), indices(0, 12), {}).process;
  const std::vector<double> probabilities = predictions(classes, rows, indices(0, 12));
  ASSERT_EQ(probabilities.size(), 36u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(probabilities[3 * i] + probabilities[3 * i + 1] + probabilities[3 * i + 2], 1, 1e-12);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_GE(probabilities[3 * i + c], 0.01 / 3);
  }
  const GaussianProcess binary =
      fit_process(rows, set_of(TaskKind::binary, {"c"}, two_classes), indices(0, 12), {}).process;
  EXPECT_NEAR(binary.mean[0], 0.25, 1e-12);
  for (const double p : predictions(binary, rows, indices(0, 12))) EXPECT_TRUE(p >= 0.01 && p <= 0.99) << p;
}

TEST(GaussianProcessFit, ConstantOrMissingLabelsGiveAConstant) {
  const FeatureRows rows = twelve_molecules();
  const auto predicted = [&](const MoleculeSet& set) {
    return predictions(fit_process(rows, set, indices(0, 12), {}).process, rows, {0}).front();
  };
  EXPECT_EQ(predicted(set_of(TaskKind::regression, {"y"}, std::vector<double>(12, 7))), 7);
  EXPECT_EQ(predicted(set_of(TaskKind::regression, {"y"}, std::vector<double>(12, kNaN))), 0);
  EXPECT_EQ(predicted(set_of(TaskKind::binary, {"y"}, std::vector<double>(12, kNaN))), 0.5);
  EXPECT_EQ(predicted(set_of(TaskKind::binary, {"y"}, std::vector<double>(12, 1))), 1 - 1e-6);
}

}  // namespace
}  // namespace molgraph

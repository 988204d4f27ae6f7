// Measured labels of a corpus: hand-computed scales and weights, and sparse labels compared with a dense table.
#include "apps/training/run/corpus_labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/training/loop/batches.hpp"
#include "apps/training/loop/trainer.hpp"
#include "apps/training/run/predictions.hpp"
#include "apps/training/run/pretraining.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
using Labels = std::vector<SparseLabel>;

/// One-atom molecules with the descriptors g and g * g and these labels. The last `valid` are the validation set, the
/// others the training set.
LoadedData corpus_of(Task task, const std::vector<Labels>& labels, std::size_t valid = 0,
                     const std::vector<float>& weights = {}) {
  LoadedData data;
  MoleculeSet& set = data.set;
  set.source.name = "a.csv, b.csv";
  set.featurizer.descriptors = DescriptorSet::rdkit;
  set.input_names = {"one", "two"};
  set.sparse.targets = task.names.size();
  set.task = std::move(task);
  MolecularGraph carbon;
  carbon.features = set.featurizer.features;
  carbon.atoms.assign(9, 0);
  for (std::size_t g = 0; g < labels.size(); ++g) {
    const auto number = static_cast<float>(g);
    carbon.descriptors = {number, number * number};
    set.add(carbon, static_cast<std::int64_t>(g), std::to_string(g), "C", {});
    set.sparse.add(labels[g], weights.empty() ? 1 : weights[g]);
    (g + valid < labels.size() ? data.split.train : data.split.valid).push_back(static_cast<std::int64_t>(g));
  }
  return data;
}

Task measured_task(std::vector<std::string> names, std::vector<TaskKind> kinds) {
  Task task;
  task.units.assign(names.size(), "");
  task.names = std::move(names);
  task.set_kinds(std::move(kinds));
  return task;
}

/// One label of target 0 for each molecule.
std::vector<Labels> labels_of_one_target(const std::vector<float>& values) {
  std::vector<Labels> all;
  for (const float value : values) all.push_back({{0, value}});
  return all;
}

const auto kRegression = TaskKind::regression, kBinary = TaskKind::binary;

TEST(CorpusLabels, AreScaledByMedianAndMedianDeviation) {
  // Training labels 1 2 3 4 100: median 3, deviations 2 1 0 1 97, median deviation 1. The last two labels are in the
  // validation set.
  LoadedData data = corpus_of(measured_task({"y"}, {kRegression}), labels_of_one_target({1, 2, 3, 4, 100, -100, 5}), 2);
  learn_inputs(data);
  const MoleculeSet& set = data.set;
  EXPECT_THAT(set.task.names, ElementsAre("one", "two", "y"));
  EXPECT_EQ(set.task.kind, TaskKind::regression);
  EXPECT_DOUBLE_EQ(set.target_center.at(2), 3);
  EXPECT_DOUBLE_EQ(set.target_scale.at(2), 1.4826);
  const auto high = static_cast<float>(3 + 6 * 1.4826), low = static_cast<float>(3 - 6 * 1.4826);
  EXPECT_THAT(set.sparse.value, ElementsAre(1, 2, 3, 4, high, low, 5)) << "clipped in both sets";
  EXPECT_THAT(data.notes, Contains(HasSubstr("1 column of numbers and 0 of classes, 7 labels of 7 molecules")));
  EXPECT_THAT(data.notes, Contains(HasSubstr("(2 labels)")));
}

TEST(CorpusLabels, UseTheStandardDeviationIfHalfAreEqual) {
  LoadedData data = corpus_of(measured_task({"y"}, {kRegression}), labels_of_one_target({0, 0, 0, 4}));
  learn_inputs(data);
  EXPECT_DOUBLE_EQ(data.set.target_center.at(2), 0);
  EXPECT_DOUBLE_EQ(data.set.target_scale.at(2), std::sqrt(3.0)) << "mean 1, squared deviations 1 1 1 9";
  EXPECT_THAT(data.set.sparse.value, ElementsAre(0, 0, 0, 4));
}

TEST(CorpusLabels, ConstantTargetsAreLeftOut) {
  // Training | validation labels: of 5 5 | 6; c 1 1 | 0; y 1 2 | 3; empty none | 1.
  LoadedData data =
      corpus_of(measured_task({"of", "c", "y", "empty"}, {kRegression, kBinary, kRegression, kRegression}),
                {{{0, 5}, {1, 1}, {2, 1}}, {{0, 5}, {1, 1}, {2, 2}}, {{0, 6}, {1, 0}, {2, 3}, {3, 1}}}, 1);
  learn_inputs(data);
  const MoleculeSet& set = data.set;
  EXPECT_THAT(set.task.names, ElementsAre("one", "two", "y"));
  EXPECT_EQ(set.sparse.targets, 1u);
  EXPECT_THAT(set.sparse.target, ElementsAre(0, 0, 0));
  EXPECT_THAT(set.sparse.value, ElementsAre(1, 2, 3));
  EXPECT_THAT(set.sparse.offset, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(data.notes, Contains(HasSubstr("3 columns, 'of', 'c', 'empty'")));
  LoadedData none = corpus_of(measured_task({"y"}, {kRegression}), labels_of_one_target({1, 1, 2}), 1);
  EXPECT_THROW(learn_inputs(none), DataError);
  LoadedData twice = corpus_of(measured_task({"two"}, {kRegression}), labels_of_one_target({1, 2, 3}));
  EXPECT_THROW(learn_inputs(twice), DataError) << "the name of a descriptor";
}

TEST(CorpusLabels, WeightsMatchHandCalculation) {
  // y has four training labels, c one of each class. With balance 0.5, a label of y weighs 1/2 and a label of c
  // 1/sqrt(2). The six weights sum to 2 + sqrt(2), so a mean of 1 requires the factor 6 / (2 + sqrt(2)). The option
  // `weight` doubles it.
  const std::vector<Labels> labels{{{0, 1}}, {{0, 2}, {1, 0}}, {{0, 3}, {1, 1}}, {{0, 4}}, {{1, 1}}};
  const Task task = measured_task({"y", "c"}, {kRegression, kBinary});
  LoadedData data = corpus_of(task, labels, 1, {1, 1, 0.25f, 1, 1});
  learn_inputs(data, {.weight = 2, .balance = 0.5});
  const double unit = 2 * 6 / (2 + std::sqrt(2.0)), y = unit / 2, c = unit / std::sqrt(2.0);
  EXPECT_EQ(data.set.task.kind, TaskKind::mixed);
  ASSERT_EQ(data.set.target_weight.size(), 4u);
  EXPECT_DOUBLE_EQ(data.set.target_weight[0], 0.5) << "the two descriptors together weigh 1";
  EXPECT_DOUBLE_EQ(data.set.target_weight[1], 0.5);
  EXPECT_DOUBLE_EQ(data.set.target_weight[2], y);
  EXPECT_DOUBLE_EQ(data.set.target_weight[3], c);
  // In the loss, the mean weight of the 14 training labels is 1. The descriptors weigh 4 in total; the table of
  // molecule 2 weighs a quarter.
  const LabelWeights weights(data.set, data.split.train, {});
  const double whole = 4 + 3 * y + y / 4 + c + c / 4, factor = 14 / whole;
  EXPECT_FLOAT_EQ(weights.of(data.set, 0, 0), static_cast<float>(0.5 * factor));
  EXPECT_FLOAT_EQ(weights.of(data.set, 0, 2), static_cast<float>(y * factor));
  EXPECT_EQ(weights.of(data.set, 0, 3), 0) << "missing";
  EXPECT_FLOAT_EQ(weights.of(data.set, 2, 0), static_cast<float>(0.5 * factor))
      << "table weights do not apply to descriptors";
  EXPECT_FLOAT_EQ(weights.of(data.set, 2, 2), static_cast<float>(y / 4 * factor));
  EXPECT_FLOAT_EQ(weights.of(data.set, 2, 3), static_cast<float>(c / 4 * factor));

  for (const auto& [balance, of_y, of_c] : {std::tuple{0.0, 1.0, 1.0}, {1.0, 0.75, 1.5}}) {
    LoadedData again = corpus_of(task, labels, 1);
    learn_inputs(again, {.weight = 1, .balance = balance});
    EXPECT_DOUBLE_EQ(again.set.target_weight[2], of_y) << balance;
    EXPECT_DOUBLE_EQ(again.set.target_weight[3], of_c) << balance;
  }
}

TEST(CorpusLabels, LossesDependOnTheKind) {
  LoadedData data = corpus_of(measured_task({"c", "y"}, {kBinary, kRegression}), {{{0, 1}, {1, 1}}, {{0, 0}, {1, 2}}});
  learn_inputs(data);
  const Losses losses(Loss::mse, data.set);
  EXPECT_THAT(losses.each(), ElementsAre(Loss::mse, Loss::mse, Loss::bce, Loss::l1));
  data.set.sparse = {};
  data.set.task = measured_task({"one", "two"}, {kRegression, kRegression});
  EXPECT_TRUE(Losses(Loss::mse, data.set).uniform());
}

TEST(CorpusLabels, QualityMatchesHandCalculation) {
  // 20 molecules. The descriptors are predicted exactly, y is 1 too high, c is reversed; few has only 19 labels.
  std::vector<Labels> labels;
  for (std::uint32_t g = 0; g < 20; ++g) {
    labels.push_back({{0, static_cast<float>(g)}, {1, g < 10 ? 0.0f : 1.0f}});
    if (g > 0) labels.back().push_back({2, static_cast<float>(g)});
  }
  LoadedData data = corpus_of(measured_task({"y", "c", "few"}, {kRegression, kBinary, kRegression}), labels);
  learn_inputs(data);
  const std::vector<double> targets = targets_of(data.set, data.split.train);
  std::vector<double> predictions = targets;
  for (std::size_t g = 0; g < 20; ++g) {
    predictions[5 * g + 2] += 1;
    predictions[5 * g + 3] = 1 - predictions[5 * g + 3];
    predictions[5 * g + 4] = 7;
  }
  const std::vector<KindQuality> kinds = quality_by_kind(data.set, predictions, targets);
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].name, "r2-descriptors");
  EXPECT_DOUBLE_EQ(kinds[0].value, 1);
  EXPECT_EQ(kinds[0].targets, 2);
  EXPECT_NEAR(kinds[1].value, 1 - 20 / 665.0, 1e-12) << "the variance of 0 .. 19 is 33.25";
  EXPECT_EQ(kinds[1].targets, 1);
  EXPECT_EQ(kinds[2].value, 0);
  EXPECT_EQ(kinds[2].targets, 1);
  const MeasuredLabels labels_of_run = measured_labels(data.set, kinds);
  EXPECT_EQ(labels_of_run.columns, 3);
  EXPECT_EQ(labels_of_run.labels, 59);
  EXPECT_EQ(labels_of_run.molecules, 20);
}

TEST(SparseLabels, CanBeReadByIndexAndByMolecule) {
  LoadedData data = corpus_of(measured_task({"a", "b", "c"}, {kRegression, kRegression, kRegression}),
                              {{{0, 1}, {2, 3}}, {}, {{1, 5, 1}}, {{0, 2}, {1, 4}, {2, 6, -1}}});
  SparseLabels& labels = data.set.sparse;
  EXPECT_THAT(labels.bound, ElementsAre(0, 0, 1, 0, 0, -1));
  data.set.computed_targets.assign(8, 9);
  data.set.task.names.insert(data.set.task.names.begin(), {"one", "two"});
  const auto exact = [&](std::size_t g, std::size_t t) { return data.set.exact_target(5 * g + t); };
  EXPECT_EQ(data.set.target(0), 9);
  EXPECT_EQ(data.set.target(2), 1);
  EXPECT_TRUE(std::isnan(data.set.target(3)));
  EXPECT_EQ(data.set.target(4), 3);
  for (std::size_t t = 2; t < 5; ++t) EXPECT_TRUE(std::isnan(data.set.target(5 + t))) << t;
  EXPECT_EQ(data.set.target(13), 5);
  EXPECT_TRUE(std::isnan(exact(2, 3))) << "a censored label";
  EXPECT_EQ(exact(3, 3), 4);
  std::vector<double> seen;
  data.set.labels_of(3, [&](std::size_t t, double label, std::int8_t bound) {
    seen.insert(seen.end(), {static_cast<double>(t), label, static_cast<double>(bound)});
  });
  EXPECT_THAT(seen, ElementsAre(0, 9, 0, 1, 9, 0, 2, 2, 0, 3, 4, 0, 4, 6, -1));
  labels.keep([&](std::size_t i) { return labels.target[i] != 0; });
  EXPECT_THAT(labels.offset, ElementsAre(0, 1, 1, 2, 4));
  EXPECT_THAT(labels.value, ElementsAre(3, 5, 4, 6));
  EXPECT_THAT(labels.bound, ElementsAre(0, 1, 0, -1));
}

// --- sparse labels compared with a dense table ---

/// A corpus of 40 molecules with few labels of three targets, one of which has censored labels.
LoadedData small_corpus() {
  std::vector<Labels> labels;
  std::vector<float> weights;
  for (std::uint32_t g = 0; g < 40; ++g) {
    Labels own;
    if (g % 3 == 0) own.push_back({0, static_cast<float>(g % 7), static_cast<std::int8_t>(g % 9 == 0 ? 1 : 0)});
    if (g % 4 == 0) own.push_back({1, g % 8 == 0 ? 1.0f : 0.0f});
    if (g % 5 == 0) own.push_back({2, static_cast<float>(g) * 0.5f});
    labels.push_back(own);
    weights.push_back(g < 30 ? 1.0f : 0.5f);
  }
  LoadedData data = corpus_of(measured_task({"y", "c", "z"}, {kRegression, kBinary, kRegression}), labels, 8, weights);
  learn_inputs(data);
  return data;
}

/// The same set with all labels in one dense table. Missing labels are NaN.
MoleculeSet as_dense_table(const MoleculeSet& set) {
  MoleculeSet dense = set;
  const std::size_t targets = set.task.names.size();
  dense.sparse = {};
  dense.computed_targets.assign(static_cast<std::size_t>(set.size()) * targets, static_cast<float>(kMissing));
  dense.bound.assign(dense.computed_targets.size(), 0);
  for (std::int64_t g = 0; g < set.size(); ++g)
    set.labels_of(g, [&](std::size_t t, double label, std::int8_t bound) {
      dense.computed_targets[static_cast<std::size_t>(g) * targets + t] = static_cast<float>(label);
      dense.bound[static_cast<std::size_t>(g) * targets + t] = bound;
    });
  return dense;
}

TEST(SparseLabels, GiveTheBatchesOfADenseTable) {
  const LoadedData data = small_corpus();
  const MoleculeSet dense = as_dense_table(data.set);
  const std::vector<std::int64_t> some{39, 0, 12, 7, 20};
  LabelWeights weights(data.set, data.split.train, {});
  const TrainBatch sparse = make_batch(data.set, some, {}, weights), table = make_batch(dense, some, {});
  EXPECT_TRUE(torch::equal(sparse.targets.nan_to_num(-77), table.targets.nan_to_num(-77)));
  EXPECT_TRUE(torch::equal(sparse.terms.bounds, table.terms.bounds));
  EXPECT_EQ(sparse.present, 5 * 2 + 2 + 3 + 3) << "y of 39, 0, 12; c of 0, 12, 20; z of 0, 20";
  EXPECT_EQ(sparse.present, table.present);
  for (std::size_t i = 0; i < some.size(); ++i)
    for (std::size_t t = 0; t < 5; ++t)
      EXPECT_EQ(sparse.terms.weights[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(t)].item<float>(),
                weights.of(data.set, some[i], t));
  const auto text_of = [](const std::vector<double>& values) { return ::testing::PrintToString(values); };
  EXPECT_EQ(text_of(targets_of(data.set, some)), text_of(targets_of(dense, some)));
  LoadedData dense_data = data;
  dense_data.set = dense;
  EXPECT_EQ(mean_predictions(data, data.split, 2), mean_predictions(dense_data, dense_data.split, 2));
}

struct Linear : torch::nn::Module {
  explicit Linear(std::int64_t outputs) { weight = register_parameter("weight", torch::zeros({2, outputs})); }
  torch::Tensor weight;
};

/// Trains a linear model of the row number for 24 updates and returns metrics.csv.
std::string trained(const MoleculeSet& set, const Split& split, const LabelWeights& weights, const Losses& losses) {
  const test::Scratch scratch;
  const auto module = std::make_shared<Linear>(set.task.num_outputs());
  Trainable trainable;
  trainable.module = module;
  trainable.target_shift = torch::tensor(set.target_center, torch::kFloat64);
  trainable.target_scale = torch::tensor(set.target_scale, torch::kFloat64);
  trainable.run = [&](const GraphBatch& batch, const ForwardMode&) {
    std::vector<float> rows;
    for (const std::int64_t row : batch.row) rows.insert(rows.end(), {1.0f, static_cast<float>(row) / 40});
    ModelOutput output;
    output.scaled = torch::tensor(rows).view({-1, 2}).matmul(module->weight);
    output.values =
        output.scaled * trainable.target_scale.to(torch::kFloat32) + trainable.target_shift.to(torch::kFloat32);
    return output;
  };
  trainable.decay_exempt = [](const std::string&) { return true; };
  trainable.save = [](const std::string&) {};
  TrainerOptions options;
  options.loss = losses;
  options.metric = Metric::loss;
  options.weights = weights;
  options.batch_size = 8;
  options.epochs = 6;
  options.total_steps = 24;
  options.lr = 0.1;
  options.folder = scratch.path("run");
  train(trainable, set, split, options, false);
  return read_file(options.folder + "/metrics.csv");
}

TEST(SparseLabels, TrainLikeADenseTable) {
  const LoadedData data = small_corpus();
  const Losses losses(Loss::mse, data.set);
  const MoleculeSet dense = as_dense_table(data.set);
  LoadedData unweighted = data;
  unweighted.set.sparse.weight = {};  // a dense table has weights by row, for descriptors too
  const LabelWeights weights(unweighted.set, data.split.train, {}), of_dense(dense, data.split.train, {});
  const std::string sparse = trained(unweighted.set, data.split, weights, losses);
  EXPECT_EQ(sparse, trained(dense, data.split, of_dense, losses));
  EXPECT_NE(sparse, trained(data.set, data.split, LabelWeights(data.set, data.split.train, {}), losses))
      << "table weights have an effect";
}

}  // namespace
}  // namespace molgraph

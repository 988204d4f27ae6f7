#include "apps/training/run/pretraining.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/training/loop/batches.hpp"
#include "apps/training/loop/evaluate.hpp"
#include "apps/training/run/run_options.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr float kNoTarget = std::numeric_limits<float>::quiet_NaN();

/// One-atom molecules with three inputs: same (constant), one (from `one`) and none (missing). The last molecule is in
/// the validation set, all others are in the training set.
LoadedData with_inputs(const std::vector<float>& one) {
  LoadedData data;
  data.set.source.name = "corpus.smi";
  data.set.featurizer.descriptors = DescriptorSet::rdkit;
  data.set.input_names = {"same", "one", "none"};
  MolecularGraph carbon;
  carbon.features = data.set.featurizer.features;
  carbon.atoms.assign(9, 0);
  for (std::size_t g = 0; g < one.size(); ++g) {
    carbon.descriptors = {7, one[g], kNoTarget};
    const auto row = static_cast<std::int64_t>(g);
    data.set.add(carbon, row, std::to_string(g), "C", {});
    (g + 1 < one.size() ? data.split.train : data.split.valid).push_back(row);
  }
  return data;
}

// 50 training values, 49 times 0 and once 1: mean 1/50, standard deviation sqrt(1/50 - 1/2500) = 0.14; six standard
// deviations are 0.84.
TEST(LearnInputs, ClipsTargetsByTrainingStatistics) {
  std::vector<float> one(51);
  one[3] = 1;
  one[50] = -100;  // in the validation set
  LoadedData data = with_inputs(one);
  learn_inputs(data);
  const MoleculeSet& set = data.set;
  EXPECT_EQ(set.task.names, (std::vector<std::string>{"one"})) << "same and none are constant";
  EXPECT_EQ(set.task.kind, TaskKind::regression);
  ASSERT_EQ(set.computed_targets.size(), 51u);
  EXPECT_FLOAT_EQ(set.computed_targets[0], 0.0f);
  EXPECT_FLOAT_EQ(set.computed_targets[3], 0.86f);
  EXPECT_FLOAT_EQ(set.computed_targets[50], -0.82f);
  EXPECT_EQ(set.target(3), static_cast<double>(set.computed_targets[3]));
  const TargetStatistics scaling = target_scaling_of(set, data.split.train);
  EXPECT_DOUBLE_EQ(scaling.mean.at(0), 0.02) << "of the values before clipping";
  EXPECT_NEAR(scaling.deviation.at(0), 0.14, 1e-12);
  EXPECT_TRUE(set.inputs.empty() && set.input_names.empty() && set.targets.empty());
  EXPECT_EQ(set.featurizer.descriptors, DescriptorSet::none) << "predicted descriptors are not inputs";
  ASSERT_EQ(data.notes.size(), 2u);
  EXPECT_NE(data.notes[0].find("clipped at 6 standard deviations (2 of 51 values)"), std::string::npos)
      << data.notes[0];
  EXPECT_NE(data.notes[1].find("2 descriptors, same, none"), std::string::npos) << data.notes[1];
}

TEST(LearnInputs, NonFiniteValuesAreMissing) {
  const float infinite = std::numeric_limits<float>::infinity();
  LoadedData data = with_inputs({1, infinite, kNoTarget, 3, -infinite, 2});
  learn_inputs(data);
  const auto& targets = data.set.computed_targets;
  EXPECT_EQ(targets[0], 1.0f);
  for (const std::size_t g : {1u, 2u, 4u}) EXPECT_TRUE(std::isnan(targets[g])) << g;
  EXPECT_EQ(targets[5], 2.0f);
  EXPECT_DOUBLE_EQ(data.set.target_center.at(0), 2.0);
  EXPECT_DOUBLE_EQ(data.set.target_scale.at(0), 1.0);
  const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(count_present(data.set, all), 3);
  const TrainBatch batch = make_batch(data.set, all, {});
  EXPECT_EQ(batch.present, 3);
  EXPECT_EQ(batch.targets[3][0].item<double>(), 3.0);
  EXPECT_TRUE(std::isnan(batch.targets[4][0].item<double>()));
}

TEST(LearnInputs, OnlyConstantInputsAreAnError) {
  LoadedData data = with_inputs({5, 5, 5, 6});  // differs only in the validation set
  try {
    learn_inputs(data);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("corpus.smi"), std::string::npos) << error.what();
  }
}

TEST(Pretraining, ValidationShareDependsOnCorpusSize) {
  const SplitSizes asked = pretraining_defaults().data.split_sizes;
  for (const auto& [molecules, share] :
       {std::pair{300, 0.1}, {5000, 0.1}, {20000, 0.025}, {50000, 0.01}, {1'100'000, 0.01}}) {
    const SplitSizes sizes = corpus_split_sizes(asked, molecules);
    EXPECT_DOUBLE_EQ(sizes[0] + sizes[1], 1) << molecules;
    EXPECT_DOUBLE_EQ(sizes[1], share) << molecules;
    EXPECT_EQ(sizes[2], 0) << molecules;
    EXPECT_EQ(corpus_split_sizes(sizes, molecules), sizes) << "resolved sizes do not change";
  }
  EXPECT_EQ(corpus_split_sizes({0.5, 0.25, 0.25}, 300), (SplitSizes{0.5, 0.25, 0.25}));
}

TEST(Pretraining, AboutTwentyEpochsForAnyCorpus) {
  EXPECT_EQ(steps_for(6'000'000, 256), 23437);
  EXPECT_EQ(steps_for(10, 256), 1);
  EXPECT_EQ(default_steps(1'088'670, 256), 23437);
  EXPECT_EQ(default_steps(300, 256), 200) << "100 passes";
  EXPECT_EQ(epoch_parts_of(4250, 23437), 4);  // 5.5 passes
  EXPECT_EQ(epoch_parts_of(78, 23437), 1);    // 300 passes: an epoch is one pass
  EXPECT_EQ(epoch_parts_of(4250, 100), 850);  // a fortieth of a pass: an epoch is 5 steps
  EXPECT_EQ(epoch_parts_of(7, 1), 7);
  for (const auto& [batches, steps] : {std::pair{4250, 23437}, {10, 25}, {7, 1}, {10, 20}, {3, 100}, {10, 9}}) {
    const std::int64_t parts = epoch_parts_of(batches, steps), epochs = epochs_of(batches, parts, steps);
    std::int64_t made = 0, needed = 0;  // counted epoch by epoch
    for (; made < steps; ++needed) made += batches * (needed % parts + 1) / parts - batches * (needed % parts) / parts;
    EXPECT_EQ(epochs, needed) << batches << " " << steps;
  }
}

TEST(OrderOfEpoch, PartsOfAPassHaveWholeBatches) {
  std::vector<std::int64_t> train(23);
  for (std::size_t i = 0; i < train.size(); ++i) train[i] = static_cast<std::int64_t>(100 + i);
  for (const std::int64_t pass : {0, 1}) {
    const std::vector<std::int64_t> whole = order_of_epoch(train, {4, 1, 7}, pass);
    EXPECT_TRUE(std::ranges::is_permutation(whole, train));
    std::vector<std::int64_t> joined;
    for (std::int64_t part = 0; part < 4; ++part) {  // 6 batches: 1, 2, 1, 2
      const auto order = order_of_epoch(train, {4, 4, 7}, 4 * pass + part);
      EXPECT_EQ(order.size(), part == 3 ? 7u : part == 1 ? 8u : 4u) << part;
      joined.insert(joined.end(), order.begin(), order.end());
    }
    EXPECT_EQ(joined, whole);
  }
  EXPECT_NE(order_of_epoch(train, {4, 1, 7}, 0), order_of_epoch(train, {4, 1, 7}, 1));
  EXPECT_NE(order_of_epoch(train, {4, 1, 7}, 0), order_of_epoch(train, {4, 1, 8}, 0));
}

TEST(Pretraining, ResolvingAgainChangesNothing) {
  std::vector<float> one(300);
  for (std::size_t g = 0; g < one.size(); ++g) one[g] = static_cast<float>(g % 7);
  LoadedData data = with_inputs(one);
  learn_inputs(data);
  TrainOptions options = pretraining_defaults();
  options.data.paths = {"a.smi", "b.smi", "c.smi", "d.smi"};
  options.training.steps = 40;
  options.training.batch_size = 10;  // 30 batches of 299 molecules
  const ResolvedRun run = resolve(options, data, nullptr);
  EXPECT_EQ(run.options.data.descriptors, DescriptorSet::none);
  EXPECT_EQ(run.options.data.split_sizes, (SplitSizes{0.9, 0.1, 0}));
  EXPECT_EQ(run.model.encoder().layers, 12) << "the model is not smaller for a small corpus";
  EXPECT_EQ(run.model.model.head.inputs, 0);
  EXPECT_EQ(run.trainer.warmup_steps, 2);
  EXPECT_EQ(run.trainer.epoch_parts, 15);
  EXPECT_EQ(run.trainer.epochs, 20);
  EXPECT_EQ(run.trainer.metric, Metric::loss);
  EXPECT_EQ(run.options.training.baselines, Switch::off);
  const ResolvedRun again = resolve(run.options, data, nullptr);
  EXPECT_EQ(to_toml(again.options), to_toml(run.options));
  EXPECT_EQ(again.trainer.identity, run.trainer.identity);
  options.training.steps.reset();
  EXPECT_EQ(resolve(options, data, nullptr).trainer.total_steps, 3000) << "100 passes";
  const LoadOptions load = to_load_options(run.options, 1);
  EXPECT_TRUE(load.corpus);
  EXPECT_EQ(load.descriptors, DescriptorSet::rdkit) << "the resolved options load the same descriptors";
  EXPECT_EQ(load.split_sizes_of(300), run.options.data.split_sizes);
}

TEST(Pretraining, OptionsThatComputedTargetsCannotUseAreErrors) {
  const auto expect_error = [](auto change) {
    TrainOptions options = pretraining_defaults();
    EXPECT_NO_THROW(check_pretraining(options));
    change(options.data, options.model, options.training);
    EXPECT_THROW(check_pretraining(options), UsageError);
    options.data.target_descriptors = DescriptorSet::none;
    EXPECT_NO_THROW(check_pretraining(options)) << "allowed without computed targets";
  };
  using D = DataSettings;
  using M = ModelSettings;
  using T = TrainingSettings;
  expect_error([](D& d, M&, T&) { d.subset = "12k"; });
  expect_error([](D& d, M&, T&) { d.task = TaskWord::regression; });
  expect_error([](D& d, M&, T&) { d.positive = "yes"; });
  expect_error([](D& d, M&, T&) { d.censored = Censored::drop; });
  expect_error([](D& d, M&, T&) { d.weight_column = "w"; });
  expect_error([](D& d, M&, T&) { d.descriptors = DescriptorSet::rdkit; });
  expect_error([](D& d, M&, T&) { d.descriptor_columns = {"logD"}; });
  expect_error([](D& d, M&, T&) { d.folds = 5; });
  expect_error([](D&, M&, T& t) { t.ensemble_size = 2; });
  expect_error([](D& d, M&, T&) { d.calibration_size = 0.1; });
  expect_error([](D&, M&, T& t) { t.domain_labels = true; });
  expect_error([](D&, M&, T& t) { t.refit = true; });
  expect_error([](D&, M&, T& t) { t.baselines = Switch::on; });
  expect_error([](D&, M&, T& t) { t.blend = Switch::on; });
  expect_error([](D&, M&, T& t) { t.quality = Quality::best; });
  expect_error([](D&, M&, T& t) { t.member_splits = Switch::on; });
  expect_error([](D&, M&, T& t) { t.out_of_fold = Switch::on; });
  expect_error([](D&, M&, T& t) { t.task_weights = {1}; });
  expect_error([](D&, M&, T& t) { t.balance_tasks = true; });
  expect_error([](D&, M&, T& t) { t.balance_classes = true; });
  expect_error([](D&, M&, T& t) { t.scale_targets = false; });
  expect_error([](D&, M& m, T&) { m.recipe = "grpe-zinc"; });
}

TEST(Pretraining, LabelOptionsNeedTargetColumns) {
  for (const auto change : std::vector<void (*)(TrainOptions&)>{
           [](TrainOptions& o) { o.training.labels.weight = 2; },
           [](TrainOptions& o) { o.training.labels.balance = 1; }, [](TrainOptions& o) { o.data.table_weights = {2}; },
           [](TrainOptions& o) { o.data.censored = Censored::drop; }}) {
    TrainOptions options = pretraining_defaults();
    options.data.paths = {"a.csv"};
    change(options);
    EXPECT_THROW(check_pretraining(options), UsageError);
    options.data.target_columns = {"y"};
    EXPECT_NO_THROW(check_pretraining(options));
    options.data.duplicates = Duplicates::median;
    EXPECT_THROW(check_pretraining(options), UsageError);
  }
  TrainOptions options = pretraining_defaults();
  options.data.paths = {"a.csv", "b.csv"};
  options.data.target_columns = {"y"};
  options.data.table_weights = {1};
  EXPECT_THROW(check_pretraining(options), UsageError);
  options.data.table_weights = {1, 2};
  const LoadOptions load = to_load_options(options, 1);
  EXPECT_EQ(load.table_weights, options.data.table_weights);
  EXPECT_EQ(load.target_columns, options.data.target_columns);
}

}  // namespace
}  // namespace molgraph

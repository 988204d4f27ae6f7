#include "apps/training/loop/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/training/loop/checkpoint.hpp"
#include "apps/training/loop/optimizer.hpp"
#include "datasets/system/stopped.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(LearningRate, RisesToThePeakAndFallsToTheEnd) {
  TrainerOptions options;
  options.lr = 1.0;
  options.end_lr = 0.2;
  options.warmup_steps = 4;
  options.total_steps = 12;
  EXPECT_DOUBLE_EQ(learning_rate(options, 1), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(options, 4), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(options, 8), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(options, 12), 0.2);
  options.schedule = Schedule::cosine;
  EXPECT_DOUBLE_EQ(learning_rate(options, 1), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(options, 4), 1.0);
  EXPECT_NEAR(learning_rate(options, 6), 0.2 + 0.8 * (0.5 + std::sqrt(0.125)), 1e-12);  // a quarter of the way down
  EXPECT_NEAR(learning_rate(options, 8), 0.6, 1e-12);
  EXPECT_NEAR(learning_rate(options, 12), 0.2, 1e-12);
}

TEST(MaskedLoss, MatchesHandCalculationWithMissingTargetsAndScaling) {
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const torch::Tensor targets = torch::tensor({{3.0f, missing}, {5.0f, 10.0f}});
  const torch::Tensor shift = torch::tensor({1.0f, 0.0f}), scale = torch::tensor({2.0f, 5.0f});
  torch::Tensor scaled = torch::tensor({{2.0f, 7.0f}, {2.0f, 5.0f}}).set_requires_grad(true);
  // Scaled targets: 1, -, 2, 2; differences: 1, -, 0, 3.
  const LossSum l1 = masked_loss(Loss::l1, scaled, targets, shift, scale);
  EXPECT_EQ(l1.count, 3);
  EXPECT_FLOAT_EQ(l1.sum.item<float>(), 4.0f);
  l1.sum.backward();
  EXPECT_FLOAT_EQ(scaled.grad()[0][0].item<float>(), 1.0f);
  EXPECT_FLOAT_EQ(scaled.grad()[0][1].item<float>(), 0.0f);
  EXPECT_FLOAT_EQ(masked_loss(Loss::mse, scaled, targets, shift, scale).sum.item<float>(), 10.0f);
  EXPECT_FLOAT_EQ(masked_loss(Loss::huber, scaled, targets, shift, scale).sum.item<float>(), 0.5f + 2.5f);
}

// Energies of -500,000 +- 0.05: float32 values there are 0.03 apart.
TEST(MaskedLoss, LargeMeanLosesNoPrecision) {
  const auto f64 = torch::kFloat64;
  const torch::Tensor targets = torch::tensor({{-500000.01}, {-499999.97}}, f64);
  const torch::Tensor shift = torch::tensor({-500000.0}, f64), scale = torch::tensor({0.05}, f64);
  const torch::Tensor scaled = torch::tensor({{0.1f}, {0.4f}});  // scaled targets: -0.2 and 0.6
  EXPECT_NEAR(masked_loss(Loss::l1, scaled, targets, shift, scale).sum.item<double>(), 0.3 + 0.2, 1e-6);
  const LossSlope slope = loss_slope(Loss::mse, targets, shift, scale, 0.5);
  float derivative = 0;
  slope(1, scaled[1].const_data_ptr<float>(), &derivative);
  EXPECT_NEAR(derivative, 0.4 - 0.6, 1e-6);
}

TEST(MaskedLoss, ClassificationMatchesHandCalculation) {
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const torch::Tensor zero = torch::zeros({1}), one = torch::ones({1});
  const torch::Tensor logits = torch::tensor({{0.0f}, {2.0f}, {9.0f}});
  const LossSum bce = masked_loss(Loss::bce, logits, torch::tensor({{1.0f}, {0.0f}, {missing}}), zero, one);
  EXPECT_EQ(bce.count, 2);
  EXPECT_NEAR(bce.sum.item<double>(), std::log(2.0) + std::log1p(std::exp(2.0)), 1e-6);
  const torch::Tensor two_targets = torch::tensor({{0.0f, 1.0f, 0.0f, 0.0f}});  // two targets of two classes
  const LossSum ce = masked_loss(Loss::ce, two_targets, torch::tensor({{1.0f, missing}}), zero, one);
  EXPECT_EQ(ce.count, 1);
  EXPECT_NEAR(ce.sum.item<double>(), std::log1p(std::exp(-1.0)), 1e-6);
}

TEST(BoundedLoss, IsZeroOnTheAllowedSide) {
  struct Case {
    Loss loss;
    double scaled, target;
    int bound;
    double value, slope;
  };
  for (const Case& c :
       {Case{Loss::l1, 5, 2, 1, 0, 0}, Case{Loss::l1, 0.5, 2, 1, 1.5, -1}, Case{Loss::l1, 5, 2, -1, 3, 1},
        Case{Loss::l1, 0.5, 2, -1, 0, 0}, Case{Loss::mse, 5, 2, 1, 0, 0}, Case{Loss::mse, 0.5, 2, 1, 2.25, -3},
        Case{Loss::mse, 5, 2, -1, 9, 6}, Case{Loss::huber, 0, 2, 1, 1.5, -1}, Case{Loss::huber, 1.5, 2, 1, 0.125, -0.5},
        Case{Loss::huber, 2.5, 2, 1, 0, 0}, Case{Loss::huber, 5, 2, -1, 2.5, 1}, Case{Loss::l1, 5, 2, 0, 3, 1},
        Case{Loss::mse, 2, 2, 1, 0, 0}}) {
    EXPECT_DOUBLE_EQ(target_loss(c.loss, c.scaled, c.target, c.bound), c.value);
    EXPECT_DOUBLE_EQ(target_slope(c.loss, c.scaled, c.target, c.bound), c.slope);
  }
  EXPECT_TRUE(std::isnan(target_loss(Loss::mse, std::nan(""), 2.0, 1))) << "NaN satisfies no limit";
}

TEST(BoundedLoss, SlopesMatchFiniteDifferences) {
  constexpr double kStep = 1e-6;  // away from the kinks, the error is at most 1e-10
  for (const Loss loss : {Loss::l1, Loss::mse, Loss::huber})
    for (const int bound : {-1, 0, 1})
      for (const double scaled : {-3.1, -0.6, 0.3, 0.9, 2.7}) {
        const double difference =
            (target_loss(loss, scaled + kStep, 0.5, bound) - target_loss(loss, scaled - kStep, 0.5, bound)) /
            (2 * kStep);
        EXPECT_NEAR(target_slope(loss, scaled, 0.5, bound), difference, 1e-8) << scaled << ", bound " << bound;
      }
}

TEST(BoundedLoss, EngineSlopesMatchAutograd) {
  const auto f64 = torch::kFloat64;
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const torch::Tensor targets = torch::tensor({{3.0, missing}, {5.0, 10.0}, {1.0, -5.0}}, f64);
  const torch::Tensor shift = torch::tensor({1.0, 0.0}, f64), scale = torch::tensor({2.0, 5.0}, f64);
  const LabelTerms terms{torch::tensor({{1, 0}, {-1, 1}, {1, -1}}, torch::kInt8)};
  // Scaled targets: 1, -, 2, 2, 0, -1. Allowed sides: above, -, below, above, above, below.
  const torch::Tensor raw = torch::tensor({{0.25f, 7.0f}, {2.5f, 5.0f}, {3.0f, -3.0f}});
  for (const Loss loss : {Loss::l1, Loss::mse, Loss::huber}) {
    torch::Tensor scaled = raw.clone().set_requires_grad(true);
    const LossSum sum = masked_loss(loss, scaled, targets, shift, scale, terms);
    EXPECT_EQ(sum.count, 5) << "a limit counts as a label";
    EXPECT_FLOAT_EQ(sum.sum.item<float>(), target_loss(loss, 0.25f, 1.0f) + target_loss(loss, 2.5f, 2.0f));
    (sum.sum * 0.5).backward();
    const LossSlope slope = loss_slope(loss, targets, shift, scale, 0.5, terms);
    for (std::size_t molecule = 0; molecule < 3; ++molecule) {
      const auto row = static_cast<std::int64_t>(molecule);
      float slopes[2];
      slope(molecule, raw[row].const_data_ptr<float>(), slopes);
      for (int t = 0; t < 2; ++t) EXPECT_FLOAT_EQ(slopes[t], scaled.grad()[row][t].item<float>()) << row << ", " << t;
    }
  }
}

TEST(MixedLoss, UsesTheLossOfEachTargetInBothEngines) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  Task task{TaskKind::regression, {"a", "b", "c"}, {"", "", ""}, 0, {}};
  task.set_kinds({TaskKind::binary, TaskKind::regression, TaskKind::binary});
  const Losses losses(Loss::mse, task);
  const torch::Tensor targets = torch::tensor({{1.0, 5.0, 0.0}, {0.0, missing, missing}}, torch::kFloat64);
  const torch::Tensor shift = torch::tensor({0.0, 1.0, 0.0}, torch::kFloat64),
                      scale = torch::tensor({1.0, 2.0, 1.0}, torch::kFloat64);
  const torch::Tensor raw = torch::tensor({{0.0f, 1.0f, 3.0f}, {2.0f, 9.0f, 9.0f}});
  torch::Tensor scaled = raw.clone().set_requires_grad(true);
  const LossSum sum = masked_loss(losses, scaled, targets, shift, scale);
  EXPECT_EQ(sum.count, 4);
  EXPECT_NEAR(sum.sum.item<double>(), std::log(2.0) + 1.0 + std::log1p(std::exp(3.0)) + std::log1p(std::exp(2.0)),
              1e-6);
  sum.sum.backward();
  const LossSlope slope = loss_slope(losses, targets, shift, scale, 1);
  for (std::int64_t row = 0; row < 2; ++row) {
    float slopes[3];
    slope(static_cast<std::size_t>(row), raw[row].const_data_ptr<float>(), slopes);
    for (int t = 0; t < 3; ++t) EXPECT_NEAR(slopes[t], scaled.grad()[row][t].item<float>(), 1e-6) << row << ", " << t;
  }
  EXPECT_NO_THROW(check_loss(Loss::huber, TaskKind::mixed));
  EXPECT_THROW(check_loss(Loss::bce, TaskKind::mixed), UsageError);
}

TEST(MixedLoss, UsesThreeLossesInBothEngines) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  MoleculeSet set;
  set.task = {TaskKind::regression, {"d", "c", "y", "none"}, {"", "", "", ""}, 0, {}};
  set.task.set_kinds({TaskKind::regression, TaskKind::binary, TaskKind::regression, TaskKind::regression});
  set.sparse.targets = 3;
  const Losses losses(Loss::mse, set);
  const torch::Tensor targets =
      torch::tensor({{5.0, 1.0, missing, missing}, {missing, missing, 4.0, missing}}, torch::kFloat64);
  const torch::Tensor shift = torch::tensor({1.0, 0.0, 1.0, 0.0}, torch::kFloat64),
                      scale = torch::tensor({2.0, 1.0, 3.0, 1.0}, torch::kFloat64);
  const LabelTerms terms{{}, torch::tensor({{0.5f, 2.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 4.0f, 0.0f}})};
  const torch::Tensor raw = torch::tensor({{0.5f, 0.0f, 9.0f, 9.0f}, {9.0f, 9.0f, 3.0f, 9.0f}});
  torch::Tensor scaled = raw.clone().set_requires_grad(true);
  const LossSum sum = masked_loss(losses, scaled, targets, shift, scale, terms);
  EXPECT_EQ(sum.count, 3);
  // Outputs and scaled targets: mse of 0.5 and 2, bce of 0 and 1, l1 of 3 and 1.
  EXPECT_NEAR(sum.sum.item<double>(), 0.5 * 2.25 + 2 * std::log(2.0) + 4 * 2.0, 1e-6);
  sum.sum.backward();
  const LossSlope slope = loss_slope(losses, targets, shift, scale, 1, terms);
  for (std::int64_t row = 0; row < 2; ++row) {
    float slopes[4];
    slope(static_cast<std::size_t>(row), raw[row].const_data_ptr<float>(), slopes);
    for (int t = 0; t < 4; ++t) EXPECT_NEAR(slopes[t], scaled.grad()[row][t].item<float>(), 1e-6) << row << ", " << t;
  }
}

struct Line : torch::nn::Module {
  Line() { weight = register_parameter("weight", torch::tensor({1.0f, -2.0f})); }
  torch::Tensor weight;
};

/// A model that predicts its first weight for every molecule and target.
Trainable constant_model(const std::shared_ptr<Line>& module, std::int64_t targets = 1) {
  Trainable trainable;
  trainable.module = module;
  trainable.run = [module, targets](const GraphBatch& batch, const ForwardMode&) {
    ModelOutput output;
    output.scaled = output.values = module->weight[0].expand({batch.size(), targets});
    return output;
  };
  trainable.target_shift = torch::zeros({targets});
  trainable.target_scale = torch::ones({targets});
  trainable.decay_exempt = [](const std::string&) { return true; };
  trainable.save = [](const std::string&) {};
  return trainable;
}

TEST(RunControl, StopsTrainingThatResumesToTheSameWeights) {
  MoleculeSet set;
  set.task = {TaskKind::regression, {"y"}, {""}, 0, {}};
  set.featurizer.features = Features::zinc;
  MolecularGraph carbon;
  carbon.features = Features::zinc;
  carbon.atoms = {0};
  for (int g = 0; g < 6; ++g) set.add(carbon, g, std::to_string(g), "C", {static_cast<double>(g)});
  const Split split{{0, 1, 2, 3}, {4, 5}, {}};
  TrainerOptions options;
  options.batch_size = 1;
  options.epochs = 2;
  options.total_steps = 8;
  options.lr = 0.1;
  const test::Scratch scratch;

  options.folder = scratch.path("whole");
  const auto whole = std::make_shared<Line>();
  EXPECT_EQ(train(constant_model(whole), set, split, options, false).steps, 8);  // without a RunControl

  options.folder = scratch.path("stopped");
  TrainerOptions stopping = options;
  std::int64_t done = 0;
  std::string progress, notes;
  stopping.control.stop_signal = [&] { return done == 2 ? 15 : 0; };
  stopping.control.begin = [&](const std::string& what, const std::string& unit, std::int64_t total) {
    progress += what + " of " + std::to_string(total) + " " + unit + "; ";
  };
  stopping.control.advance = [&](std::int64_t so_far, std::int64_t, const std::string&) { done = so_far; };
  stopping.control.end = [&] { progress += "end; "; };
  stopping.control.note = [&](const std::string& line) { notes += line + "; "; };
  int signal = 0;
  try {
    train(constant_model(std::make_shared<Line>()), set, split, stopping, false);
  } catch (const Stopped& stopped) {
    signal = stopped.signal;
  }
  EXPECT_EQ(signal, 15);
  EXPECT_EQ(progress, "Training of 8 steps; end; ");
  EXPECT_EQ(notes, "Stopped after step 3; ");
  const auto resumed = std::make_shared<Line>();
  EXPECT_EQ(train(constant_model(resumed), set, split, options, true).steps, 8);
  EXPECT_TRUE(torch::equal(resumed->weight, whole->weight)) << "equal to the run that was not stopped";
}

TEST(RunControl, UnfinishedRunsWithAnotherValidationMetricDoNotResume) {
  // Up to version 0.1.0, the mean MAE of several targets selected the best epoch, and valid_mae was its column.
  MoleculeSet set;
  set.task = {TaskKind::regression, {"a", "b"}, {"", ""}, 0, {}};
  set.featurizer.features = Features::zinc;
  MolecularGraph carbon;
  carbon.features = Features::zinc;
  carbon.atoms = {0};
  for (int g = 0; g < 4; ++g) set.add(carbon, g, std::to_string(g), "C", {1.0 * g, 100.0 * g});
  const Split split{{0, 1}, {2, 3}, {}};
  TrainerOptions options;
  const test::Scratch scratch;
  options.folder = scratch.path("run");
  Trainable model = constant_model(std::make_shared<Line>(), 2);
  model.target_scale = torch::tensor({1.0, 100.0});
  train(model, set, split, options, false);
  const std::string path = scratch.path("run/checkpoints/last.safetensors");
  const auto module = std::make_shared<Line>();
  NamedTensors tensors{{"model.weight", module->weight}};
  Optimizer(
      *module, [](const std::string&) { return true; }, options.weight_decay)
      .append_state(tensors);
  WeightAverage(*module, options.ema).append_state(tensors);
  TrainerState state = read_checkpoint(path, options.identity, tensors);
  const std::string now = "valid_relative-mae\n";
  ASSERT_THAT(state.metrics_csv, HasSubstr(now));
  state.metrics_csv.replace(state.metrics_csv.find(now), now.size(), "valid_mae\n");
  write_checkpoint(path, options.identity, state, tensors);
  EXPECT_NO_THROW(train(model, set, split, options, true)) << "the training has ended";
  state.finished = false;
  write_checkpoint(path, options.identity, state, tensors);
  EXPECT_THAT([&] { train(model, set, split, options, true); },
              ThrowsMessage<FileError>(HasSubstr("selects the best epoch by another metric")));
}

TEST(Checkpoint, RoundTripsAndRejectsOtherRunsAndDamage) {
  const test::Scratch scratch;
  const std::string path = scratch.path("checkpoint.safetensors");
  Line line;
  Optimizer optimizer(
      line, [](const std::string&) { return false; }, 0.1);
  line.weight.sum().backward();
  optimizer.step(0.5, 0.0);
  NamedTensors tensors{{"model.weight", line.weight}};
  optimizer.append_state(tensors);
  TrainerState state;
  state.step = 1;
  state.loss_sum = 0.1 + 0.2;
  state.metrics_csv = "epoch\n1\n";
  write_checkpoint(path, "run A", state, tensors);

  Line other;
  Optimizer fresh(
      other, [](const std::string&) { return false; }, 0.1);
  NamedTensors into{{"model.weight", other.weight}};
  fresh.append_state(into);
  const TrainerState back = read_checkpoint(path, "run A", into);
  EXPECT_EQ(back.step, 1);
  EXPECT_EQ(back.loss_sum, state.loss_sum);
  EXPECT_EQ(back.metrics_csv, state.metrics_csv);
  fresh.set_updates(1);
  // Both continue in the same way, bit for bit.
  for (auto [module, by] : {std::pair{&line, &optimizer}, std::pair{&other, &fresh}}) {
    (module->weight * module->weight).sum().backward();
    by->step(0.5, 1.0);
  }
  EXPECT_TRUE(torch::equal(line.weight, other.weight));
  EXPECT_THROW(read_checkpoint(path, "run B", into), FileError);
  // Version 0.1.0 did not write the hash of the molecules and labels.
  const std::string with_contents = std::string("run A") + kContentsLine;
  EXPECT_EQ(read_checkpoint(path, with_contents + "1", into).step, 1);
  write_checkpoint(path, with_contents + "1", state, tensors);
  EXPECT_EQ(read_checkpoint(path, with_contents + "1", into).step, 1);
  for (const std::string& other_run : {with_contents + "2", std::string("run A")})
    EXPECT_THROW(read_checkpoint(path, other_run, into), FileError) << other_run;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  EXPECT_THROW(read_checkpoint(path, with_contents + "1", into), FileError);
}

}  // namespace
}  // namespace molgraph

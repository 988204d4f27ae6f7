// FLAG: hand-computed perturbations, and all ascent steps of the training loop within one update.
#include "apps/training/loop/adversarial.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/training/loop/trainer.hpp"
#include "attention/reference/node_input.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

/// Methane and ethane: tokens 0 and 2 are virtual nodes.
GraphBatch two_molecules() {
  MolecularGraph methane, ethane;
  methane.features = ethane.features = Features::zinc;
  methane.atoms = {0};
  ethane.atoms = {0, 0};
  ethane.bond_atoms = {0, 1};
  ethane.bonds = {1};
  const std::vector<GraphView> views{methane.view(), ethane.view()};
  const std::vector<std::int64_t> rows{0, 1};
  return pack(views, rows);
}

TEST(Flag, ParsesValidTextsAndRejectsOthers) {
  EXPECT_EQ(flag_from_string("").passes(), 1);
  const FlagOptions options = flag_from_string("2,0.2,0");
  EXPECT_EQ(options.passes(), 2);
  EXPECT_DOUBLE_EQ(options.step_size, 0.2);
  EXPECT_DOUBLE_EQ(options.magnitude, 0.0);
  for (const char* wrong : {"2", "2,0.2", "0,0.2,0", "2,0,0", "2,0.2,-1", "2,0.2,0,1", "a,b,c", "2;0.2;0"})
    EXPECT_THROW(flag_from_string(wrong), UsageError) << wrong;
}

TEST(Flag, StartsWithinBoundsAndSkipsVirtualNodes) {
  const GraphBatch batch = two_molecules();
  const ForwardMode mode{.training = true, .seed = 3, .step = 8};
  for (const auto& [options, bound] :
       {std::pair{FlagOptions{2, 0.2, 0}, 0.2}, std::pair{FlagOptions{2, 0.2, 0.6}, 0.6 / 10}}) {
    const torch::Tensor start = first_perturbation(options, batch, 100, mode);
    EXPECT_TRUE(start.requires_grad());
    EXPECT_EQ(start.index_select(0, virtual_tokens(batch)).abs().max().item<double>(), 0.0);
    EXPECT_LT(start.abs().max().item<double>(), bound);
    EXPECT_GT(start.abs().max().item<double>(), 0.9 * bound);
    EXPECT_TRUE(torch::equal(start, first_perturbation(options, batch, 100, mode)));
    EXPECT_FALSE(
        torch::equal(start, first_perturbation(options, batch, 100, {.training = true, .seed = 3, .step = 9})));
  }
}

TEST(Flag, StepsAlongTheSignOfTheGradient) {
  const GraphBatch batch = two_molecules();  // 5 tokens
  const auto ascend = [&](const FlagOptions& options) {
    torch::Tensor p =
        torch::tensor({0.0, 0.0, 0.1, 0.1, 0.0, 0.0, 0.3, -0.3, 0.0, 0.0}).view({5, 2}).requires_grad_(true);
    (p * torch::tensor({1.0, 1.0, 2.0, -5.0, 1.0, 1.0, 1.0, 1.0, 0.0, -1.0}).view({5, 2})).sum().backward();
    return next_perturbation(options, batch, p);
  };
  const torch::Tensor unbounded = ascend({2, 0.2, 0});
  EXPECT_TRUE(
      torch::allclose(unbounded, torch::tensor({0.0, 0.0, 0.3, -0.1, 0.0, 0.0, 0.5, -0.1, 0.0, -0.2}).view({5, 2})));
  const torch::Tensor bounded = ascend({2, 0.2, 0.25});
  const torch::Tensor length = bounded.norm(2, 1);
  EXPECT_NEAR(length[1].item<double>(), 0.25, 1e-6);
  EXPECT_NEAR(length[3].item<double>(), 0.25, 1e-6);
  EXPECT_NEAR(length[4].item<double>(), 0.2, 1e-6);  // shorter than the bound: unchanged
  EXPECT_NEAR((bounded[1][0] / bounded[1][1]).item<double>(), -3.0, 1e-4);
}

/// Predicts a weight times (the sum of the perturbation + 1).
struct Perturbed : torch::nn::Module {
  Perturbed() { weight = register_parameter("weight", torch::ones({1})); }
  torch::Tensor weight;
};

TEST(Flag, TakesAllAscentStepsInOneUpdate) {
  MoleculeSet set;
  set.task.kind = TaskKind::regression;
  set.task.names = {"y"};
  set.task.units = {""};
  set.featurizer.features = Features::zinc;
  MolecularGraph carbon;
  carbon.features = Features::zinc;
  carbon.atoms = {0};
  for (int g = 0; g < 2; ++g) set.add(carbon, g, std::to_string(g), "C", {-100.0});

  const auto module = std::make_shared<Perturbed>();
  std::vector<ForwardMode> seen;
  Trainable trainable;
  trainable.module = module;
  trainable.width = 3;
  trainable.run = [&](const GraphBatch& batch, const ForwardMode& mode) {
    ModelOutput output;
    torch::Tensor sums = torch::zeros({batch.size()});
    if (mode.training) {
      seen.push_back(mode);
      sums = mode.perturbation.view({batch.size(), -1}).sum(1);  // two tokens per molecule
    }
    output.scaled = ((sums + 1) * module->weight).unsqueeze(1);
    output.values = output.scaled;
    return output;
  };
  trainable.target_shift = torch::zeros({1});
  trainable.target_scale = torch::ones({1});
  trainable.decay_exempt = [](const std::string&) { return true; };
  trainable.save = [](const std::string&) {};
  TrainerOptions options;
  options.batch_size = 2;
  options.total_steps = 1;
  options.lr = options.end_lr = 0.25;
  options.grad_clip = 0;
  options.flag = {3, 0.5, 0};
  const test::Scratch scratch;
  options.folder = scratch.path("run");
  const TrainerResult result = train(trainable, set, {{0, 1}, {}, {}}, options, false);

  EXPECT_EQ(result.steps, 1);
  ASSERT_EQ(seen.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(seen[k].ascent, k);
  for (std::size_t k = 1; k < 3; ++k) {
    // The prediction exceeds the target, so the loss increases with the sum: every element of an atom's perturbation
    // increases by one step.
    const torch::Tensor step = (seen[k].perturbation - seen[k - 1].perturbation).detach();
    EXPECT_TRUE(torch::allclose(step.index({torch::tensor({1, 3})}), torch::full({2, 3}, 0.5)));
    EXPECT_EQ(step.index({torch::tensor({0, 2})}).abs().max().item<double>(), 0.0);
  }
  EXPECT_NEAR(module->weight.item<double>(), 1 - 0.25, 1e-5);  // one Adam step, not three
}

}  // namespace
}  // namespace molgraph

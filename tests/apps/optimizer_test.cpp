// AdamW and the moving average match LibTorch's, on any number of threads.
#include "apps/training/loop/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {
namespace {

struct TwoWeights : torch::nn::Module {
  TwoWeights() { weight = register_parameter("weight", torch::tensor({1.0f, -2.0f})); }
  torch::Tensor weight;
};

TEST(WeightAverage, FollowsTheWeightsAndSwaps) {
  TwoWeights line;
  WeightAverage average(line, 0.75);
  {
    torch::NoGradGuard no_grad;
    line.weight.copy_(torch::tensor({5.0f, 2.0f}));
  }
  average.update();  // 0.75 * (1, -2) + 0.25 * (5, 2)
  average.swap();
  EXPECT_TRUE(torch::allclose(line.weight, torch::tensor({2.0f, -1.0f})));
  average.swap();
  EXPECT_TRUE(torch::allclose(line.weight, torch::tensor({5.0f, 2.0f})));
}

TEST(Optimizer, StepsMatchTorchAdamW) {
  TwoWeights ours, theirs;
  Optimizer optimizer(
      ours, [](const std::string&) { return false; }, 0.1);
  torch::optim::AdamW reference(theirs.parameters(), torch::optim::AdamWOptions(0.05).weight_decay(0.1));
  for (int step = 0; step < 20; ++step) {
    for (TwoWeights* line : {&ours, &theirs}) {
      line->zero_grad();
      ((line->weight - 3.0 * step).square() * torch::tensor({1.0f, 20.0f})).sum().backward();
    }
    torch::nn::utils::clip_grad_norm_(theirs.parameters(), 5.0);
    for (auto& group : reference.param_groups()) group.options().set_lr(0.05 / (1 + step));
    reference.step();
    optimizer.step(0.05 / (1 + step), 5.0);
  }
  EXPECT_TRUE(torch::allclose(ours.weight, theirs.weight, 1e-6, 1e-6)) << ours.weight << theirs.weight;
}

/// Tensors of many sizes, which end inside and at the borders of the threads' pieces.
struct Layers : torch::nn::Module {
  Layers() {
    torch::manual_seed(3);
    for (const int size : {1, 65'535, 65'536, 7, 140'000, 65'536, 3}) {
      if (weights.size() == 2) unused = register_parameter("unused", torch::ones(5));
      weights.push_back(register_parameter("w" + std::to_string(weights.size()), torch::randn(size)));
    }
  }
  void backward(double factor) {
    torch::Tensor sum = torch::zeros({});
    for (const torch::Tensor& weight : weights) sum = sum + (weight * factor).sin().sum();
    sum.backward();
  }
  std::vector<torch::Tensor> weights;
  torch::Tensor unused;
};

double norm_of_means(const Optimizer& optimizer) {
  NamedTensors state;
  optimizer.append_state(state);
  double squares = 0;
  for (const auto& [name, tensor] : state)
    if (name.starts_with("adam.m.")) squares += tensor.to(torch::kFloat64).square().sum().item<double>();
  return std::sqrt(squares);
}

TEST(Optimizer, LargeModelsMatchTorchOnAnyNumberOfThreads) {
  const int threads_before = torch::get_num_threads();
  Layers theirs;
  std::vector<torch::Tensor> average;
  for (const torch::Tensor& weight : theirs.weights) average.push_back(weight.detach().clone());
  torch::optim::AdamW reference(theirs.parameters(), torch::optim::AdamWOptions(0.01).weight_decay(0.1));
  for (int step = 1; step <= 3; ++step) {
    reference.zero_grad();
    theirs.backward(step);
    torch::nn::utils::clip_grad_norm_(theirs.weights, 5.0);
    reference.step();
    torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < average.size(); ++k) average[k].lerp_(theirs.weights[k], 0.1);
  }
  std::vector<torch::Tensor> first, first_average;
  for (const int threads : {1, 2, 5}) {
    torch::set_num_threads(threads);
    Layers ours;
    Optimizer optimizer(
        ours, [](const std::string&) { return false; }, 0.1);
    WeightAverage moving(ours, 0.9);
    for (int step = 1; step <= 3; ++step) {
      ours.backward(step);
      optimizer.step(0.01, 5.0);
      moving.update();
      if (step == 1) {
        EXPECT_NEAR(norm_of_means(optimizer), 0.1 * 5.0, 1e-6) << "(1 - beta1) times the clipped norm";
      }
      for (const torch::Tensor& weight : ours.weights) EXPECT_EQ(weight.grad().abs().max().item<float>(), 0);
    }
    EXPECT_TRUE(torch::equal(ours.unused, torch::ones(5)));
    for (std::size_t k = 0; k < average.size(); ++k) {
      EXPECT_TRUE(torch::allclose(ours.weights[k], theirs.weights[k], 1e-5, 1e-6)) << k;
      if (threads == 1) first.push_back(ours.weights[k].detach().clone());
      EXPECT_TRUE(torch::equal(ours.weights[k], first[k])) << threads << " threads, tensor " << k;
    }
    moving.swap();
    for (std::size_t k = 0; k < average.size(); ++k) {
      EXPECT_TRUE(torch::allclose(ours.weights[k], average[k], 1e-5, 1e-6)) << k;
      if (threads == 1) first_average.push_back(ours.weights[k].detach().clone());
      EXPECT_TRUE(torch::equal(ours.weights[k], first_average[k])) << threads << " threads, average " << k;
    }
  }
  torch::set_num_threads(threads_before);
}

TEST(Optimizer, ExemptsNamesFromDecayAndClipsTheNorm) {
  TwoWeights decayed, exempt;
  Optimizer first(
      decayed, [](const std::string&) { return false; }, 0.5);
  Optimizer second(
      exempt, [](const std::string& name) { return name == "weight"; }, 0.5);
  for (auto [module, by] : {std::pair{&decayed, &first}, std::pair{&exempt, &second}}) {
    (module->weight * 100.0).sum().backward();
    by->step(0.1, 1.0);
    NamedTensors state;
    by->append_state(state);
    EXPECT_EQ(state[0].first, "adam.m.weight");
    EXPECT_NEAR(state[0].second.norm().item<double>(), 0.1 * 1.0, 1e-4);  // (1 - beta1) times a gradient of length 1
  }
  // Adam's first step is lr in each coordinate; before it, decay multiplies by 1 - lr * 0.5.
  EXPECT_NEAR(decayed.weight[0].item<double>(), 0.95 - 0.1, 1e-4);
  EXPECT_NEAR(exempt.weight[0].item<double>(), 1.0 - 0.1, 1e-4);
}

}  // namespace
}  // namespace molgraph

// The CPU engine against the reference in float64: every model, every instruction set; values, gradients, dropout.
#include <gtest/gtest.h>

#include "graphormer/attention/cpu_backend.hpp"
#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

// Float32 sums of some hundred terms in two layers; the reference in float32 is as far away.
constexpr double kFloat32 = 1e-5;

double relative(const Tensor& got, const Tensor& wanted) {
  const double size = wanted.norm().item<double>();
  return (got.to(torch::kFloat64) - wanted).norm().item<double>() / (size > 1e-6 ? size : 1.0);
}

struct Pair {
  std::unique_ptr<GraphModel> reference, engine;   ///< the same parameters in float64 and float32
};

template <class Make>
Pair make_pair(Make make) {
  Pair pair{make(), make()};
  randomise(*pair.reference);
  torch::NoGradGuard no_grad;
  auto from = pair.reference->named_parameters();
  for (auto& item : pair.engine->named_parameters()) item->copy_(from[item.key()]);
  for (auto& item : pair.reference->named_parameters()) item->copy_(item->to(torch::kFloat32));
  return pair;
}

void expect_same_values(Pair& pair, const std::vector<MolecularGraph>& graphs) {
  const GraphBatch batch = batch_for(*pair.reference, graphs);
  const ForwardMode mode{.keep_layers = {0, 1, -1}};
  torch::NoGradGuard no_grad;
  const ModelOutput wanted = pair.reference->run(batch, mode);
  CpuBackend backend(*pair.engine, 2);
  const ModelOutput got = backend.predict(batch, mode.keep_layers);
  EXPECT_LT(relative(got.values, wanted.values), kFloat32);
  for (std::size_t k = 0; k < wanted.layers.size(); ++k)
    EXPECT_LT(relative(got.layers[k], wanted.layers[k]), kFloat32) << "layer " << mode.keep_layers[k];
}

void expect_same_gradients(Pair& pair, const std::vector<MolecularGraph>& graphs) {
  const GraphBatch batch = batch_for(*pair.reference, graphs);
  ForwardMode mode{.training = true, .seed = 3, .step = 5, .ascent = 1};
  const int width = pair.reference->plan().encoder.width;
  mode.perturbation = torch::randn({batch.num_tokens(), width}).mul_(0.1);
  ForwardMode exact = mode;
  exact.perturbation = mode.perturbation.to(torch::kFloat64).requires_grad_();
  const Tensor wanted = pair.reference->run(batch, exact).scaled;
  wanted.sin().sum().backward();

  CpuBackend backend(*pair.engine, 2);
  Tensor dinput;
  const auto slope = [&](std::size_t, const float* y, float* dy) { *dy = std::cos(*y); };
  const Tensor got = backend.train(batch, mode, slope, &dinput);
  EXPECT_LT(relative(got, wanted.detach()), kFloat32);
  EXPECT_LT(relative(dinput, exact.perturbation.grad()), kFloat32) << "node input";
  auto of_engine = pair.engine->named_parameters();
  for (auto& item : pair.reference->named_parameters()) {
    if (item.key().ends_with("key.bias")) {   // nearly or exactly zero: compare with the query's
      const double size = of_engine[item.key()].grad().norm().item<double>();
      EXPECT_LT(std::abs(size - item->grad().norm().item<double>()), 1e-4) << item.key();
      continue;
    }
    EXPECT_LT(relative(of_engine[item.key()].grad(), item->grad()), kFloat32) << item.key();
  }
}

class Engine : public testing::TestWithParam<std::tuple<ModelCase, std::string>> {
 protected:
  void SetUp() override {
    for (const cpu::Kernels* kernels : cpu::all_kernels())
      if (kernels->name == std::get<1>(GetParam())) cpu::choose_kernels(*kernels);
  }
  void TearDown() override { cpu::choose_kernels(*cpu::all_kernels().front()); }
};

TEST_P(Engine, ComputesWhatTheReferenceDoes) {
  Pair pair = make_pair([&] { return make_model(std::get<0>(GetParam())); });
  expect_same_values(pair, assorted());
}

TEST_P(Engine, GradientsAreTheReferences) {
  Pair pair = make_pair([&] { return make_model(std::get<0>(GetParam())); });
  expect_same_gradients(pair, assorted());
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const cpu::Kernels* kernels : cpu::all_kernels()) names.emplace_back(kernels->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, Engine, testing::Combine(testing::ValuesIn(every_model()), testing::ValuesIn(instruction_sets())),
                         [](const auto& of) { return std::get<0>(of.param).name + "_" + std::get<1>(of.param); });

}  // namespace
}  // namespace molgraph::test

// The CPU engine against the reference in float64: every model, every instruction set; values, gradients, dropout.
#include <gtest/gtest.h>

#include <cmath>

#include "graphormer/attention/cpu/gemm_bf16.hpp"
#include "graphormer/attention/cpu/pack.hpp"
#include "graphormer/attention/cpu_backend.hpp"
#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

// Float32 sums of some hundred terms in two layers. Where that is not enough (LayerNorm of two numbers, saturated softmax)
// the reference in float32 is far away too: the engine may be kTimesReference times as far.
constexpr double kFloat32 = 1e-5, kTimesReference = 10;

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
  randomise(*pair.reference, 0.3 * std::sqrt(std::min(1.0, 12.0 / pair.reference->plan().encoder.width)));
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
  EXPECT_TRUE(torch::equal(backend.predict(batch).values, got.values));   // without layers only virtual nodes finish
  for (std::size_t k = 0; k < wanted.layers.size(); ++k)
    EXPECT_LT(relative(got.layers[k], wanted.layers[k]), kFloat32) << "layer " << mode.keep_layers[k];
}

struct Gradients {
  Tensor scaled, dinput;
  std::map<std::string, Tensor> of;
};

// By autograd through the reference.
Gradients reference_gradients(GraphModel& model, const GraphBatch& batch, ForwardMode mode) {
  mode.perturbation = mode.perturbation.to(model.parameters()[0].scalar_type()).requires_grad_();
  Gradients result;
  result.scaled = model.run(batch, mode).scaled;
  result.scaled.sin().sum().backward();
  result.dinput = mode.perturbation.grad();
  for (auto& item : model.named_parameters()) {
    result.of[item.key()] = item->grad().defined() ? item->grad() : torch::zeros_like(item.value());
    item->mutable_grad() = Tensor();
  }
  result.scaled = result.scaled.detach();
  return result;
}

Gradients engine_gradients(GraphModel& model, const GraphBatch& batch, const ForwardMode& mode,
                           cpu::Precision precision = cpu::Precision::fp32) {
  const int outputs = model.plan().outputs;
  const auto slope = [&](std::size_t, const float* y, float* dy) {
    for (int o = 0; o < outputs; ++o) dy[o] = std::cos(y[o]);
  };
  Gradients result;
  result.scaled = CpuBackend(model, 2, precision).train(batch, mode, slope, &result.dinput);
  for (auto& item : model.named_parameters()) result.of[item.key()] = item->grad();
  return result;
}

void expect_same_gradients(Pair& pair, const std::vector<MolecularGraph>& graphs) {
  const GraphBatch batch = batch_for(*pair.reference, graphs);
  ForwardMode mode{.training = true, .seed = 3, .step = 5, .ascent = 1};
  mode.perturbation = torch::randn({batch.num_tokens(), pair.reference->plan().encoder.width}).mul_(0.1);
  const Gradients wanted = reference_gradients(*pair.reference, batch, mode);
  const Gradients single = reference_gradients(*pair.engine, batch, mode);
  const Gradients got = engine_gradients(*pair.engine, batch, mode);
  const auto expect_near = [&](const Tensor& x, const Tensor& in_float32, const Tensor& exact, const std::string& name) {
    EXPECT_LT(relative(x, exact), std::max(kFloat32, kTimesReference * relative(in_float32, exact))) << name;
  };
  expect_near(got.scaled, single.scaled, wanted.scaled, "predictions");
  expect_near(got.dinput, single.dinput, wanted.dinput, "node input");
  for (const auto& [name, exact] : wanted.of) {
    if (name.ends_with("key.bias")) {   // nearly or exactly zero: nothing to be relative to
      EXPECT_LT((got.of.at(name) - exact).norm().item<double>(), 1e-4) << name;
      continue;
    }
    expect_near(got.of.at(name), single.of.at(name), exact, name);
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

// --- what is not in the table of encodings: sizes, and what only imported models have ---

struct SizeCase {
  std::string name;
  int layers, width, ffn, heads;
  bool post_ln = false, input_norm = false, final_norm = true, transform = false;
  int last_mlp = 0;
  KeyTerm key_term = KeyTerm::column;
};

std::vector<SizeCase> sizes() {
  return {{"one_head", 2, 10, 7, 1},
          {"two_narrow_heads", 2, 2, 3, 2},
          {"five_heads", 2, 120, 40, 5},
          {"slim", 3, 80, 80, 8},
          {"tiny", 2, 64, 64, 8},
          {"thirty_two_heads", 2, 512, 96, 32},
          {"wide_heads", 1, 768, 1024, 32},
          {"twenty_four_heads", 2, 48, 33, 24},
          {"post_ln", 2, 40, 24, 4, true},
          {"graphormer_v2", 2, 24, 24, 4, true, true, true, true},
          {"v2_preln", 2, 24, 24, 4, false, true, false, true},
          {"last_mlp", 2, 16, 16, 8, false, false, true, false, 2},
          {"key_by_row", 2, 16, 16, 8, false, false, true, false, 0, KeyTerm::row}};
}

std::unique_ptr<GraphModel> make_sized(const SizeCase& c, bool grpe) {
  EncoderOptions e{.layers = c.layers, .width = c.width, .ffn = c.ffn, .heads = c.heads, .post_ln = c.post_ln};
  e.input_norm = c.input_norm, e.final_norm = c.final_norm, e.key_term = c.key_term;
  e.gate.enabled = true;
  if (!grpe) {
    e.terms.bias = true, e.untie_virtual = false;
    return std::make_unique<Graphormer>(GraphormerOptions{
        .encoder = e, .max_distance = 3, .spatial_pos_max = 4, .published_classes = true, .head_transform = c.transform, .outputs = 3});
  }
  e.terms = {true, true, true, true, true, true, true};
  return std::make_unique<Grpe>(
      GrpeOptions{.encoder = e, .max_distance = 3, .last_mlp = c.last_mlp, .published_classes = true, .outputs = 3});
}

class EngineSizes : public testing::TestWithParam<SizeCase> {};

TEST_P(EngineSizes, ComputesWhatTheReferenceDoes) {
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    expect_same_values(pair, assorted());
    expect_same_gradients(pair, assorted());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EngineSizes, testing::ValuesIn(sizes()), [](const auto& of) { return of.param.name; });

// bfloat16 has 8 bits: a factor is off by up to 0.4 %, the sums of many by less.
constexpr double kBfloat16 = 2e-2, kBfloat16Gradients = 2e-2;

TEST_P(EngineSizes, Bfloat16) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    const GraphBatch batch = batch_for(*pair.reference, assorted());
    torch::NoGradGuard no_grad;
    const Tensor wanted = pair.reference->run(batch, {}).values;
    const double error = relative(CpuBackend(*pair.engine, 2, cpu::Precision::bf16).predict(batch).values, wanted);
    EXPECT_LT(error, kBfloat16);
    EXPECT_TRUE(GetParam().width == 2 || error > kFloat32);   // in use; a LayerNorm of two numbers leaves their order
  }
}

// All gradients as one vector: a small one may be off by more than its own size.
TEST_P(EngineSizes, Bfloat16Gradients) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    const GraphBatch batch = batch_for(*pair.reference, assorted());
    ForwardMode mode{.training = true, .seed = 3, .step = 5};
    mode.perturbation = torch::zeros({batch.num_tokens(), GetParam().width});
    const Gradients wanted = reference_gradients(*pair.reference, batch, mode);
    const Gradients got = engine_gradients(*pair.engine, batch, mode, cpu::Precision::bf16);
    double error = 0, size = 0;
    for (const auto& [name, exact] : wanted.of) {
      error += (got.of.at(name) - exact).square().sum().item<double>();
      size += exact.square().sum().item<double>();
    }
    EXPECT_LT(std::sqrt(error / size), kBfloat16Gradients);
    EXPECT_TRUE(GetParam().width == 2 || std::sqrt(error / size) > kFloat32);
  }
}

TEST(Engine, LargeMolecules) {
  Pair pair = make_pair([] { return make_sized({"large", 2, 16, 16, 8}, true); });
  const std::vector<MolecularGraph> graphs{chain_of(300), random_graph(200, 4), graph_of(1, {})};
  expect_same_values(pair, graphs);
  expect_same_gradients(pair, graphs);
}

TEST(Engine, PacksAreEvenAndHoldEveryMoleculeOnce) {
  GraphBatch batch;
  batch.token_offset = {0, 300};   // one large molecule, then many small ones
  for (int k = 0; k < 100; ++k) batch.token_offset.push_back(batch.token_offset.back() + 10 + k % 30);
  batch.row.resize(101);
  batch.atom_offset.resize(102);
  constexpr std::size_t kTokens = 56, kParts = 8;
  const std::vector<std::size_t> packs = cpu::split_into_packs(batch, kTokens, kParts);
  EXPECT_EQ(packs.front(), 0u);
  EXPECT_EQ(packs[1], 1u) << "the large molecule alone";
  EXPECT_EQ(packs.back(), 101u);
  for (std::size_t p = 1; p + 1 < packs.size(); ++p) {
    ASSERT_LT(packs[p], packs[p + 1]);
    EXPECT_LT(batch.token_offset[packs[p + 1]] - batch.token_offset[packs[p]], 56 + 39);
  }
  batch.token_offset.assign(102, 0);   // equal molecules: the shares can be equal
  for (std::size_t k = 0; k <= 101; ++k) batch.token_offset[k] = static_cast<std::int64_t>(20 * k);
  EXPECT_EQ((cpu::split_into_packs(batch, kTokens, kParts).size() - 1) % kParts, 0u);
  EXPECT_EQ(cpu::split_into_packs(GraphBatch(), kTokens, kParts).size(), 1u);
}

// --- the same bits, whoever computes and in whatever company ---

Tensor predict_bits(GraphModel& model, const std::vector<MolecularGraph>& graphs, int threads) {
  return CpuBackend(model, threads).predict(batch_for(model, graphs)).scaled;
}

TEST(EngineBits, PredictionsDependOnTheMoleculeAlone) {
  for (const bool grpe : {false, true}) {
    const auto model = make_sized({"slim", 2, 80, 80, 8}, grpe);
    std::vector<MolecularGraph> graphs = assorted();
    for (unsigned k = 0; k < 40; ++k) graphs.push_back(random_graph(10 + static_cast<int>(k), k));
    const Tensor together = predict_bits(*model, graphs, 1);
    EXPECT_TRUE(torch::equal(predict_bits(*model, graphs, 3), together));
    for (std::size_t k = 0; k < graphs.size(); ++k)
      EXPECT_TRUE(torch::equal(predict_bits(*model, {graphs[k]}, 1)[0], together[static_cast<std::int64_t>(k)])) << k;
    std::vector<MolecularGraph> backwards(graphs.rbegin(), graphs.rend());
    EXPECT_TRUE(torch::equal(predict_bits(*model, backwards, 2).flip(0), together));
  }
}

void expect_equal_gradients_on_any_threads(bool grpe, cpu::Precision precision) {
  std::vector<MolecularGraph> graphs = assorted();
  for (unsigned k = 0; k < 60; ++k) graphs.push_back(random_graph(10 + static_cast<int>(k % 20), k));
  const auto one = make_sized({"slim", 2, 80, 80, 8}, grpe), three = make_sized({"slim", 2, 80, 80, 8}, grpe);
  for (auto& item : three->named_parameters()) {
    torch::NoGradGuard no_grad;
    item->copy_(one->named_parameters()[item.key()]);
  }
  const auto slope = [](std::size_t, const float* y, float* dy) { std::copy_n(y, 3, dy); };
  CpuBackend(*one, 1, precision).train(batch_for(*one, graphs), {.training = true}, slope);
  CpuBackend(*three, 3, precision).train(batch_for(*three, graphs), {.training = true}, slope);
  for (auto& item : three->named_parameters())
    EXPECT_TRUE(torch::equal(item->grad(), one->named_parameters()[item.key()].grad())) << item.key();
}

TEST(EngineBits, GradientsDoNotDependOnTheNumberOfThreads) {
  for (const bool grpe : {false, true}) {
    expect_equal_gradients_on_any_threads(grpe, cpu::Precision::fp32);
    if (cpu::has_bf16()) expect_equal_gradients_on_any_threads(grpe, cpu::Precision::bf16);
  }
}

TEST(EngineBits, FrozenParametersGetNoGradient) {
  const auto model = make_sized({"slim", 2, 16, 16, 8}, false);
  for (auto& item : model->named_parameters()) item->set_requires_grad(item.key().starts_with("head."));
  CpuBackend(*model, 1).train(batch_for(*model, assorted()), {.training = true},
                              [](std::size_t, const float*, float* dy) { std::fill_n(dy, 3, 1.0f); });
  for (auto& item : model->named_parameters()) EXPECT_EQ(item->grad().defined(), item.key().starts_with("head.")) << item.key();
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

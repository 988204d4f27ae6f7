// Compares the CPU engine with the float64 reference for every model and every instruction set: values, gradients,
// dropout.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/model.hpp"
#include "attention/cpu/pack.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "tests/models/engine_checks.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

const auto make_cpu = [](GraphModel& model) { return EngineBoundary(model, {.threads = 2}); };
const auto make_bf16 = [](GraphModel& model) { return EngineBoundary(model, {.threads = 2}, Precision::bf16); };

/// A case and the instruction set to run it with.
template <class Case>
class OnInstructionSet : public testing::TestWithParam<std::tuple<Case, std::string>> {
 protected:
  void SetUp() override {
    for (const cpu::Kernels* kernels : cpu::all_kernels())
      if (kernels->name == std::get<1>(this->GetParam())) cpu::choose_kernels(*kernels);
  }
  void TearDown() override { cpu::choose_kernels(*cpu::all_kernels().front()); }
};

using Engine = OnInstructionSet<ModelCase>;

TEST_P(Engine, ValuesMatchReference) {
  Pair pair = make_pair([&] { return make_model(std::get<0>(GetParam())); });
  expect_same_values(pair, assorted(), make_cpu);
}

TEST_P(Engine, GradientsMatchReference) {
  Pair pair = make_pair([&] { return make_model(std::get<0>(GetParam())); });
  expect_same_gradients(pair, assorted(), make_cpu);
}

SizeCase with_pair_states(SizeCase c, int width) {
  c.name += "_with_pair_states";
  c.pair_state = width;
  return c;
}

/// sizes(), and models with pair states, which the CUDA engine does not have.
std::vector<SizeCase> cpu_sizes() {
  std::vector<SizeCase> all = sizes();
  all.push_back(with_pair_states({"slim", 3, 80, 80, 8}, 32));
  all.push_back(with_pair_states({"four_heads", 3, 28, 28, 4}, 12));
  all.push_back(with_pair_states({"twenty_four_heads", 2, 48, 33, 24}, 40));
  return all;
}

/// The models (size, GRPE) for tests of bits and of many packs.
std::vector<std::pair<SizeCase, bool>> slim_models() {
  const SizeCase slim{"slim", 2, 80, 80, 8};
  return {{slim, false}, {slim, true}, {with_pair_states(slim, 32), true}};
}

class EngineSizes : public testing::TestWithParam<SizeCase> {};

TEST_P(EngineSizes, ValuesAndGradientsMatchReference) {
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    expect_same_values(pair, assorted(), make_cpu);
    expect_same_gradients(pair, assorted(), make_cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EngineSizes, testing::ValuesIn(cpu_sizes()),
                         [](const auto& of) { return of.param.name; });

// bfloat16 has 8 bits: a factor has an error of up to 0.4 %, a sum of many terms a smaller one.
constexpr double kBfloat16 = 2e-2, kBfloat16Gradients = 2e-2;

TEST(EngineBf16, IsUsedOnlyIfItIsFaster) {
  using cpu::Bf16Products, cpu::used_precision;
  for (const Bf16Products products : {Bf16Products::fast, Bf16Products::tiles}) {
    EXPECT_EQ(used_precision(Precision::bf16, products).precision, Precision::bf16);
    EXPECT_EQ(used_precision(Precision::bf16, products).note, "");
    EXPECT_EQ(to_string(used_precision(Precision::fp32, products)), "fp32");
  }
  EXPECT_EQ(to_string(used_precision(Precision::bf16, Bf16Products::fast)), "bf16 (AVX512_BF16)");
  EXPECT_EQ(to_string(used_precision(Precision::bf16, Bf16Products::tiles)), "bf16 (AMX)");
  for (const Bf16Products products : {Bf16Products::none, Bf16Products::slow}) {
    const UsedPrecision used = used_precision(Precision::bf16, products);
    EXPECT_EQ(used.precision, Precision::fp32);
    EXPECT_NE(used.note.find("fp32 is used"), std::string::npos);
    EXPECT_EQ(to_string(used), "fp32");
    EXPECT_EQ(used_precision(Precision::fp32, products).note, "");
    EXPECT_EQ(used_precision(Precision::tf32, products).precision,
              Precision::tf32);  // rejected later, when the engine is created
  }
  EXPECT_EQ(cpu::has_bf16(), cpu::bf16_products() != Bf16Products::none);
}

TEST_P(EngineSizes, Bfloat16ValuesAreClose) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    const GraphBatch batch = batch_for(*pair.reference, assorted());
    torch::NoGradGuard no_grad;
    const Tensor expected = pair.reference->run(batch, {}).values;
    const double error =
        relative(EngineBoundary(*pair.engine, {.threads = 2}, Precision::bf16).predict(batch).values, expected);
    EXPECT_LT(error, kBfloat16);
    EXPECT_TRUE(GetParam().width == 2 ||
                error > kFloat32);  // bfloat16 is in use; a LayerNorm of two numbers keeps only their order
  }
}

TEST_P(EngineSizes, Bfloat16GradientsAreClose) {
  if (!cpu::has_bf16()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    const GraphBatch batch = batch_for(*pair.reference, assorted());
    ForwardMode mode{.training = true, .seed = 3, .step = 5};
    mode.perturbation = torch::zeros({batch.num_tokens(), GetParam().width});
    const Gradients expected = reference_gradients(*pair.reference, batch, mode);
    const Gradients actual = engine_gradients(*pair.engine, batch, mode, make_bf16);
    const double error = gradient_error(actual, expected);
    EXPECT_LT(error, kBfloat16Gradients);
    EXPECT_TRUE(GetParam().width == 2 || error > kFloat32);
  }
}

/// More than one pack for each gradient buffer.
TEST(Engine, GradientsOfManyPacksMatchReference) {
  std::vector<MolecularGraph> graphs = assorted();
  for (unsigned k = 0; k < 80; ++k) graphs.push_back(random_graph(10 + static_cast<int>(k % 20), k));
  for (const auto& [size, grpe] : slim_models()) {
    const auto make = [&] { return make_sized(size, grpe); };
    Pair pair = make_pair(make);
    const GraphBatch batch = batch_for(*pair.reference, graphs);
    ASSERT_GE(batch.num_tokens(), 2 * 8 * 56);
    expect_same_gradients(pair, graphs, make_cpu);
    if (!cpu::has_bf16()) continue;
    Pair rounded = make_pair(make);
    ForwardMode mode{.training = true, .seed = 3, .step = 5};
    mode.perturbation = torch::zeros({batch.num_tokens(), 80});
    const Gradients expected = reference_gradients(*rounded.reference, batch, mode);
    EXPECT_LT(gradient_error(engine_gradients(*rounded.engine, batch, mode, make_bf16), expected), kBfloat16Gradients);
  }
}

TEST(Engine, LargeMoleculesMatchReference) {
  Pair pair = make_pair([] { return make_sized(with_pair_states({"large", 2, 16, 16, 8}, 8), true); });
  const std::vector<MolecularGraph> graphs{chain_of(300), random_graph(200, 4), graph_of(1, {})};
  expect_same_values(pair, graphs, make_cpu);
  expect_same_gradients(pair, graphs, make_cpu);
}

TEST(Engine, PacksAreBalancedAndCoverEveryMoleculeOnce) {
  GraphBatch batch;
  batch.token_offset = {0, 300};  // one large molecule, then many small ones
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
  batch.token_offset.assign(102, 0);  // molecules of equal size can be split evenly
  for (std::size_t k = 0; k <= 101; ++k) batch.token_offset[k] = static_cast<std::int64_t>(20 * k);
  EXPECT_EQ((cpu::split_into_packs(batch, kTokens, kParts).size() - 1) % kParts, 0u);
  EXPECT_EQ(cpu::split_into_packs(GraphBatch(), kTokens, kParts).size(), 1u);
}

// --- bitwise equal results for any number of threads and any batch ---

std::vector<Precision> precisions() {
  std::vector<Precision> all{Precision::fp32};
  if (cpu::has_bf16()) all.push_back(Precision::bf16);
  return all;
}

Tensor predict_bits(GraphModel& model, const std::vector<MolecularGraph>& graphs, int threads, Precision precision) {
  return EngineBoundary(model, {.threads = threads}, precision).predict(batch_for(model, graphs)).scaled;
}

TEST(EngineBits, PredictionsDoNotDependOnBatchOrThreads) {
  for (const auto& [size, grpe] : slim_models())
    for (const Precision precision : precisions()) {
      const auto model = make_sized(size, grpe);
      std::vector<MolecularGraph> graphs = assorted();
      for (unsigned k = 0; k < 40; ++k) graphs.push_back(random_graph(10 + static_cast<int>(k), k));
      const Tensor together = predict_bits(*model, graphs, 1, precision);
      EXPECT_TRUE(torch::equal(predict_bits(*model, graphs, 3, precision), together));
      for (std::size_t k = 0; k < graphs.size(); ++k)
        EXPECT_TRUE(
            torch::equal(predict_bits(*model, {graphs[k]}, 1, precision)[0], together[static_cast<std::int64_t>(k)]))
            << k;
      std::vector<MolecularGraph> backwards(graphs.rbegin(), graphs.rend());
      EXPECT_TRUE(torch::equal(predict_bits(*model, backwards, 2, precision).flip(0), together));
    }
}

void expect_equal_gradients_on_any_threads(const SizeCase& size, bool grpe, Precision precision) {
  std::vector<MolecularGraph> graphs = assorted();
  for (unsigned k = 0; k < 60; ++k) graphs.push_back(random_graph(10 + static_cast<int>(k % 20), k));
  const auto one = make_sized(size, grpe), three = make_sized(size, grpe);
  for (auto& item : three->named_parameters()) {
    torch::NoGradGuard no_grad;
    item->copy_(one->named_parameters()[item.key()]);
  }
  const auto slope = [](std::size_t, const float* y, float* dy) { std::copy_n(y, 3, dy); };
  EngineBoundary(*one, {.threads = 1}, precision).train(batch_for(*one, graphs), {.training = true}, slope);
  EngineBoundary(*three, {.threads = 3}, precision).train(batch_for(*three, graphs), {.training = true}, slope);
  for (auto& item : three->named_parameters())
    EXPECT_TRUE(torch::equal(item->grad(), one->named_parameters()[item.key()].grad())) << item.key();
}

TEST(EngineBits, GradientsDoNotDependOnThreads) {
  for (const auto& [size, grpe] : slim_models())
    for (const Precision precision : precisions()) expect_equal_gradients_on_any_threads(size, grpe, precision);
}

TEST(EngineBits, APassDoesNotSeeTheOneBefore) {
  const auto model = make_sized(with_pair_states({"slim", 2, 80, 80, 8}, 32), true);
  const auto slope = [](std::size_t, const float* y, float* dy) { std::copy_n(y, 3, dy); };
  std::vector<MolecularGraph> graphs = assorted();
  for (unsigned k = 0; k < 60; ++k) graphs.push_back(random_graph(10 + static_cast<int>(k % 20), k));
  const GraphBatch all = batch_for(*model, graphs), few = batch_for(*model, {graphs[3], graphs[7]});
  for (const Precision precision : precisions()) {
    EngineBoundary used(*model, {.threads = 2}, precision);
    const auto gradients_of = [&](EngineBoundary& engine, const GraphBatch& batch) {
      model->zero_grad();
      engine.train(batch, {.training = true}, slope);
      std::map<std::string, Tensor> gradients;
      for (auto& item : model->named_parameters()) gradients[item.key()] = item->grad().clone();
      return gradients;
    };
    gradients_of(used, all);
    const auto after_another = gradients_of(used, few);
    EngineBoundary fresh(*model, {.threads = 2}, precision);
    for (const auto& [name, gradient] : gradients_of(fresh, few))
      EXPECT_TRUE(torch::equal(gradient, after_another.at(name))) << name;
    GraphBatch none;
    none.atom_offset = none.token_offset = none.pair_offset = {0};
    for (const auto& [name, gradient] : gradients_of(used, none))
      EXPECT_EQ(gradient.abs().max().item<float>(), 0) << name;
  }
}

TEST(EngineBits, NewWeightsReplaceTheOldOnesCompletely) {
  for (const ModelCase& c : every_model())
    for (const Precision precision : precisions()) {
      const auto model = make_model(c);
      const GraphBatch batch = batch_for(*model, assorted());
      torch::NoGradGuard no_grad;
      randomise(*model);
      model->to(torch::kFloat32);
      EngineBoundary used(*model, {.threads = 2}, precision);
      used.predict(batch);
      for (const torch::Tensor& parameter : model->parameters()) parameter.mul_(-0.7);
      used.weights_changed();
      EngineBoundary fresh(*model, {.threads = 2}, precision);
      EXPECT_TRUE(torch::equal(used.predict(batch).values, fresh.predict(batch).values)) << c.name;
    }
}

TEST(EngineBits, FrozenParametersGetNoGradient) {
  const auto model = make_sized(with_pair_states({"slim", 2, 16, 16, 8}, 16), false);
  for (auto& item : model->named_parameters()) item->set_requires_grad(item.key().starts_with("head."));
  EngineBoundary(*model, {.threads = 1})
      .train(batch_for(*model, assorted()), {.training = true},
             [](std::size_t, const float*, float* dy) { std::fill_n(dy, 3, 1.0f); });
  for (auto& item : model->named_parameters())
    EXPECT_EQ(item->grad().defined(), item.key().starts_with("head.")) << item.key();
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const cpu::Kernels* kernels : cpu::all_kernels()) names.emplace_back(kernels->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, Engine,
                         testing::Combine(testing::ValuesIn(every_model()), testing::ValuesIn(instruction_sets())),
                         [](const auto& of) { return std::get<0>(of.param).name + "_" + std::get<1>(of.param); });

using EnginePairStates = OnInstructionSet<PlanCase>;

TEST_P(EnginePairStates, ValuesAndGradientsMatchReference) {
  Pair pair = make_pair([&] { return std::make_unique<GraphModel>(std::get<0>(GetParam()).options); });
  expect_same_values(pair, assorted(), make_cpu);
  expect_same_gradients(pair, assorted(), make_cpu);
}

INSTANTIATE_TEST_SUITE_P(Models, EnginePairStates,
                         testing::Combine(testing::ValuesIn(pair_state_cases()), testing::ValuesIn(instruction_sets())),
                         [](const auto& of) { return std::get<0>(of.param).name + "_" + std::get<1>(of.param); });

}  // namespace
}  // namespace molgraph::test

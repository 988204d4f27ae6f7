// The CUDA engine compared with the reference in float64: values and gradients of every model, with dropout. Linked
// twice: with the engine for a GPU, and with the emulated GPU, on which the tests run everywhere.
#include <gtest/gtest.h>

#include "tests/cuda/gpu_model.hpp"
#include "tests/models/border_cases.hpp"
#include "tests/models/engine_checks.hpp"

namespace molgraph::test {
namespace {

using cuda::why_unusable;
using torch::Tensor;

// Relative errors of values, and of all gradients as one vector (bounds of the norm).
constexpr double kTf32 = 2e-3, kBf16 = 2e-2;

const auto make_fp32 = [](GraphModel& model) { return GpuModel(model); };

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_unusable(0); !reason.empty()) GTEST_SKIP() << reason;
  }
  /// Relative errors of predictions and of all gradients.
  template <class Make>
  static std::pair<double, double> errors(const Make& make_one, Precision precision,
                                          const std::vector<MolecularGraph>& graphs = assorted()) {
    Pair pair = make_pair(make_one);
    const GraphBatch batch = batch_for(*pair.reference, graphs);
    ForwardMode mode{.training = true, .seed = 3, .step = 5};
    mode.perturbation = torch::zeros({batch.num_tokens(), pair.reference->plan().encoder.width});
    const auto make = [&](GraphModel& model) { return GpuModel(model, precision); };
    const Gradients expected = reference_gradients(*pair.reference, batch, mode);
    const Gradients got = engine_gradients(*pair.engine, batch, mode, make);
    return {relative(got.scaled, expected.scaled), gradient_error(got, expected)};
  }
};

class CudaModels : public OnDevice, public testing::WithParamInterface<ModelCase> {};

TEST_P(CudaModels, ValuesMatchReference) {
  Pair pair = make_pair([&] { return make_model(GetParam()); });
  expect_same_values(pair, assorted(), make_fp32);
}

TEST_P(CudaModels, GradientsMatchReference) {
  Pair pair = make_pair([&] { return make_model(GetParam()); });
  expect_same_gradients(pair, assorted(), make_fp32);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaModels, testing::ValuesIn(every_model()),
                         [](const auto& of) { return of.param.name; });

/// Options that do not depend on the encoding. CudaSizes has more.
std::vector<PlanCase> shapes() {
  std::vector<PlanCase> cases = shape_cases();
  std::erase_if(cases, [](const PlanCase& c) { return c.options.features != Features::ogb; });
  return cases;
}

class CudaShapes : public OnDevice, public testing::WithParamInterface<PlanCase> {};

TEST_P(CudaShapes, ValuesAndGradientsMatchReference) {
  Pair pair = make_pair([] { return std::make_unique<GraphModel>(GetParam().options); });
  expect_same_values(pair, assorted(), make_fp32);
  expect_same_gradients(pair, assorted(), make_fp32);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaShapes, testing::ValuesIn(shapes()), [](const auto& of) { return of.param.name; });

class CudaSizes : public OnDevice, public testing::WithParamInterface<SizeCase> {};

TEST_P(CudaSizes, ValuesAndGradientsMatchReference) {
  for (const bool grpe : {false, true}) {
    Pair pair = make_pair([&] { return make_sized(GetParam(), grpe); });
    expect_same_values(pair, assorted(), make_fp32);
    expect_same_gradients(pair, assorted(), make_fp32);
  }
}

TEST_P(CudaSizes, InTf32AndBf16) {
  for (const bool grpe : {false, true})
    for (const auto& [precision, bound] : {std::pair{Precision::tf32, kTf32}, std::pair{Precision::bf16, kBf16}}) {
      const auto [values, gradients] = errors([&] { return make_sized(GetParam(), grpe); }, precision);
      EXPECT_LT(values, bound);
      EXPECT_LT(gradients, bound);
      EXPECT_TRUE(GetParam().width == 2 ||
                  gradients > kFloat32);  // is in use; LayerNorm of two numbers keeps only their order
    }
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaSizes, testing::ValuesIn(sizes()), [](const auto& of) { return of.param.name; });

TEST_F(OnDevice, WideProductsByTheLibrary) {  // more than 256 tokens, 256 wide
  std::vector<MolecularGraph> graphs;
  for (unsigned k = 0; k < 20; ++k) graphs.push_back(random_graph(14, k));
  const auto make = [] { return make_sized({"wide", 1, 256, 320, 8}, false); };
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const auto [values, gradients] = errors(make, precision, graphs);
    EXPECT_LT(values, precision == Precision::fp32 ? kFloat32 : kBf16);
    EXPECT_LT(gradients, precision == Precision::fp32 ? kFloat32 : kBf16);
  }
}

TEST_F(OnDevice, SmallMoleculesInHalfWarps) {  // up to 16 tokens; enough molecules for a separate launch
  std::vector<MolecularGraph> graphs = assorted();
  for (unsigned k = 0; k < 25; ++k) graphs.push_back(random_graph(4 + static_cast<int>(k % 12), k));
  for (const bool grpe : {false, true})
    for (const KeyTerm key_term : {KeyTerm::column, KeyTerm::row, KeyTerm::reverse}) {
      SizeCase c{"small", 2, 24, 16, 3};
      c.key_term = key_term;
      Pair pair = make_pair([&] { return make_sized(c, grpe); });
      expect_same_values(pair, graphs, make_fp32);
      expect_same_gradients(pair, graphs, make_fp32);
    }
}

TEST_F(OnDevice, LargeMolecules) {  // several tiles of queries, and arrays beyond shared memory
  const std::vector<MolecularGraph> graphs{chain_of(300), random_graph(70, 4), graph_of(1, {})};
  const ModelCase walks{"walks", &encoding_from_string("grpe-walk"), {.enabled = true, .walk = true}};
  const auto check = [&](Pair pair) {
    expect_same_values(pair, graphs, make_fp32);
    expect_same_gradients(pair, graphs, make_fp32);
  };
  check(make_pair([] { return make_sized({"large", 2, 16, 16, 4}, true); }));
  check(make_pair([&] { return make_model(walks); }));
}

TEST_F(OnDevice, ReadoutAndDegreeScalerOfManyChannels) {  // more channels than a warp has lanes
  for (const auto& [readout, width] : {std::pair{Readout::sum, 72}, std::pair{Readout::mean, 264}}) {
    ModelOptions options = small_model(encoding_from_string("grpe"));
    options.encoder.width = width, options.encoder.readout = readout, options.encoder.degree_scaler = true;
    const auto make = [&] { return std::make_unique<GraphModel>(options); };
    Pair pair = make_pair(make);
    expect_same_values(pair, assorted(), make_fp32);
    expect_same_gradients(pair, assorted(), make_fp32);
    const auto [values, gradients] = errors(make, Precision::bf16);
    EXPECT_LT(values, kBf16);
    EXPECT_LT(gradients, kBf16);
  }
}

TEST_F(OnDevice, BatchesThatDoNotFitTheModelFail) {
  const auto slope = [](std::size_t, const float*, float*) {};
  for (const auto& model : models_for_invalid_batches()) {
    GpuModel gpu(*model);
    expect_refusals(*model, false, [&](const GraphBatch& batch) { gpu.predict(batch); });
    expect_refusals(*model, false, [&](const GraphBatch& batch) { gpu.train(batch, {.training = true}, slope); });
    expect_refusals(*model, false, [&](const GraphBatch& batch) { gpu.resident().add_molecules(batch); });
  }
}

TEST_F(OnDevice, InvalidMoleculeNumbersAndTargetsFail) {
  const auto model = make_model({"grpe", &encoding_from_string("grpe")});
  GpuModel gpu(*model);
  ResidentTraining& engine = gpu.resident();
  const GraphBatch batch = batch_for(*model, assorted());
  const std::size_t count = assorted().size();
  const std::vector<std::int64_t> some{0, 1}, beyond{static_cast<std::int64_t>(count)}, below{-1};
  std::vector<float> scaled(count);
  EXPECT_THROW(engine.predict_resident(some, scaled.data()), std::invalid_argument) << "nothing is uploaded";
  engine.add_molecules(batch);
  engine.upload_molecules();
  engine.predict_resident(some, scaled.data());
  EXPECT_THROW(engine.predict_resident(beyond, scaled.data()), std::invalid_argument);
  EXPECT_THROW(engine.predict_resident(below, scaled.data()), std::invalid_argument);
  EXPECT_THROW(engine.step(some, 0, 0.1), std::logic_error) << "start_training() comes first";
  const UpdateOptions good{.targets = 1, .target = std::vector<float>(count), .shift = {0}, .scale = {1}};
  for (int k = 0; k < 4; ++k) {
    UpdateOptions bad = good;
    if (k == 0) bad.target.pop_back();
    if (k == 1) bad.targets = 2;
    if (k == 2) bad.scale.clear();
    if (k == 3) bad.loss = Loss::ce, bad.target[2] = 1;  // the only class is 0
    EXPECT_THROW(engine.start_training(bad, 0), std::invalid_argument) << k;
  }
  engine.start_training(good, 0);
  engine.step(some, 0, 0.1);
  EXPECT_THROW(engine.step(beyond, 1, 0.1), std::invalid_argument);
  EXPECT_THROW(gpu.engine().assign([](const std::string&) -> const float* { return nullptr; }, true),
               std::invalid_argument);
}

}  // namespace
}  // namespace molgraph::test

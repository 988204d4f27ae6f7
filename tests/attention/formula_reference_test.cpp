// The LibTorch reference matches the formula: values, states and gradients of every model and molecule of the case
// table, in prediction and in training.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "attention/formula/model.hpp"
#include "attention/reference/graph_model.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

using formula::Matrix;
using formula::Parameters;
using torch::Tensor;

// Float64: sums of up to a few hundred terms of order one in a different order, through two layers; relative to the
// largest state.
constexpr double kSums = 1e-12;
// Central differences with step 1e-5: h^2 = 1e-10 and rounding 1e-16/h = 1e-11, times derivatives of up to a few
// hundred.
constexpr double kSlopeStep = 1e-5, kSlopeDifference = 1e-7;

/// The same model as reference and as formula, with the same parameters.
struct Twins {
  explicit Twins(const ModelOptions& options)
      : reference(options), numbers(parameter_numbers(reference.specs())),
        formula(reference.specs(), [&](const std::string& name) { return numbers.at(name).data(); }) {
    reference.to(torch::kFloat64);
    torch::NoGradGuard no_grad;
    for (auto& item : reference.named_parameters())
      item->copy_(torch::from_blob(numbers.at(item.key()).data(), item->sizes(), torch::kFloat32));
  }

  GraphModel reference;
  Numbers numbers;
  Parameters formula;
};

/// FLAG's addition to the node input, [tokens, C].
Tensor perturbation_of(const GraphBatch& batch, int width) {
  torch::manual_seed(5);
  return 0.1 * torch::randn({batch.num_tokens(), width}, torch::kFloat64);
}

/// The rows of one molecule in a tensor over packed tokens.
Matrix rows_of(const Tensor& packed, const GraphBatch& batch, std::int64_t molecule) {
  const auto b = static_cast<std::size_t>(molecule);
  const std::int64_t first = batch.token_offset[b];
  Matrix rows(batch.token_offset[b + 1] - first, packed.size(1));
  std::copy_n(packed.const_data_ptr<double>() + first * rows.columns, rows.values.size(), rows.values.data());
  return rows;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t k = 0; k < expected.size(); ++k)
    ASSERT_NEAR(got[k], expected[k], kSums * largest) << what << ", number " << k;
}

void expect_formula(const PlanCase& c, bool training) {
  Twins model(c.options);
  const ModelPlan& plan = model.reference.plan();
  const std::vector<MoleculeCase> molecules = molecule_cases(plan.features);
  const GraphBatch batch = batch_of_cases(molecules, model.reference.pack_options(), 40);
  ForwardMode mode{.training = training, .seed = 0x123456789abcdefULL, .step = 7, .ascent = 2};
  for (int layer = 0; layer <= plan.encoder.layers; ++layer) mode.keep_layers.push_back(layer);
  mode.keep_layers.push_back(-1);
  if (training) mode.perturbation = perturbation_of(batch, plan.encoder.width);

  torch::NoGradGuard no_grad;
  const ModelOutput got = model.reference.run(batch, mode);
  for (std::int64_t m = 0; m < batch.size(); ++m) {
    const std::string name = molecules[static_cast<std::size_t>(m)].name;
    const Matrix perturbation = training ? rows_of(mode.perturbation, batch, m) : Matrix();
    const formula::Output expected =
        formula::run(plan, batch, m, model.formula, {training, mode.seed, mode.step, mode.ascent}, perturbation);
    for (std::size_t k = 0; k < expected.states.size(); ++k)
      expect_near(rows_of(got.layers[k], batch, m).values, expected.states[k].values,
                  name + ", state " + std::to_string(k));
    const Tensor scaled = got.scaled[m].contiguous();
    expect_near(std::vector<double>(scaled.const_data_ptr<double>(), scaled.const_data_ptr<double>() + scaled.numel()),
                expected.scaled, name);
  }
}

class EveryPlan : public testing::TestWithParam<PlanCase> {};

TEST_P(EveryPlan, ReferenceMatchesTheFormula) { expect_formula(GetParam(), false); }
TEST_P(EveryPlan, ReferenceMatchesTheFormulaInTraining) { expect_formula(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Formula, EveryPlan, testing::ValuesIn(plan_cases()),
                         [](const auto& of) { return of.param.name; });

/// Gradients by autograd compared with finite differences of the formula, in training (fixed draws).
class FormulaGradients : public testing::TestWithParam<PlanCase> {};

TEST_P(FormulaGradients, MatchFiniteDifferencesOfTheFormula) {
  Twins model(GetParam().options);
  const ModelPlan& plan = model.reference.plan();
  std::vector<MoleculeCase> molecules = molecule_cases(plan.features);
  std::erase_if(molecules, [](const MoleculeCase& m) {
    return m.name != "salt" && m.name != "two_squares" && m.name != "asymmetric";
  });
  const GraphBatch batch = batch_of_cases(molecules, model.reference.pack_options());
  const RandomMode random{.training = true, .seed = 3, .step = 5, .ascent = 1};
  const auto loss = [&] {
    double sum = 0;
    for (std::int64_t m = 0; m < batch.size(); ++m)
      for (const double y : formula::run(plan, batch, m, model.formula, random).scaled) sum += std::sin(y);
    return sum;
  };
  const Tensor value =
      model.reference.run(batch, {.training = true, .seed = 3, .step = 5, .ascent = 1}).scaled.sin().sum();
  ASSERT_NEAR(value.item<double>(), loss(), kSums * 10);
  value.backward();
  for (auto& item : model.reference.named_parameters()) {
    const Tensor gradient = item->grad().defined() ? item->grad() : torch::zeros_like(item.value());
    std::vector<double>& values = model.formula.at(item.key()).values;
    for (std::size_t sample = 0; sample < 6; ++sample) {  // elements spread over the table
      const std::size_t k = sample * 7919 % values.size();
      const double before = values[k];
      values[k] = before + kSlopeStep;
      const double above = loss();
      values[k] = before - kSlopeStep;
      const double below = loss();
      values[k] = before;
      const double slope = (above - below) / (2 * kSlopeStep);
      EXPECT_NEAR(gradient.view(-1)[static_cast<std::int64_t>(k)].item<double>(), slope,
                  kSlopeDifference * std::max(1.0, std::abs(slope)))
          << item.key() << ", element " << k;
    }
  }
}

/// Together they have every parameter except those of positions.
std::vector<PlanCase> gradient_cases() {
  std::vector<PlanCase> cases;
  for (PlanCase& c : plan_cases())
    if (c.name == "all_terms" || c.name == "graphormer_v2" || c.name == "graphormer_urpe_path_relu" ||
        c.name == "inputs" || c.name == "pair_states")
      cases.push_back(std::move(c));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Formula, FormulaGradients, testing::ValuesIn(gradient_cases()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace molgraph::test

// The engine's pair terms that do not come from relation tables: values match the formula, and gradients match its
// derivatives.
#include <map>

#include "attention/cpu/pair_terms.hpp"
#include "attention/formula/pair_terms.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

// A value is a sum of a few hundred products (a path of 99 hops, a position's rank of 64) whose factors are sums
// themselves. The roundings of float32 (6e-8 each) add up like a random walk, to the size of ten or twenty roundings.
constexpr double kRelativeError = 2e-6;

class PairTermCase {
 public:
  PairTermCase(const PlanCase& of, bool large)
      : plan_(model_plan(of.options)), parameters_(parameters_of(plan_)), numbers_(parameter_numbers(parameters_)),
        terms_(plan_, parameters_) {
    std::vector<MoleculeCase> molecules = molecule_cases(plan_.features);
    if (!large) molecules.pop_back();
    batch_ = batch_of_cases(molecules, {.paths = true, .path_rule = plan_.pack.path_rule});
    const cpu::EncoderShape shape(plan_);
    pack_.load(batch_, 0, static_cast<std::size_t>(batch_.size()), shape, plan_.classes);
    padded_ = shape.heads;
    terms_.assign([this](const std::string& name) { return numbers_.at(name).data(); });
  }

  /// The values that are added to a layer's bias or gate [pairs of the batch, H].
  std::vector<double> formula_of(TermFills fills, std::size_t layer, const formula::Parameters& parameters) const {
    std::vector<double> values;
    for (std::int64_t b = 0; b < batch_.size(); ++b) {
      const std::vector<formula::Matrix> by_head =
          formula::pair_terms_of(fills, static_cast<int>(layer), formula::Molecule(batch_, b), plan_, parameters);
      for (std::size_t p = 0; p < by_head[0].values.size(); ++p)
        for (const formula::Matrix& matrix : by_head) values.push_back(matrix.values[p]);
    }
    return values;
  }
  formula::Parameters parameters() const {
    return {parameters_, [this](const std::string& name) { return numbers_.at(name).data(); }};
  }

  void expect_values(const std::string& name) {
    cpu::PairTerms::Work work;
    work.places.load(batch_, pack_);
    const cpu::PairInputs got = terms_.values(work);
    for (std::size_t layer = 0; layer < got.bias.size(); ++layer)
      expect_close(formula_of(TermFills::bias, layer, parameters()), got.bias[layer],
                   name + ", bias of layer " + std::to_string(layer));
    for (std::size_t layer = 0; layer < got.gate.size(); ++layer)
      expect_close(formula_of(TermFills::gate, layer, parameters()), got.gate[layer],
                   name + ", gate of layer " + std::to_string(layer));
  }

  // Compared with the formula's central difference along a random direction of each parameter.
  void expect_gradients(const std::string& name) {
    cpu::PairTerms::Work work;
    work.places.load(batch_, pack_);
    (void)terms_.values(work);
    const cpu::PairGradients slopes = terms_.gradients(pack_, work);
    Numbers01 random(3);
    const auto heads = static_cast<std::size_t>(plan_.encoder.heads);
    for (const auto* arrays : {&slopes.bias, &slopes.gate})
      for (float* array : *arrays)
        for (std::size_t i = 0; i < pack_.pairs * padded_; ++i) array[i] = i % padded_ < heads ? random.next() : 0.0f;
    std::vector<std::vector<float>> flat(terms_.size());
    for (std::size_t t = 0; t < flat.size(); ++t) flat[t].resize(terms_.gradient_size(t));
    terms_.add_gradient(work, flat);
    Numbers gradients;
    for (const ParameterSpec& spec : parameters_) gradients[spec.name].resize(static_cast<std::size_t>(spec.size()));
    for (std::size_t t = 0; t < flat.size(); ++t)
      terms_.add_gradients(t, flat[t].data(), [&](const std::string& of) { return gradients.at(of).data(); });
    constexpr double kStep = 1e-5;
    for (const ParameterSpec& spec : parameters_) {
      if (spec.role != ParameterRole::pair_term && spec.role != ParameterRole::gate_term) continue;
      const std::vector<float> direction = random.many(static_cast<std::size_t>(spec.size()));
      formula::Parameters above = parameters(), below = parameters();
      double expected = 0, size = 0, got = 0;
      for (std::size_t i = 0; i < direction.size(); ++i) {
        above.at(spec.name).values[i] += kStep * direction[i];
        below.at(spec.name).values[i] -= kStep * direction[i];
        got += direction[i] * gradients.at(spec.name)[i];
      }
      for (const TermFills fills : {TermFills::bias, TermFills::gate}) {
        const auto& arrays = fills == TermFills::bias ? slopes.bias : slopes.gate;
        for (std::size_t layer = 0; layer < arrays.size(); ++layer) {
          const std::vector<double> high = formula_of(fills, layer, above), low = formula_of(fills, layer, below);
          for (std::size_t p = 0; p < pack_.pairs; ++p)
            for (std::size_t h = 0; h < heads; ++h) {
              const double change =
                  arrays[layer][p * padded_ + h] * (high[p * heads + h] - low[p * heads + h]) / (2 * kStep);
              expected += change;
              size += std::abs(change);
            }
        }
      }
      EXPECT_NEAR(got, expected, kRelativeError * size) << name << ", " << spec.name;
    }
  }

 private:
  void expect_close(const std::vector<double>& expected, const float* got, const std::string& what) const {
    const auto heads = static_cast<std::size_t>(plan_.encoder.heads);
    double largest = 0, error = 0;
    for (std::size_t p = 0; p < pack_.pairs; ++p)
      for (std::size_t h = 0; h < padded_; ++h) {
        const double value = h < heads ? expected[p * heads + h] : 0.0;
        largest = std::max(largest, std::abs(value));
        if (!(std::abs(value - got[p * padded_ + h]) <= error)) error = std::abs(value - got[p * padded_ + h]);
      }
    EXPECT_LE(error, kRelativeError * largest) << what;
  }

  ModelPlan plan_;
  ParameterList parameters_;
  Numbers numbers_;
  cpu::PairTerms terms_;
  GraphBatch batch_;
  cpu::Pack pack_;
  std::size_t padded_ = 0;
};

std::vector<PlanCase> cases_with_pair_terms() {
  std::vector<PlanCase> cases;
  for (PlanCase& c : plan_cases())
    if (!pair_terms(model_plan(c.options)).empty()) cases.push_back(std::move(c));
  return cases;
}

TEST(PairTerms, ValuesMatchTheFormula) {
  EXPECT_GT(cases_with_pair_terms().size(), 10u);
  for (const PlanCase& of : cases_with_pair_terms())
    PairTermCase(of, of.name == "graphormer" || of.name == "diet_abs" || of.name == "resistance")
        .expect_values(of.name);
}

TEST(PairTerms, GradientsMatchTheFormulasDerivatives) {
  for (const PlanCase& of : cases_with_pair_terms())
    PairTermCase(of, of.name == "graphormer").expect_gradients(of.name);
}

}  // namespace
}  // namespace molgraph::test

// Edge paths and places as parts of the engine: their values are the formula's, and their gradients its derivatives.
#include <map>

#include "attention/cpu/pair_terms.hpp"
#include "attention/formula/pair_terms.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

// A value is a sum of some hundred products (a path of 99 hops, a place's rank of 64) whose parts are sums themselves: the roundings of
// float32 (6e-8 each) add up like a random walk, to ten or twenty of them.
constexpr double kOfLargest = 2e-6;

class PairTermCase {
 public:
  PairTermCase(const PlanCase& of, bool large)
      : plan_(model_plan(of.options)), parameters_(parameters_of(plan_)), numbers_(parameter_numbers(parameters_)), terms_(plan_, parameters_) {
    std::vector<MoleculeCase> molecules = molecule_cases(plan_.features);
    if (!large) molecules.pop_back();
    batch_ = batch_of_cases(molecules, {.paths = true, .path_rule = plan_.pack.path_rule});
    const cpu::EncoderShape shape(plan_);
    pack_.load(batch_, 0, static_cast<std::size_t>(batch_.size()), shape, plan_.classes);
    padded_ = shape.heads;
    terms_.assign([this](const std::string& name) { return numbers_.at(name).data(); });
  }

  /// A term's values [pairs of the batch][H], with the parameters given.
  std::vector<double> formula_of(const PairTerm& term, const formula::Parameters& parameters) const {
    const int heads = plan_.encoder.heads;
    std::vector<double> values;
    for (std::int64_t b = 0; b < batch_.size(); ++b) {
      const formula::Molecule molecule(batch_, b);
      const std::vector<formula::Matrix> by_head =
          term.kind == PairTerm::Kind::path
              ? formula::path_term(molecule, parameters.at(term.prefix + "bond"), parameters.at(term.prefix + "hop_weight"), plan_.pack.path_rule)
              : formula::absolute_term(molecule, parameters, term.prefix, heads);
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
    const cpu::PairInputs got = terms_.values(batch_, pack_, work);
    for (const TermFills fills : {TermFills::bias, TermFills::gate}) {
      const auto& arrays = fills == TermFills::bias ? got.bias : got.gate;
      for (std::size_t layer = 0; layer < arrays.size(); ++layer) {
        std::vector<double> wanted;
        for (const PairTerm& term : pair_terms(plan_)) {
          if (term.fills != fills || (term.layer >= 0 && term.layer != static_cast<int>(layer))) continue;
          const std::vector<double> values = formula_of(term, parameters());
          wanted.resize(values.size());
          for (std::size_t i = 0; i < values.size(); ++i) wanted[i] += values[i];
        }
        expect_close(wanted, arrays[layer], name + ", layer " + std::to_string(layer));
      }
    }
  }

  // Every parameter is one factor of a product, so that the derivative along a direction is the term with the direction in its place, and
  // with nothing in that of the other parameter of the same sum (the places' rows and walks).
  void expect_gradients(const std::string& name) {
    cpu::PairTerms::Work work;
    (void)terms_.values(batch_, pack_, work);
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
    for (std::size_t t = 0; t < flat.size(); ++t) terms_.add_gradients(t, flat[t].data(), [&](const std::string& of) { return gradients.at(of).data(); });
    for (const PairTerm& term : pair_terms(plan_)) {
      const auto& arrays = term.fills == TermFills::bias ? slopes.bias : slopes.gate;
      const bool path = term.kind == PairTerm::Kind::path;
      const std::vector<std::string> parts = path ? std::vector<std::string>{"bond", "hop_weight"}
                                                  : std::vector<std::string>{"query_row", "query_walk", "key_row", "key_walk"};
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::string of = term.prefix + parts[part];
        formula::Parameters moved = parameters();
        for (double& value : moved.at(of).values) value = random.next();
        const std::vector<double> direction = moved.at(of).values;
        if (!path)
          for (double& value : moved.at(term.prefix + parts[part ^ 1]).values) value = 0;
        const std::vector<double> change = formula_of(term, moved);
        double wanted = 0, size = 0, got = 0;
        for (std::size_t layer = 0; layer < arrays.size(); ++layer) {
          if (term.layer >= 0 && term.layer != static_cast<int>(layer)) continue;
          for (std::size_t p = 0; p < pack_.pairs; ++p)
            for (std::size_t h = 0; h < heads; ++h) {
              wanted += arrays[layer][p * padded_ + h] * change[p * heads + h];
              size += std::abs(arrays[layer][p * padded_ + h] * change[p * heads + h]);
            }
        }
        for (std::size_t i = 0; i < direction.size(); ++i) got += direction[i] * gradients.at(of)[i];
        EXPECT_NEAR(got, wanted, kOfLargest * size) << name << ", " << of;
      }
    }
  }

 private:
  void expect_close(const std::vector<double>& wanted, const float* got, const std::string& what) const {
    const auto heads = static_cast<std::size_t>(plan_.encoder.heads);
    double largest = 0, error = 0;
    for (std::size_t p = 0; p < pack_.pairs; ++p)
      for (std::size_t h = 0; h < padded_; ++h) {
        const double value = h < heads ? wanted[p * heads + h] : 0.0;
        largest = std::max(largest, std::abs(value));
        if (!(std::abs(value - got[p * padded_ + h]) <= error)) error = std::abs(value - got[p * padded_ + h]);
      }
    EXPECT_LE(error, kOfLargest * largest) << what;
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

TEST(PairTerms, ValuesAreTheFormulas) {
  EXPECT_GT(cases_with_pair_terms().size(), 10u);
  for (const PlanCase& of : cases_with_pair_terms()) PairTermCase(of, of.name == "graphormer" || of.name == "diet_abs").expect_values(of.name);
}

TEST(PairTerms, GradientsAreTheFormulasDerivatives) {
  for (const PlanCase& of : cases_with_pair_terms()) PairTermCase(of, of.name == "graphormer").expect_gradients(of.name);
}

}  // namespace
}  // namespace molgraph::test

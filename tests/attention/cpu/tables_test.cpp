// Rows of a pack's relations are gathered from the relation tables, and their gradients are scattered back to them.
#include <map>

#include "attention/cpu/pack.hpp"
#include "attention/cpu/terms.hpp"
#include "attention/formula/molecule.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

/// A plan's tables and all molecules as one pack.
struct Tables {
  explicit Tables(const PlanCase& of)
      : plan(model_plan(of.options)), parameters(parameters_of(plan)), numbers(parameter_numbers(parameters)),
        shape(plan), weights(shape, parameters), batch(batch_of_cases(molecule_cases(plan.features), {})),
        terms(shape) {
    weights.assign([this](const std::string& name) { return numbers.at(name).data(); }, true, 1);
    pack.load(batch, 0, static_cast<std::size_t>(batch.size()), shape, plan.classes);
    terms.load(weights, relations(), pack, nullptr);
    terms.load_gate(weights, gates(), pack, nullptr);
  }
  const EncoderOptions& options() const { return plan.encoder; }
  const cpu::TableSet& relations() const {
    return options().share_encodings ? weights.layout().shared : weights.layout().layers[0].own;
  }
  const cpu::TableSet& gates() const {
    return options().gate.per_layer ? weights.layout().layers[0].own : weights.layout().shared;
  }
  std::string relation_owner() const { return owner_prefix("encoder.", options().share_encodings ? -1 : 0); }
  std::string gate_owner() const { return owner_prefix("encoder.", options().gate.per_layer ? 0 : -1); }
  std::size_t heads() const { return static_cast<std::size_t>(options().heads); }
  /// A table's numbers; empty if the table is off.
  const std::vector<float>& table(const std::string& name) const {
    static const std::vector<float> none;
    const auto found = numbers.find(name);
    return found == numbers.end() ? none : found->second;
  }
  /// Number `channel` of the table's row, 0 if it is off.
  float number(const char* name, int row, std::size_t channel) const {
    const std::vector<float>& values = table(relation_owner() + name);
    return values.empty() ? 0.0f : values[static_cast<std::size_t>(row) * shape.width + channel];
  }
  /// Row of the bias table. If it has fewer rows than classes, the last classes share the last row.
  std::size_t bias_row(int t) const {
    return std::min(static_cast<std::size_t>(t), table(relation_owner() + "spatial").size() / heads() - 1);
  }

  ModelPlan plan;
  ParameterList parameters;
  Numbers numbers;
  cpu::EncoderShape shape;
  cpu::EncoderWeights weights;
  GraphBatch batch;
  cpu::Pack pack;
  cpu::PackTerms terms;
};

TEST(Tables, GatheredRowsAreSumsInTableOrder) {
  for (const PlanCase& of : plan_cases()) {
    const Tables s(of);
    const std::size_t d = s.shape.head_width;
    for (std::size_t b = 0; b < s.pack.size(); ++b) {
      const formula::PairClasses classes =
          formula::pair_classes(formula::Molecule(s.batch, static_cast<std::int64_t>(b)), s.plan.classes);
      cpu::Attention g;
      s.terms.fill(s.pack, b, g);
      const auto n = classes.topology.rows;
      std::size_t wrong = 0;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const auto pair = static_cast<std::size_t>(i * n + j);
          const bool reverse = s.options().key_term == KeyTerm::reverse;
          const int t = classes.topology(i, j), e = classes.edge(i, j);
          const int t_key = reverse ? classes.topology(j, i) : t, e_key = reverse ? classes.edge(j, i) : e;
          for (std::size_t h = 0; h < s.heads(); ++h) {
            float bias = s.table(s.relation_owner() + "spatial").empty()
                             ? 0.0f
                             : s.table(s.relation_owner() + "spatial")[s.bias_row(t) * s.heads() + h];
            for (std::size_t x = 0; x < d; ++x) {
              const std::size_t channel = h * d + x, inner = x * s.shape.heads + h;
              const auto differs = [&](const float* rows, std::uint16_t m, float expected) {
                return rows != nullptr && rows[m * s.shape.inner + inner] != expected;
              };
              wrong += differs(g.query_rows, g.relation[pair],
                               s.number("topology_query", t, channel) + s.number("edge_query", e, channel));
              wrong += differs(g.value_rows, g.relation[pair],
                               s.number("topology_value", t, channel) + s.number("edge_value", e, channel));
              wrong += differs(g.key_rows, g.key_relation[pair],
                               s.number("topology_key", t_key, channel) + s.number("edge_key", e_key, channel) +
                                   s.number("content_bias", 0, channel));
              if (s.options().terms.global_bias)
                bias += s.shape.scale * s.number("position_bias", 0, channel) * s.number("topology_query", t, channel);
            }
            if (!classes.masked.empty() && classes.masked(i, j) != 0) bias = cpu::kForbidden;
            if (g.bias != nullptr) wrong += g.bias[pair * s.shape.heads + h] != bias;
            if (g.gate != nullptr) {
              const float gate = s.table(s.gate_owner() + "gate")[static_cast<std::size_t>(t) * s.heads() + h];
              wrong += g.gate[pair * s.shape.heads + h] != (s.options().gate.relu ? std::max(gate, 0.0f) : gate);
            }
          }
        }
      EXPECT_EQ(wrong, 0u) << of.name << ", molecule " << b;
      EXPECT_EQ(g.gate != nullptr, s.options().gate.enabled);
    }
  }
}

/// The gradients of all tables in plain loops, from slopes in the kernel's layout.
template <class T>
std::map<std::string, std::vector<T>> scattered(const Tables& s, const std::vector<cpu::AttentionGradient>& slopes) {
  std::map<std::string, std::vector<T>> to;
  for (const auto& [name, values] : s.numbers) to[name].resize(values.size());
  const std::string owner = s.relation_owner();
  const std::size_t heads = s.heads(), d = s.shape.head_width, width = s.shape.width;
  const auto add_row = [&](const char* name, std::size_t row, const float* from) {
    const auto found = to.find(owner + name);
    if (found == to.end() || from == nullptr) return;
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t x = 0; x < d; ++x) found->second[row * width + h * d + x] += from[x * s.shape.heads + h];
  };
  std::vector<T> by_class(s.shape.topology_classes * heads);
  for (std::size_t b = 0; b < s.pack.size(); ++b) {
    const cpu::MoleculeRelations& of = s.pack.molecules[b];
    const auto row = [&](float* rows, std::size_t m) { return rows == nullptr ? nullptr : rows + m * s.shape.inner; };
    for (std::size_t m = 0; m < of.count(); ++m) {
      add_row("topology_query", of.topology[m], row(slopes[b].dquery_rows, m));
      add_row("edge_query", of.edge[m], row(slopes[b].dquery_rows, m));
      add_row("topology_key", of.topology[m], row(slopes[b].dkey_rows, m));
      add_row("edge_key", of.edge[m], row(slopes[b].dkey_rows, m));
      add_row("content_bias", 0, row(slopes[b].dkey_rows, m));
      add_row("topology_value", of.topology[m], row(slopes[b].dvalue_rows, m));
      add_row("edge_value", of.edge[m], row(slopes[b].dvalue_rows, m));
    }
    for (std::size_t p = 0; p < of.tokens * of.tokens; ++p) {
      const std::size_t t = of.topology[s.pack.relation[of.first_pair + p]];
      for (std::size_t h = 0; h < heads; ++h) {
        if (slopes[b].dbias != nullptr) by_class[t * heads + h] += slopes[b].dbias[p * s.shape.heads + h];
        if (slopes[b].dgate == nullptr) continue;
        const float gate = s.table(s.gate_owner() + "gate")[t * heads + h];
        if (gate > 0 || !s.options().gate.relu)
          to.at(s.gate_owner() + "gate")[t * heads + h] += slopes[b].dgate[p * s.shape.heads + h];
      }
    }
  }
  for (std::size_t t = 0; t < s.shape.topology_classes; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      if (const auto found = to.find(owner + "spatial"); found != to.end())
        found->second[s.bias_row(static_cast<int>(t)) * heads + h] += by_class[t * heads + h];
      for (std::size_t x = 0; x < d && s.options().terms.global_bias; ++x) {
        const T slope = static_cast<T>(s.shape.scale) * by_class[t * heads + h];
        to.at(owner + "position_bias")[h * d + x] +=
            slope * static_cast<T>(s.number("topology_query", static_cast<int>(t), h * d + x));
        to.at(owner + "topology_query")[t * width + h * d + x] +=
            slope * static_cast<T>(s.number("position_bias", 0, h * d + x));
      }
    }
  return to;
}

TEST(Tables, GradientsAreScatteredToTheirRows) {
  for (const PlanCase& of : plan_cases()) {
    Tables s(of);
    s.terms.clear_gradients();
    s.terms.clear_gate_gradients();
    Numbers01 random(5);
    std::vector<float> flat(s.weights.layout().size(), 0.0f);
    std::vector<cpu::AttentionGradient> slopes(s.pack.size());
    for (std::size_t b = 0; b < slopes.size(); ++b) {
      s.terms.fill(s.relations(), s.pack, b, flat.data(), slopes[b]);
      const std::size_t rows = s.pack.molecules[b].count() * s.shape.inner,
                        pairs = s.pack.molecules[b].tokens * s.pack.molecules[b].tokens;
      for (float* to : {slopes[b].dquery_rows, slopes[b].dkey_rows, slopes[b].dvalue_rows})
        for (std::size_t i = 0; to != nullptr && i < rows; ++i) to[i] = random.next();
      for (float* to : {slopes[b].dbias, slopes[b].dgate})
        for (std::size_t i = 0; to != nullptr && i < pairs * s.shape.heads; ++i) to[i] = random.next();
    }
    const auto expected = scattered<double>(s, slopes);
    const auto plain = scattered<float>(s, slopes);
    s.terms.add_gradients(s.relations(), s.pack, flat.data(), nullptr);
    s.terms.add_gate_gradients(s.gates(), s.pack, flat.data(), nullptr);
    std::map<std::string, std::vector<float>> got;
    for (const auto& [name, values] : s.numbers) got[name].resize(values.size());
    s.weights.add_gradients(
        flat.data(), [&](const std::string& name) { return got.at(name).data(); }, 1);
    for (const auto& [name, values] : expected) {
      Errors errors;
      for (std::size_t i = 0; i < values.size(); ++i) errors.add(values[i], got.at(name)[i], plain.at(name)[i]);
      errors.expect_small(of.name + ", " + name);
    }
  }
}

}  // namespace
}  // namespace molgraph::test

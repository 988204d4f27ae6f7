// Every preset of --encoding compared with the formula of its paper, written out by hand for a chain of three atoms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attention/formula/layers.hpp"
#include "attention/formula/model.hpp"
#include "attention/spec/encodings.hpp"
#include "featurize/graph/error.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

using formula::Matrix;

constexpr std::int64_t kTokens = 4, kWidth = 6;
constexpr int kHeads = 2, kHeadWidth = 3, kSteps = 2, kHops = 2;
constexpr int kLongest = 1;  // the two ends are FAR

/// The chain a - b = c after the virtual node. The atoms have types 0, 1 and 2.
GraphBatch chain_of_three() {
  MolecularGraph graph;
  graph.features = Features::zinc;
  graph.atoms = {0, 1, 2};
  graph.bond_atoms = {0, 1, 1, 2};
  graph.bonds = {1, 2};
  return batch_of_cases({{"chain_of_three", graph}});
}

// The classes of the pairs of this molecule, derived by hand.
constexpr int kFar = 2, kToVirtual = 4, kFromVirtual = 5, kVirtualSelf = 6;
constexpr int kClass[kTokens][kTokens] = {{kVirtualSelf, kFromVirtual, kFromVirtual, kFromVirtual},
                                          {kToVirtual, 0, 1, kFar},
                                          {kToVirtual, 1, 0, 1},
                                          {kToVirtual, kFar, 1, 0}};
constexpr int kNoEdge = 4, kSelf = 5, kVirtualPair = 6, kVirtualEdge = 7;
constexpr int kBond[kTokens][kTokens] = {{kVirtualEdge, kVirtualPair, kVirtualPair, kVirtualPair},
                                         {kVirtualPair, kSelf, 1, kNoEdge},
                                         {kVirtualPair, 1, kSelf, 2},
                                         {kVirtualPair, kNoEdge, 2, kSelf}};
// Table rows by degree (row 16 is the virtual node's), and return probabilities after one and two steps of a random
// walk.
constexpr int kPlaceRow[kTokens] = {16, 1, 2, 1};
constexpr double kWalk[kTokens][kSteps] = {{0, 0}, {0, 0.5}, {0, 1}, {0, 0.5}};
// Probabilities that a walk from token i is at token j after one and two steps.
constexpr double kWalks[kTokens][kTokens][kSteps] = {{{0, 0}, {0, 0}, {0, 0}, {0, 0}},
                                                     {{0, 0}, {0, 0.5}, {1, 0}, {0, 0.5}},
                                                     {{0, 0}, {0.5, 0}, {0, 1}, {0.5, 0}},
                                                     {{0, 0}, {0, 0.5}, {1, 0}, {0, 0.5}}};

// The bond types on the path from token i to token j.
const std::vector<int> kPath[kTokens][kTokens] = {
    {{}, {}, {}, {}}, {{}, {}, {1}, {1, 2}}, {{}, {1}, {}, {2}}, {{}, {2, 1}, {2}, {}}};

/// A model of one layer. The layer's output is its input plus the attention's z.
struct OneLayer {
  OneLayer(const Encoding& encoding, bool gated)
      : plan(make_plan(encoding, gated)), parameters(make_parameters(plan)) {}

  static ModelPlan make_plan(const Encoding& encoding, bool gated) {
    ModelOptions o = small_model(encoding, Features::zinc);
    o.encoder.layers = 1;
    o.encoder.width = kWidth;
    o.encoder.heads = kHeads;
    if (o.encoder.position_dim > 0) o.encoder.position_dim = kSteps;
    o.encoder.gate.enabled = gated;
    o.max_distance = kLongest;
    if (o.path_bias) o.path_hops = kHops;
    return model_plan(o);
  }

  static formula::Parameters make_parameters(const ModelPlan& plan) {
    const ParameterList list = parameters_of(plan);
    const Numbers numbers = parameter_numbers(list, 1.0);
    formula::Parameters p(list, [&](const std::string& name) { return numbers.at(name).data(); });
    const auto fill = [&](const std::string& name, bool unit) {
      Matrix& m = p.at("encoder.layers.0." + name);
      for (std::int64_t i = 0; i < m.rows; ++i)
        for (std::int64_t j = 0; j < m.columns; ++j) m(i, j) = unit && i == j ? 1.0 : 0.0;
    };
    fill("ffn.linear2.weight", false);
    fill("ffn.linear2.bias", false);
    fill("attention.output.weight", true);
    fill("attention.output.bias", false);
    return p;
  }

  /// An element of a table that belongs to the encoder or to its only layer.
  double at(const std::string& name, std::int64_t row, std::int64_t column) const {
    const Matrix& shared = parameters["encoder." + name];
    return (shared.empty() ? parameters.at("encoder.layers.0." + name) : shared)(row, column);
  }

  ModelPlan plan;
  formula::Parameters parameters;
};

/// The encoding to which a "-walk" preset adds walks.
std::string base_of(std::string_view name) {
  return std::string(name.ends_with("-walk") && name != "random-walk" ? name.substr(0, name.size() - 5) : name);
}
bool has_walks(const OneLayer& m) { return m.plan.encoder.terms.walk_bias; }

/// P_Q or P_K of a token, element c of all heads.
double place(const OneLayer& m, const std::string& side, std::int64_t i, std::int64_t c) {
  double value = m.at("absolute." + side + "_row", kPlaceRow[i], c);
  for (int t = 0; t < kSteps; ++t) value += kWalk[i][t] * m.at("absolute." + side + "_walk", t, c);
  return value;
}

/// Ying et al. 2021, eq. 7: the mean over the path's bonds of their embedding times their hop's weight.
double path(const OneLayer& m, std::int64_t i, std::int64_t j, int h) {
  const Matrix &bond = m.parameters.at("path.bond"), &weight = m.parameters.at("path.hop_weight");
  double sum = 0;
  for (std::size_t hop = 0; hop < kPath[i][j].size(); ++hop)
    for (int in = 0; in < kHeads; ++in)
      sum += bond(kPath[i][j][hop], in) * weight(static_cast<std::int64_t>(hop) * kHeads + in, h);
  return kPath[i][j].empty() ? 0 : sum / static_cast<double>(kPath[i][j].size());
}

/// s_ij of head h by the formula of the preset's paper.
double score(const std::string& name, const OneLayer& m, const Matrix& q, const Matrix& k, std::int64_t i,
             std::int64_t j, int h) {
  const int t = kClass[i][j], reversed = kClass[j][i], e = kBond[i][j];
  double content = 0, position = 0;
  for (int c = h * kHeadWidth; c < (h + 1) * kHeadWidth; ++c) {
    content += q(i, c) * k(j, c);
    if (name == "shaw") position += q(i, c) * m.at("topology_query", t, c);
    if (name == "deberta")
      position += q(i, c) * m.at("topology_query", t, c) + k(j, c) * m.at("topology_key", reversed, c);
    if (name == "transformer-xl") {
      const double r = m.at("topology_query", t, c);
      position += q(i, c) * r + m.at("content_bias", 0, c) * k(j, c) + m.at("position_bias", 0, c) * r;
    }
    if (name == "grpe")
      position += q(i, c) * (m.at("topology_query", t, c) + m.at("edge_query", e, c)) +
                  k(j, c) * (m.at("topology_key", t, c) + m.at("edge_key", e, c));
    for (int step = 0; has_walks(m) && step < kSteps; ++step)
      position += kWalks[i][j][step] * (q(i, c) * m.at("walk_query", step, c) + k(j, c) * m.at("walk_key", step, c));
  }
  double s = (content + position) / std::sqrt(name == "deberta" ? 3.0 * kHeadWidth : 1.0 * kHeadWidth);
  if (name == "t5" || name == "diet-rel" || name == "tupe") s += m.at("spatial", t, h);
  if (name == "graphormer") s += m.at("spatial", std::min(t, kToVirtual), h) + path(m, i, j, h);
  if (name == "diet-abs" || name == "tupe")
    for (int c = h * 64; c < (h + 1) * 64; ++c) s += place(m, "query", i, c) * place(m, "key", j, c);
  for (int step = 0; has_walks(m) && step < kSteps; ++step) s += kWalks[i][j][step] * m.at("walk.weight", step, h);
  if (name == "resistance") {
    s += m.at("spatial", t, h);
    const double r = std::abs(static_cast<double>(i - j));  // in a chain, the resistance is the distance
    for (int c = 0; c < kSteps && i > 0 && j > 0; ++c) {
      const double deviation = std::abs(m.at("resistance.width", 0, c)) + 0.01,
                   z = (r - m.at("resistance.mean", 0, c)) / deviation;
      s += m.at("resistance.weight", c, h) * std::exp(-z * z / 2) / (deviation * std::sqrt(2 * std::acos(-1.0)));
    }
  }
  return s;
}

/// The term that is added to v_j.
double value_term(const std::string& name, const OneLayer& m, std::int64_t i, std::int64_t j, int c) {
  if (name == "shaw") return m.at("topology_value", kClass[i][j], c);
  double value = 0;
  if (name == "grpe") value = m.at("topology_value", kClass[i][j], c) + m.at("edge_value", kBond[i][j], c);
  for (int step = 0; has_walks(m) && step < kSteps; ++step) value += kWalks[i][j][step] * m.at("walk_value", step, c);
  return value;
}

/// The layer's output for its input, by the paper's formula.
Matrix by_hand(const std::string& name, const OneLayer& m, const Matrix& input, bool gated) {
  const std::string own = "encoder.layers.0.";
  const Matrix normed = formula::layer_norm(input, m.parameters, own + "attention_norm");
  const auto linear = [&](const char* part) {
    return formula::linear(normed, m.parameters, own + "attention." + part);
  };
  const Matrix q = linear("query"), k = linear("key"), v = linear("value");
  Matrix out = input;
  for (int h = 0; h < kHeads; ++h)
    for (std::int64_t i = 0; i < kTokens; ++i) {
      double sum = 0, weight[kTokens];
      for (std::int64_t j = 0; j < kTokens; ++j) sum += weight[j] = std::exp(score(name, m, q, k, i, j, h));
      for (std::int64_t j = 0; j < kTokens; ++j) {
        double gate = gated ? m.at("gate", kClass[i][j], h) : 1.0;
        for (int step = 0; gated && has_walks(m) && step < kSteps; ++step)
          gate += kWalks[i][j][step] * m.at("gate_walk.weight", step, h);
        const double w = weight[j] / sum * gate;
        for (int c = h * kHeadWidth; c < (h + 1) * kHeadWidth; ++c)
          out(i, c) += w * (v(j, c) + value_term(name, m, i, j, c));
      }
    }
  return out;
}

/// The node input of every preset: embedded atoms, degrees with Graphormer, positions.
Matrix input_by_hand(const std::string& name, const OneLayer& m, const Matrix& got) {
  const auto& p = m.parameters;
  Matrix x(kTokens, kWidth);
  for (std::int64_t c = 0; c < kWidth; ++c) {
    x(0, c) = p.at("node.virtual_node")(0, c);
    for (std::int64_t i = 1; i < kTokens; ++i) x(i, c) = p.at("node.atom")(i - 1, c);
    for (std::int64_t i = 1; name == "graphormer" && i < kTokens; ++i)
      x(i, c) += p.at("in_degree")(kPlaceRow[i], c) + p.at("out_degree")(kPlaceRow[i], c);
    for (std::int64_t i = 1; (name == "random-walk" || has_walks(m)) && i < kTokens; ++i)
      for (int t = 0; t < kSteps; ++t) x(i, c) += kWalk[i][t] * m.at("position.weight", c, t);
  }
  if (name != "laplacian") return x;
  // The chain has eigenvalues 0, 1, 2, so the vectors are (1, 0, -1)/sqrt 2 and (1, -sqrt 2, 1)/2. The implementation
  // chooses the signs.
  const double r = std::sqrt(0.5), vectors[kTokens][kSteps] = {{0, 0}, {r, 0.5}, {0, -r}, {-r, 0.5}};
  Matrix best;
  double least = 1e9;
  for (const double first : {1.0, -1.0})
    for (const double second : {1.0, -1.0}) {
      Matrix y = x;
      double difference = 0;
      for (std::int64_t i = 0; i < kTokens; ++i)
        for (std::int64_t c = 0; c < kWidth; ++c) {
          y(i, c) += first * vectors[i][0] * m.at("position.weight", c, 0) +
                     second * vectors[i][1] * m.at("position.weight", c, 1);
          difference += std::abs(y(i, c) - got(i, c));
        }
      if (difference < least) {
        least = difference;
        best = y;
      }
    }
  return best;
}

void expect_near(const Matrix& got, const Matrix& expected, const char* what) {
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (std::size_t k = 0; k < expected.values.size(); ++k)
    EXPECT_NEAR(got.values[k], expected.values[k], 1e-12) << what << ", number " << k;
}

class EveryEncoding : public testing::TestWithParam<Encoding> {};

TEST_P(EveryEncoding, MatchesThePapersFormula) {
  const std::string name = base_of(GetParam().name);
  for (const bool gated : {false, true}) {
    const OneLayer m(GetParam(), gated);
    const std::vector<Matrix> states = formula::run(m.plan, chain_of_three(), 0, m.parameters).states;
    expect_near(states[0], input_by_hand(name, m, states[0]), "input");
    expect_near(states[1], by_hand(name, m, states[0], gated), gated ? "output with gate" : "output without gate");
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, EveryEncoding, testing::ValuesIn(encodings().begin(), encodings().end()),
                         [](const auto& instance) {
                           std::string name(instance.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Encodings, UnknownNameFailsWithTheListOfNames) {
  EXPECT_EQ(encoding_from_string("tupe").name, "tupe");
  try {
    encoding_from_string("rope");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("transformer-xl"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace molgraph::test

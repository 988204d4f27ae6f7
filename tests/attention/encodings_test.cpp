// Every preset of --encoding against its formula, written out by hand on a molecule of three atoms in a row.
#include <gtest/gtest.h>

#include <cmath>

#include "featurize/graph/error.hpp"
#include "attention/reference/encoder.hpp"
#include "attention/spec/encodings.hpp"
#include "attention/reference/relation_classes.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

constexpr std::int64_t kTokens = 4, kWidth = 6;
constexpr int kHeads = 2, kHeadWidth = 3, kSteps = 2;
constexpr int kLongest = 1;   // the two ends are FAR
constexpr TopologyClasses kTopology{kLongest};
constexpr EdgeClasses kEdge{4};

/// a - b = c, and the virtual node in front.
GraphBatch three_in_a_row() {
  MolecularGraph graph;
  graph.features = Features::zinc;
  graph.atoms = {0, 1, 2};
  graph.bond_atoms = {0, 1, 1, 2};
  graph.bonds = {1, 2};
  const GraphView view = graph.view();
  const std::int64_t row = 0;
  return pack({&view, 1}, {&row, 1});
}

// The classes of the pairs of the molecule above, by hand.
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
// Degrees, and probabilities to be back after one and two steps of a random walk; row 16 is the virtual node's.
constexpr int kPlaceRow[kTokens] = {16, 1, 2, 1};
constexpr double kWalk[kTokens][kSteps] = {{0, 0}, {0, 0.5}, {0, 1}, {0, 0.5}};

/// An encoder of one layer whose output is its input plus the attention's z.
struct OneLayer {
  explicit OneLayer(const Encoding& encoding, bool gated) {
    options = {.layers = 1, .width = kWidth, .ffn = 2, .heads = kHeads};
    set_encoding(options, encoding);
    if (options.position_dim > 0) options.position_dim = kSteps;
    options.gate.enabled = gated;
    torch::manual_seed(11);
    parameters = std::make_unique<ParameterTree>(encoder_parameters(options, kTopology.count(), kEdge.count(), Features::zinc));
    parameters->to(torch::kFloat64);
    torch::NoGradGuard no_grad;
    for (auto& item : parameters->named_parameters()) {
      item.value().copy_(torch::randn(item.value().sizes(), torch::kFloat64));
      if (item.key().find("ffn.linear2") != std::string::npos) item.value().zero_();
      if (item.key() == "layers.0.attention.output.weight") item.value().copy_(torch::eye(kWidth, torch::kFloat64));
      if (item.key() == "layers.0.attention.output.bias") item.value().zero_();
    }
    x = torch::randn({kTokens, kWidth}, torch::kFloat64);
    path = torch::randn({kTokens * kTokens, kHeads}, torch::kFloat64);
  }

  /// A parameter of the encoder or, per layer, of its only block.
  Tensor operator[](const std::string& name) const {
    return (*parameters)[parameters->specs().find(name) != nullptr ? name : "layers.0." + name];
  }
  double at(const std::string& name, std::int64_t row, std::int64_t column) const {
    return (*this)[name][row][column].item<double>();
  }

  EncoderOptions options;
  std::unique_ptr<ParameterTree> parameters;
  Tensor x, path;
};

/// P_Q or P_K of a token, element c of all heads.
double place(const OneLayer& m, const std::string& side, std::int64_t i, std::int64_t c) {
  double value = m.at("absolute." + side + "_row", kPlaceRow[i], c);
  for (int t = 0; t < kSteps; ++t) value += kWalk[i][t] * m.at("absolute." + side + "_walk", t, c);
  return value;
}

/// s_ij of head h as the preset's paper has it; q and k are rows of all heads.
double score(const std::string& name, const OneLayer& m, const Tensor& q, const Tensor& k, std::int64_t i,
             std::int64_t j, int h) {
  const auto element = [](const Tensor& rows, std::int64_t row, int c) { return rows[row][c].item<double>(); };
  const int t = kClass[i][j], reversed = kClass[j][i], e = kBond[i][j];
  double content = 0, position = 0;
  for (int c = h * kHeadWidth; c < (h + 1) * kHeadWidth; ++c) {
    const double qc = element(q, i, c), kc = element(k, j, c);
    content += qc * kc;
    if (name == "shaw") position += qc * m.at("topology_query", t, c);
    if (name == "deberta") position += qc * m.at("topology_query", t, c) + kc * m.at("topology_key", reversed, c);
    if (name == "transformer-xl") {
      const double r = m.at("topology_query", t, c);
      position += qc * r + m["content_bias"][c].item<double>() * kc + m["position_bias"][c].item<double>() * r;
    }
    if (name == "grpe")
      position += qc * (m.at("topology_query", t, c) + m.at("edge_query", e, c)) +
                  kc * (m.at("topology_key", t, c) + m.at("edge_key", e, c));
  }
  double s = (content + position) / std::sqrt(name == "deberta" ? 3.0 * kHeadWidth : 1.0 * kHeadWidth);
  if (name == "t5" || name == "diet-rel" || name == "tupe") s += m.at("spatial", t, h);
  if (name == "graphormer") s += m.at("spatial", std::min(t, kToVirtual), h) + m.path[i * kTokens + j][h].item<double>();
  if (name == "diet-abs" || name == "tupe") {
    for (int c = h * 64; c < (h + 1) * 64; ++c) s += place(m, "query", i, c) * place(m, "key", j, c);
  }
  if (name == "resistance") {
    s += m.at("spatial", t, h);
    const double r = std::abs(static_cast<double>(i - j));   // in a row of atoms the distance
    for (int c = 0; c < kSteps && i > 0 && j > 0; ++c) {
      const double deviation = std::abs(m["resistance.width"][c].item<double>()) + 0.01, z = (r - m["resistance.mean"][c].item<double>()) / deviation;
      s += m.at("resistance.weight", c, h) * std::exp(-z * z / 2) / (deviation * std::sqrt(2 * std::acos(-1.0)));
    }
  }
  return s;
}

/// What stands beside v_j.
double value_term(const std::string& name, const OneLayer& m, std::int64_t i, std::int64_t j, int c) {
  if (name == "shaw") return m.at("topology_value", kClass[i][j], c);
  if (name == "grpe") return m.at("topology_value", kClass[i][j], c) + m.at("edge_value", kBond[i][j], c);
  return 0;
}

/// The layer's output by the formula.
Tensor by_hand(const std::string& name, const OneLayer& m, const Tensor& input, bool gated) {
  const Tensor normed = torch::layer_norm(input, {kWidth}, m["layers.0.attention_norm.weight"], m["layers.0.attention_norm.bias"], 1e-5);
  const auto linear = [&](const std::string& part) {
    return torch::linear(normed, m["layers.0.attention." + part + ".weight"], m["layers.0.attention." + part + ".bias"]);
  };
  const Tensor q = linear("query"), k = linear("key"), v = linear("value"), out = input.clone();
  for (int h = 0; h < kHeads; ++h) {
    for (std::int64_t i = 0; i < kTokens; ++i) {
      double sum = 0, weight[kTokens];
      for (std::int64_t j = 0; j < kTokens; ++j) sum += weight[j] = std::exp(score(name, m, q, k, i, j, h));
      for (std::int64_t j = 0; j < kTokens; ++j) {
        const double w = weight[j] / sum * (gated ? m.at("gate", kClass[i][j], h) : 1.0);
        for (int c = h * kHeadWidth; c < (h + 1) * kHeadWidth; ++c)
          out[i][c] += w * (v[j][c].item<double>() + value_term(name, m, i, j, c));
      }
    }
  }
  return out;
}

/// The node input of laplacian and random-walk.
Tensor input_of(const std::string& name, const OneLayer& m, const GraphBatch& batch) {
  if (name == "random-walk") {
    return m.x + torch::matmul(torch::from_blob(const_cast<double*>(&kWalk[0][0]), {kTokens, kSteps}, torch::kFloat64),
                               m["position.weight"].t());
  }
  if (name != "laplacian") return m.x;
  // Eigenvalues 0, 1, 2 of the path; the signs are the implementation's choice.
  const Tensor chosen = node_positions(batch, NodePosition::laplacian, kSteps, {}, torch::kFloat64);
  const double r = std::sqrt(0.5);
  const Tensor vectors = torch::tensor({0.0, 0.0, r, 0.5, 0.0, -r, -r, 0.5}, torch::kFloat64).view({kTokens, kSteps});
  const Tensor signs = (chosen * vectors).sum(0).sign();
  return m.x + torch::matmul(vectors * signs, m["position.weight"].t());
}

class EveryEncoding : public testing::TestWithParam<Encoding> {};

TEST_P(EveryEncoding, IsItsFormula) {
  torch::NoGradGuard no_grad;
  const std::string name(GetParam().name);
  const GraphBatch batch = three_in_a_row();
  for (const bool gated : {false, true}) {
    OneLayer m(GetParam(), gated);
    std::vector<Tensor> kept;
    const PairValues path{.dense = GetParam().path_bias ? m.path : Tensor()};
    Encoder(m.options, *m.parameters)
        .forward(m.x, batch, relation_classes(batch, class_rule(batch.features, kLongest)), {.keep_layers = {1}}, &kept, path);
    const Tensor expected = by_hand(name, m, input_of(name, m, batch), gated);
    EXPECT_LT((kept.at(0) - expected).abs().max().item<double>(), 1e-12) << (gated ? "with the gate" : "without");
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, EveryEncoding, testing::ValuesIn(encodings().begin(), encodings().end()),
                         [](const auto& instance) {
                           std::string name(instance.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Encodings, UnknownNamesAreRefusedWithTheList) {
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

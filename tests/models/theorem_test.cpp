// Luo et al. 2022, Theorem 2, on the whole encoder: with identical inputs at every token, any terms before the softmax
// give identical outputs at every position in every layer. With the gate, the outputs differ.
#include <gtest/gtest.h>

#include "attention/reference/encoder.hpp"
#include "attention/reference/relation_classes.hpp"
#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"

namespace molgraph::test {
namespace {

/// The premise of the theorem: no value terms, no absolute positions in the input.
bool has_premise(const Encoding& e) {
  return !e.terms.topology_value && !e.terms.edge_value && e.position == NodePosition::none;
}

/// The largest difference between an output token and the first one.
double spread_of(const Encoding& encoding, const GateOptions& gate, bool share) {
  EncoderOptions e{.layers = 3, .width = 12, .ffn = 10, .heads = 3};
  set_encoding(e, encoding);
  e.gate = gate;
  e.share_encodings = share;
  torch::manual_seed(8);
  ParameterTree parameters(encoder_parameters(e, TopologyClasses{3}.count(), EdgeClasses{60}.count(), Features::ogb));
  parameters.to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  for (auto& item : parameters.named_parameters()) item.value().add_(torch::randn_like(item.value()), 0.5);
  const std::vector<MolecularGraph> graphs{random_graph(15, 6), cubane(), salt()};
  std::vector<GraphView> views;
  for (const auto& graph : graphs) views.push_back(graph.view());
  const GraphBatch batch = pack(views, std::vector<std::int64_t>{0, 1, 2}, {.paths = true});
  const torch::Tensor path =
      encoding.path_bias ? torch::randn({batch.num_pairs(), 3}, torch::kFloat64) : torch::Tensor();
  const torch::Tensor x = torch::randn({1, 12}, torch::kFloat64).expand({batch.num_tokens(), -1}).contiguous();
  const RelationClasses classes = relation_classes(batch, class_rule(batch.features, 3));
  const torch::Tensor out = Encoder(e, parameters).forward(x, batch, classes, {}, nullptr, {.dense = path});
  return largest(out - out.narrow(0, 0, 1));
}

TEST(Theorem2, HoldsForEveryEncodingBeforeSoftmax) {
  int checked = 0;
  for (const Encoding& encoding : encodings()) {
    if (!has_premise(encoding)) continue;
    ++checked;
    for (const bool share : {false, true}) {
      EXPECT_LT(spread_of(encoding, {}, share), 1e-12) << encoding.name;
      EXPECT_GT(spread_of(encoding, {.enabled = true}, share), 1e-2) << encoding.name;
      EXPECT_GT(spread_of(encoding, {.enabled = true, .relu = true, .per_layer = true, .path_hops = 2}, share), 1e-2)
          << encoding.name;
    }
  }
  EXPECT_EQ(checked, 9);  // all but shaw, grpe (values), laplacian, random-walk (input)
}

TEST(Theorem2, DoesNotHoldWithValueTermsOrAbsoluteInputs) {
  for (const Encoding& encoding : encodings()) {
    if (has_premise(encoding)) continue;
    EXPECT_GT(spread_of(encoding, {}, true), 1e-2) << encoding.name;
  }
}

}  // namespace
}  // namespace molgraph::test

// Tests of the whole GRPE: its invariances, the noise, and the table rows that the published code shares
// (docs/models/formula.md section 6).
#include "grpe/architecture.hpp"

#include "attention/reference/node_input.hpp"
#include "tests/graphormer/model_checks.hpp"

namespace molgraph::test {
namespace {

ModelOptions small() {
  ModelOptions options = grpe_architecture().defaults;
  EncoderOptions& e = options.encoder;
  e.layers = 2, e.width = 12, e.ffn = 10, e.heads = 3;
  e.activation_dropout = 0.1, e.input_dropout = 0.1;
  options.max_distance = 3;
  options.head.last_mlp = 1;
  options.perturb_noise = 0.2;
  return options;
}

ModelOptions gated() {
  ModelOptions options = small();
  options.encoder.gate.enabled = true;
  return options;
}

TEST(Grpe, InvariantUnderRenumbering) {
  for (const bool published : {false, true}) {
    ModelOptions options = gated();
    options.published_classes = published;
    options.encoder.key_term = published ? KeyTerm::row : KeyTerm::column;
    GraphModel model(options);
    randomise(model);
    expect_renumbering_invariance(model);
  }
}

TEST(Grpe, IndependentOfBatchComposition) {
  GraphModel model(gated());
  randomise(model);
  expect_batch_independence(model);
}

TEST(Grpe, UnusualMoleculesGiveFiniteResults) {
  GraphModel model(gated());
  randomise(model);
  expect_unusual_molecules(model);
}

TEST(Grpe, GradientsMatchFiniteDifferences) {
  for (const KeyTerm key_term : {KeyTerm::column, KeyTerm::row}) {
    ModelOptions options = gated();
    options.encoder.key_term = key_term;
    GraphModel model(options);
    randomise(model);
    expect_gradients(model);
  }
}

TEST(Grpe, PredictionsAreInTargetUnits) {
  GraphModel model(small());
  randomise(model);
  expect_target_scaling(model);
}

TEST(Grpe, NoiseAffectsOnlyAtomsAndOnlyTraining) {
  ModelOptions options = small();
  options.encoder.input_dropout = 0.0;
  GraphModel model(options);
  randomise(model);
  const GraphBatch batch = batch_for(model, {chain_of(30), chain_of(30)});
  torch::NoGradGuard no_grad;
  const auto input = [&](bool training, std::uint32_t step) {
    return model.run(batch, {.training = training, .seed = 3, .step = step, .keep_layers = {0}}).layers.at(0);
  };
  const torch::Tensor noise_free = input(false, 0);
  EXPECT_EQ(largest(input(false, 1) - noise_free), 0.0);
  const torch::Tensor noise = input(true, 0) - noise_free;
  const torch::Tensor tokens = virtual_tokens(batch);
  EXPECT_EQ(largest(noise.index_select(0, tokens)), 0.0);
  EXPECT_EQ(noise.count_nonzero().item<std::int64_t>(), 60 * 12);
  EXPECT_LE(largest(noise), 0.2);
  EXPECT_GT(largest(noise), 0.19);
  EXPECT_NEAR(noise.slice(0, 1, 31).mean().item<double>(), 0.0, 0.02);
  EXPECT_GT(largest(input(true, 1) - noise_free - noise), 0.1);             // different noise in another step
  EXPECT_GT(largest(noise.slice(0, 1, 31) - noise.slice(0, 32, 62)), 0.1);  // and in another row of the dataset

  options.perturb_noise = 0.0;
  GraphModel without_noise(options);
  randomise(without_noise);
  EXPECT_EQ(largest(without_noise.run(batch, {.training = true, .keep_layers = {0}}).layers.at(0) - noise_free), 0.0);
}

TEST(Grpe, NodeInputMatchesHandCalculation) {
  GraphModel model(small());
  randomise(model);
  const torch::Tensor input = model.run(batch_for(model, {chain_of(3)}), {.keep_layers = {0}}).layers.at(0);
  torch::Tensor columns = torch::zeros({12}, torch::kFloat64);  // in graph_of, all columns except the first are 0
  int row = 0;
  const FeatureShape& shape = feature_shape(Features::ogb);
  for (int c = 0; c + 1 < shape.atom_columns; ++c) columns = columns + model["node.atom"][row += shape.atom_dims[c]];
  EXPECT_LT(largest(input[0] - model["node.virtual_node"]), kExact);
  for (int a = 0; a < 3; ++a) EXPECT_LT(largest(input[1 + a] - model["node.atom"][a] - columns), kExact) << a;
}

TEST(Grpe, PublishedClassesMatchHandCalculation) {
  // L = 2: 0 1 2 FAR UNREACHABLE ATOM_TO_VIRTUAL VIRTUAL_TO_ATOM VIRTUAL_SELF
  // 4 bond ids, NO_EDGE, SELF, VIRTUAL, VIRTUAL_SELF
  const ClassMaps zinc = grpe_architecture().published_classes(Features::zinc, 2);
  EXPECT_EQ(zinc.topology, (std::vector<std::int64_t>{0, 1, 2, 2, 4, 5, 5, 0}));
  EXPECT_EQ(zinc.edge, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 4, 6, 4}));

  const ClassMaps ogb = grpe_architecture().published_classes(Features::ogb, 5);
  EXPECT_EQ(ogb.topology, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 5, 7, 8, 8, 0}));
  ASSERT_EQ(ogb.edge.size(), 64u);
  const auto published = [&](std::uint8_t type, std::uint8_t stereo, std::uint8_t conjugated) {
    const std::uint8_t columns[3] = {type, stereo, conjugated};
    return ogb.edge[static_cast<std::size_t>(bond_id(Features::ogb, columns))];
  };
  EXPECT_EQ(published(0, 0, 0), 0);
  EXPECT_EQ(published(1, 0, 0), 1);
  EXPECT_EQ(published(0, 1, 0), 4);
  EXPECT_EQ(published(4, 0, 0), 4);   // the rule is not injective
  EXPECT_EQ(published(3, 0, 1), 19);  // aromatic
  EXPECT_EQ(published(1, 2, 1), 25);
  EXPECT_EQ(published(4, 5, 1), 40);
  const std::vector<std::int64_t> named(ogb.edge.begin() + 60, ogb.edge.end());
  EXPECT_EQ(named, (std::vector<std::int64_t>{60, 60, 62, 60}));
}

TEST(Grpe, PublishedClassesShareTableRows) {
  ModelOptions options = small();
  options.published_classes = true;
  GraphModel model(options);
  options.published_classes = false;
  GraphModel own(options);
  randomise(model);
  randomise(own);
  const torch::Tensor value = predict(model, assorted());
  EXPECT_GT(largest(predict(own, assorted()) - value), 1e-6);
  const TopologyClasses topology{3};
  const EdgeClasses edge{60};
  torch::NoGradGuard no_grad;
  for (const int row : {topology.far(), topology.virtual_to_atom(), topology.virtual_self()})
    model["encoder.topology_query"][row] += 5.0;
  for (const int row : {edge.self(), edge.virtual_self(), 59}) model["encoder.edge_value"][row] += 5.0;
  EXPECT_EQ(largest(predict(model, assorted()) - value), 0.0);
  model["encoder.topology_query"][topology.atom_to_virtual()] += 5.0;
  EXPECT_GT(largest(predict(model, assorted()) - value), 1e-6);
}

TEST(Grpe, FreshParametersFollowThePaper) {
  ModelOptions options = grpe_architecture().defaults;
  set_size(*options.architecture, "small", options.encoder);
  torch::manual_seed(1);
  const GraphModel model(options);
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    if (name == "node.virtual_node") {
      EXPECT_EQ(largest(*item), 0.0);
    } else if (name == "node.atom" || name.starts_with("encoder.topology_") || name.starts_with("encoder.edge_")) {
      EXPECT_NEAR(item->std().item<double>(), 1.0, 0.07) << name;
    } else if (name.find("attention.") != std::string::npos || name.find("ffn.") != std::string::npos) {
      EXPECT_LE(largest(*item), 1 / std::sqrt(80.0)) << name;  // uniform in +-1/sqrt(fan_in)
      EXPECT_GT(largest(*item), 0.9 / std::sqrt(80.0)) << name;
    }
  }
}

TEST(Grpe, WeightDecayAppliesOnlyToMatrices) {
  const GraphModel model(gated());
  std::size_t decayed = 0;
  for (const auto& item : model.named_parameters()) {
    if (!model.specs().at(item.key()).decays()) continue;
    ++decayed;
    EXPECT_TRUE(item.key().ends_with(".weight") && item.key().find("norm") == std::string::npos) << item.key();
  }
  EXPECT_EQ(decayed, 2u * 6 + 1 + 1);  // projections and FFN per layer, last_mlp, head
}

}  // namespace
}  // namespace molgraph::test

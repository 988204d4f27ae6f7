// Tests of the whole Graphormer: its invariances and the contribution of each part (docs/models/formula.md section 3).
#include "graphormer/architecture.hpp"

#include "tests/graphormer/model_checks.hpp"

namespace molgraph::test {
namespace {

ModelOptions small() {
  ModelOptions options = graphormer_architecture().defaults;
  EncoderOptions& e = options.encoder;
  e.layers = 2, e.width = 12, e.ffn = 10, e.heads = 3;
  e.activation_dropout = 0.1, e.input_dropout = 0.1;
  options.max_distance = 4;
  options.max_degree = 3;
  options.path_hops = 3;
  return options;
}

ModelOptions gated() {
  ModelOptions options = small();
  options.encoder.gate.enabled = true;
  return options;
}

/// Copies the parameters with equal name and size.
void copy_parameters(GraphModel& to, GraphModel& from) {
  torch::NoGradGuard no_grad;
  const auto source = from.named_parameters();
  for (auto& item : to.named_parameters()) {
    const torch::Tensor* value = source.find(item.key());
    if (value != nullptr && value->sizes() == item->sizes()) item->copy_(*value);
  }
}

TEST(Graphormer, InvariantUnderRenumbering) {
  GraphModel model(gated());
  randomise(model);
  expect_renumbering_invariance(model);
}

TEST(Graphormer, SinglePathRuleDependsOnNumbering) {
  ModelOptions options = small();
  options.path_rule = PathRule::single;
  GraphModel model(options);
  randomise(model);
  const torch::Tensor value = predict(model, {cyclobutane()});
  EXPECT_GT(largest(predict(model, {renumbered(cyclobutane(), {0, 3, 2, 1})}) - value), 1e-6);
}

TEST(Graphormer, IndependentOfBatchComposition) {
  GraphModel model(gated());
  randomise(model);
  expect_batch_independence(model);
}

TEST(Graphormer, UnusualMoleculesGiveFiniteResults) {
  GraphModel model(gated());
  randomise(model);
  expect_unusual_molecules(model);
}

TEST(Graphormer, GradientsMatchFiniteDifferences) {
  for (const bool post_ln : {false, true}) {
    ModelOptions options = gated();
    options.encoder.post_ln = post_ln;
    options.spatial_pos_max = 4;
    options.max_distance = 3;
    GraphModel model(options);
    randomise(model);
    expect_gradients(model);
  }
}

TEST(Graphormer, PredictionsAreInTargetUnits) {
  GraphModel model(small());
  randomise(model);
  expect_target_scaling(model);
}

TEST(Graphormer, TargetScalingIsStoredInBuffers) {
  GraphModel model(small());
  {
    torch::NoGradGuard no_grad;
    model["head.linear.weight"].zero_();
    model["head.linear.bias"].fill_(4.0);
  }
  EXPECT_EQ(predict(model, {cubane()}).item<double>(), 4.0);
  model.set_target_scaling(torch::tensor({10.0}), torch::tensor({2.0}));
  EXPECT_EQ(predict(model, {cubane()}).item<double>(), 18.0);
  // A mean that is large compared with the deviation costs no digits.
  model.set_target_scaling(torch::tensor({-500000.0}, torch::kFloat64), torch::tensor({1e-9}, torch::kFloat64));
  EXPECT_DOUBLE_EQ(predict(model, {cubane()}).item<double>(), -500000.0 + 4e-9);
  EXPECT_EQ(model.named_buffers().size(), 2u);
  EXPECT_THROW(model.set_target_scaling(torch::zeros({2}), torch::ones({2})), c10::Error);
}

TEST(Graphormer, GateOfOnesChangesNothing) {
  GraphModel plain(small()), with_gate(gated());
  randomise(plain);
  randomise(with_gate);
  copy_parameters(with_gate, plain);
  EXPECT_GT(largest(predict(with_gate, assorted()) - predict(plain, assorted())), 1e-6);
  {
    torch::NoGradGuard no_grad;
    with_gate["encoder.gate"].fill_(1.0);
  }
  EXPECT_LT(largest(predict(with_gate, assorted()) - predict(plain, assorted())), kExact);
}

TEST(Graphormer, NodeInputMatchesHandCalculation) {
  GraphModel model(small());
  randomise(model);
  // A star: four bonds around atom 0. Degree 4 uses the row of max_degree = 3.
  const MolecularGraph star = graph_of(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  const GraphBatch batch = batch_for(model, {graph_of(1, {}), star});
  const torch::Tensor input = model.run(batch, {.keep_layers = {0}}).layers.at(0);
  ASSERT_EQ(input.size(0), 2 + 6);
  const auto atom_rows = [&](int first_column) {  // in graph_of, column 0 is the atom's index and the others are 0
    torch::Tensor sum = model["node.atom"][first_column];
    int row = 0;
    const FeatureShape& shape = feature_shape(Features::ogb);
    for (int c = 0; c + 1 < shape.atom_columns; ++c) sum = sum + model["node.atom"][row += shape.atom_dims[c]];
    return sum;
  };
  EXPECT_LT(largest(input[0] - model["node.virtual_node"]), kExact);
  EXPECT_LT(largest(input[2] - model["node.virtual_node"]), kExact);
  EXPECT_LT(largest(input[1] - atom_rows(0) - model["in_degree"][0] - model["out_degree"][0]), kExact);
  EXPECT_LT(largest(input[3] - atom_rows(0) - model["in_degree"][3] - model["out_degree"][3]), kExact);
  EXPECT_LT(largest(input[7] - atom_rows(4) - model["in_degree"][1] - model["out_degree"][1]), kExact);
}

TEST(Graphormer, MaskingEqualsVeryNegativeBias) {
  ModelOptions options = small();
  options.spatial_pos_max = 3;
  GraphModel masked(options), plain(small());
  randomise(masked);
  randomise(plain);
  copy_parameters(plain, masked);
  EXPECT_GT(largest(predict(masked, assorted()) - predict(plain, assorted())), 1e-6);
  {
    torch::NoGradGuard no_grad;
    plain["encoder.spatial"].slice(0, 3, TopologyClasses{4}.unreachable() + 1).fill_(-1e9);
  }
  EXPECT_LT(largest(predict(masked, assorted()) - predict(plain, assorted())), kExact);
}

TEST(Graphormer, PairsWithTokenZeroShareOneBias) {
  ModelOptions options = small();
  options.encoder.untie_virtual = true;
  GraphModel tied(small()), untied(options);
  randomise(tied);
  randomise(untied);
  copy_parameters(untied, tied);
  const TopologyClasses classes{4};
  torch::NoGradGuard no_grad;
  const torch::Tensor own = tied["encoder.spatial"], all = untied["encoder.spatial"];
  ASSERT_EQ(own.size(0), classes.count() - 2);
  ASSERT_EQ(all.size(0), classes.count());
  all.slice(0, 0, own.size(0)).copy_(own);
  all[classes.virtual_to_atom()] = own[classes.atom_to_virtual()];
  all[classes.virtual_self()] = own[classes.atom_to_virtual()];
  EXPECT_LT(largest(predict(untied, assorted()) - predict(tied, assorted())), kExact);
  all[classes.virtual_self()] += 1.0;
  EXPECT_GT(largest(predict(untied, assorted()) - predict(tied, assorted())), 1e-6);
}

TEST(Graphormer, FarPairsKeepTheirPathTerm) {
  ModelOptions options = small();
  options.max_distance = 1;
  GraphModel model(options);
  randomise(model);
  model.run(batch_for(model, {chain_of(4)}), {}).values.sum().backward();
  EXPECT_GT(largest(model["path.hop_weight"].grad()[2]), 1e-8);
}

TEST(Graphormer, WorksWithoutPathBias) {
  ModelOptions options = small();
  EXPECT_TRUE(GraphModel(options).pack_options().paths);
  EXPECT_EQ(GraphModel(options).pack_options().path_rule, PathRule::mean);
  options.path_bias = false;
  GraphModel model(options);
  EXPECT_FALSE(model.pack_options().paths);
  for (const auto& item : model.named_parameters()) EXPECT_FALSE(item.key().starts_with("path.")) << item.key();
  randomise(model);
  expect_renumbering_invariance(model);
}

TEST(Graphormer, FreshParametersFollowThePaper) {
  ModelOptions options = graphormer_architecture().defaults;
  set_size(*options.architecture, "slim", options.encoder);
  options.encoder.gate.enabled = true;
  torch::manual_seed(1);
  const GraphModel model(options);
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    const double spread = item->numel() > 1 ? item->std().item<double>() : 0.0;
    if (name.ends_with("bias")) {
      EXPECT_EQ(largest(*item), 0.0) << name;
    } else if (name.ends_with("norm.weight") || name.ends_with("gate")) {
      EXPECT_EQ(largest(*item - 1), 0.0) << name;
    } else if (item->numel() > 1000) {
      EXPECT_NEAR(spread, name.ends_with(".weight") ? 0.02 / std::sqrt(12.0) : 0.02, 1e-3) << name;
    } else {
      EXPECT_GT(spread, 0.0) << name;
    }
  }
}

TEST(Graphormer, WeightDecayAppliesOnlyToMatrices) {
  const GraphModel model(gated());
  std::vector<std::string> decayed;
  for (const auto& item : model.named_parameters())
    if (model.specs().at(item.key()).decays()) decayed.push_back(item.key());
  for (const std::string& name : decayed) {
    EXPECT_TRUE(name.ends_with(".weight") && name.find("norm") == std::string::npos) << name;
  }
  EXPECT_EQ(decayed.size(), 2u * 6 + 1);  // four projections and two FFN matrices per layer, and the head
}

TEST(Graphormer, RejectsMoleculesOfOtherFeatureSets) {
  GraphModel model(small());
  MolecularGraph zinc;
  zinc.features = Features::zinc;
  zinc.atoms = {0};
  try {
    predict(model, {zinc});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("the features of the batch are zinc; the plan is for ogb"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace molgraph::test

// The encoder stack: parameters, blocks, sharing, kept layers, independence of the batch; head and target scaling.
#include <gtest/gtest.h>

#include <set>

#include "attention/reference/encoder.hpp"
#include "attention/reference/head.hpp"
#include "attention/spec/parameters.hpp"
#include "tests/attention/cases.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

constexpr double kEncoderExact = 1e-12;  // float64, values of order one
constexpr double kEncoderSingle = 1e-4;  // float32 through two blocks and three LayerNorms

EncoderOptions small_options() {
  EncoderOptions options;
  options.layers = 2;
  options.width = 8;
  options.ffn = 12;
  options.heads = 2;
  options.terms = kAllTerms;
  options.gate.enabled = true;
  options.dropout = options.attention_dropout = 0.2;
  options.activation_dropout = options.input_dropout = 0.1;
  return options;
}

/// An encoder that owns its parameters.
struct OwnEncoder {
  explicit OwnEncoder(const EncoderOptions& o)
      : options(o), parameters(encoder_parameters(o, kTopology.count(), kEdge.count(), Features::ogb)) {}
  Tensor run(const GraphBatch& batch, const Tensor& x, const ForwardMode& mode, const Tensor& pair_bias = {},
             std::vector<Tensor>* kept = nullptr) const {
    return Encoder(options, parameters).forward(x, batch, classes_of(batch), mode, kept, {.dense = pair_bias});
  }

  EncoderOptions options;
  ParameterTree parameters;
};

// In float64, with random parameters.
OwnEncoder make_encoder(const EncoderOptions& options) {
  torch::manual_seed(11);
  OwnEncoder encoder(options);
  encoder.parameters.to(torch::kFloat64);
  torch::NoGradGuard no_grad;
  for (Tensor& parameter : encoder.parameters.parameters()) parameter.normal_(0, 0.5);
  return encoder;
}

double max_difference(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

const ForwardMode kTraining{.training = true, .seed = 42, .step = 3, .keep_layers = {}};

TEST(Encoder, ParametersHaveTheExpectedNamesAndShapes) {
  EncoderOptions options = small_options();
  const auto shapes = [](const EncoderOptions& o) {
    std::map<std::string, std::vector<std::int64_t>> result;
    const ParameterTree tree(encoder_parameters(o, 9, 8, Features::ogb));
    for (const auto& item : tree.named_parameters()) result[item.key()] = item.value().sizes().vec();
    return result;
  };
  auto shared = shapes(options);
  EXPECT_EQ(shared.size(), 8u + 2u + 2u * 16u);
  EXPECT_EQ(shared.at("spatial"), (std::vector<std::int64_t>{9, 2}));
  EXPECT_EQ(shared.at("gate"), (std::vector<std::int64_t>{9, 2}));
  EXPECT_EQ(shared.at("topology_query"), (std::vector<std::int64_t>{9, 8}));
  EXPECT_EQ(shared.at("edge_value"), (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(shared.at("layers.1.attention.query.weight"), (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(shared.at("layers.0.ffn.linear1.weight"), (std::vector<std::int64_t>{12, 8}));
  EXPECT_EQ(shared.at("final_norm.bias"), (std::vector<std::int64_t>{8}));
  options.share_encodings = false;
  options.gate.per_layer = true;
  options.post_ln = true;
  options.untie_virtual = false;
  auto own = shapes(options);
  EXPECT_EQ(own.size(), 2u * (8u + 16u));
  EXPECT_EQ(own.at("layers.1.spatial"), (std::vector<std::int64_t>{7, 2}));
  EXPECT_EQ(own.at("layers.1.gate"), (std::vector<std::int64_t>{9, 2}));
}

TEST(Encoder, InitialGatesAreOneAndHaveNoEffect) {
  EncoderOptions options = small_options();
  torch::manual_seed(5);
  const OwnEncoder gated(options);
  options.gate.enabled = false;
  const OwnEncoder plain(options);
  torch::NoGradGuard no_grad;
  for (auto& item : plain.parameters.named_parameters()) item.value().copy_(gated.parameters[item.key()]);
  const GraphBatch batch = batch_of({Shape::rings, Shape::salt});
  const Tensor x = torch::randn({batch.num_tokens(), options.width});
  EXPECT_TRUE(torch::equal(gated.run(batch, x, kTraining), plain.run(batch, x, kTraining)));
}

// With dropout everywhere: draws depend on the molecule, not on its position in the batch.
TEST(Encoder, ResultsDoNotDependOnTheBatch) {
  torch::NoGradGuard no_grad;
  const OwnEncoder encoder = make_encoder(small_options());
  const std::vector<Shape> shapes{Shape::rings, Shape::chain, Shape::atom, Shape::salt};
  const GraphBatch batch = batch_of(shapes, {3, 1, 4, 15});
  const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
  const auto part = [&](const Tensor& all, int b) {
    return all.narrow(0, batch.token_offset[b], batch.token_offset[b + 1] - batch.token_offset[b]);
  };
  const Tensor together = encoder.run(batch, x, kTraining);
  ForwardMode evaluation = kTraining;
  evaluation.training = false;
  EXPECT_GT(max_difference(together, encoder.run(batch, x, evaluation)), 0.1);  // dropout has an effect
  for (int b = 0; b < 4; ++b) {
    const GraphBatch alone = batch_of({shapes[b]}, {batch.row[b]});
    EXPECT_LT(max_difference(encoder.run(alone, part(x, b), kTraining), part(together, b)), kEncoderExact) << b;
  }
  const GraphBatch reversed = batch_of({shapes[3], shapes[2], shapes[1], shapes[0]}, {15, 4, 1, 3});
  const Tensor back = encoder.run(reversed, torch::cat({part(x, 3), part(x, 2), part(x, 1), part(x, 0)}), kTraining);
  const Tensor expected = torch::cat({part(together, 3), part(together, 2), part(together, 1), part(together, 0)});
  EXPECT_LT(max_difference(back, expected), kEncoderExact);
}

// One block of each kind, written out with LibTorch's functions and the attention, which other tests cover.
TEST(Encoder, BlocksFollowTheirFormula) {
  torch::NoGradGuard no_grad;
  for (const bool post_ln : {false, true}) {
    EncoderOptions options = small_options();
    options.layers = 1;
    options.post_ln = post_ln;
    const OwnEncoder encoder = make_encoder(options);
    const ParameterTree& p = encoder.parameters;
    const GraphBatch batch = batch_of({Shape::rings, Shape::salt});
    const RelationClasses classes = classes_of(batch);
    const AttentionLayout layout = make_layout(batch, classes);
    const DropoutMasks masks(batch, layout, kTraining, torch::kFloat64);
    const auto norm = [&](const Tensor& y, const std::string& name) {
      return torch::layer_norm(y, {8}, p[name + ".weight"], p[name + ".bias"], 1e-5);
    };
    const auto linear = [&](const Tensor& y, const std::string& name) {
      return torch::linear(y, p["layers.0." + name + ".weight"], p["layers.0." + name + ".bias"]);
    };
    const auto attend = [&](const Tensor& y) {
      const Tensor qkv =
          torch::cat({linear(y, "attention.query"), linear(y, "attention.key"), linear(y, "attention.value")}, 1);
      const CaseTables tables{p["spatial"],
                              p["topology_query"],
                              p["topology_key"],
                              p["topology_value"],
                              p["edge_query"],
                              p["edge_key"],
                              p["edge_value"],
                              {},
                              {}};
      const BatchTerms terms = make_terms(tables.filled(), {}, layout, {.heads = 2}, torch::kFloat64);
      const Tensor z = attention(qkv, layout, terms, make_gates(filled_gate(p["gate"]), {}, false, layout),
                                 masks.attention(0, 2, 0.2));
      return linear(z, "attention.output") * masks.tokens(0, RandomSite::attention_residual, 8, 0.2);
    };
    const auto ffn = [&](const Tensor& y) {
      const Tensor inner = linear(y, "ffn.linear1");
      const Tensor gelu = inner * 0.5 * (1 + torch::erf(inner / std::sqrt(2.0)));
      return linear(gelu * masks.tokens(0, RandomSite::ffn_activation, 12, 0.1), "ffn.linear2") *
             masks.tokens(0, RandomSite::ffn_residual, 8, 0.2);
    };
    const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
    Tensor y = x.index_select(0, layout.to_grouped) * masks.tokens(0, RandomSite::input_dropout, 8, 0.1);
    if (post_ln) {
      y = norm(y + attend(y), "layers.0.attention_norm");
      y = norm(y + ffn(y), "layers.0.ffn_norm");
    } else {
      y = y + attend(norm(y, "layers.0.attention_norm"));
      y = norm(y + ffn(norm(y, "layers.0.ffn_norm")), "final_norm");
    }
    EXPECT_LT(max_difference(encoder.run(batch, x, kTraining), y.index_select(0, layout.to_packed)), kEncoderExact)
        << post_ln;
  }
}

TEST(Encoder, CopiedPerLayerTablesEqualSharedTables) {
  torch::NoGradGuard no_grad;
  EncoderOptions options = small_options();
  const OwnEncoder shared = make_encoder(options);
  options.share_encodings = false;
  options.gate.per_layer = true;
  const OwnEncoder own = make_encoder(options);
  const auto source = shared.parameters.named_parameters();
  for (auto& item : own.parameters.named_parameters()) {
    const Tensor* same = source.find(item.key());
    item.value().copy_(same != nullptr ? *same : source[item.key().substr(item.key().rfind('.') + 1)]);
  }
  const GraphBatch batch = batch_of({Shape::rings, Shape::salt, Shape::chain});
  const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
  const Tensor pair_bias = torch::randn({batch.num_pairs(), 2}, torch::kFloat64);
  const Tensor expected = shared.run(batch, x, kTraining, pair_bias);
  EXPECT_TRUE(torch::equal(own.run(batch, x, kTraining, pair_bias), expected));
  own.parameters.named_parameters()["layers.1.gate"].mul_(1.5);  // the layer reads its own table
  EXPECT_GT(max_difference(own.run(batch, x, kTraining, pair_bias), expected), 1e-3);
}

TEST(Encoder, TiedVirtualClassesShareTheirBias) {
  torch::NoGradGuard no_grad;
  EncoderOptions options = small_options();
  options.untie_virtual = false;
  const OwnEncoder tied = make_encoder(options);
  options.untie_virtual = true;
  const OwnEncoder untied = make_encoder(options);
  for (auto& item : untied.parameters.named_parameters()) {
    const Tensor from = tied.parameters[item.key()];
    const Tensor last = from.narrow(0, from.size(0) - 1, 1);
    item.value().copy_(item.key() == "spatial" ? torch::cat({from, last.expand({2, -1})}) : from);
  }
  const GraphBatch batch = batch_of({Shape::rings, Shape::salt});
  const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(tied.run(batch, x, kTraining), untied.run(batch, x, kTraining)));
}

TEST(Encoder, KeepsTheRequestedLayers) {
  torch::NoGradGuard no_grad;
  EncoderOptions options = small_options();
  options.input_dropout = 0;
  const OwnEncoder encoder = make_encoder(options);
  const GraphBatch batch = batch_of({Shape::salt, Shape::rings});
  const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
  ForwardMode mode{.training = false, .keep_layers = {-1, 2, 0, 1}};
  std::vector<Tensor> kept;
  const Tensor y = encoder.run(batch, x, mode, {}, &kept);
  ASSERT_EQ(kept.size(), 4u);
  EXPECT_TRUE(torch::equal(kept[0], y));
  EXPECT_TRUE(torch::equal(kept[2], x));
  EXPECT_LT(max_difference(encoder.parameters.norm(kept[1], "final_norm"), y), kEncoderExact);
  EXPECT_GT(max_difference(kept[3], kept[1]), 1e-3);
}

TEST(Encoder, Float32StaysCloseToFloat64) {
  torch::NoGradGuard no_grad;
  OwnEncoder encoder = make_encoder(small_options());
  const GraphBatch batch = batch_of({Shape::salt, Shape::chain});
  const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
  const Tensor exact = encoder.run(batch, x, kTraining);
  encoder.parameters.to(torch::kFloat32);
  EXPECT_LT(max_difference(encoder.run(batch, x.to(torch::kFloat32), kTraining).to(torch::kFloat64), exact),
            kEncoderSingle);
}

TEST(Encoder, GradientReachesEveryParameter) {
  const OwnEncoder encoder = make_encoder(small_options());
  const GraphBatch batch = batch_of({Shape::salt, Shape::rings, Shape::chain});
  const Tensor x = torch::randn({batch.num_tokens(), 8}, torch::kFloat64);
  encoder.run(batch, x, kTraining).square().sum().backward();
  for (const auto& item : encoder.parameters.named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
  }
}

TEST(Head, AppliesLastMlpThenLinear) {
  torch::manual_seed(2);
  ModelPlan plan{.encoder = {.layers = 1, .width = 4, .ffn = 4, .heads = 1}, .head = {.last_mlp = 2}, .outputs = 3};
  const ParameterTree p(parameters_of(plan));
  const Tensor x = torch::randn({5, 4});
  Tensor y = x;
  for (const std::string k : {"0", "1"})
    y = torch::gelu(torch::linear(y, p["head.last_mlp." + k + ".0.weight"], p["head.last_mlp." + k + ".0.bias"]));
  EXPECT_TRUE(torch::allclose(head(p, plan.head, x), torch::linear(y, p["head.linear.weight"], p["head.linear.bias"])));
  EXPECT_TRUE(torch::equal(head(p, {}, x), torch::linear(x, p["head.linear.weight"], p["head.linear.bias"])));
}

TEST(Parameters, OnlyMatricesDecay) {
  std::set<std::string> decayed;
  for (const ParameterSpec& spec :
       encoder_parameters(small_options(), kTopology.count(), kEdge.count(), Features::ogb, "encoder.")) {
    EXPECT_EQ(spec.is_gate(), spec.name == "encoder.gate");
    if (spec.decays()) decayed.insert(spec.name.substr(spec.name.find('.', 15) + 1));
  }
  EXPECT_EQ(decayed, (std::set<std::string>{"attention.query.weight", "attention.key.weight", "attention.value.weight",
                                            "attention.output.weight", "ffn.linear1.weight", "ffn.linear2.weight"}));
}

}  // namespace
}  // namespace molgraph::test

// Engines and the reference check batches, weights and plans before use and throw exceptions in every build type.
#include "tests/models/border_cases.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "attention/reference/engine_boundary.hpp"
#include "attention/spec/parameters.hpp"
#include "attention/spec/plan_check.hpp"

namespace molgraph::test {
namespace {

const auto no_slope = [](std::size_t, const float*, float*) {};

TEST(InputValidation, RejectsInvalidBatches) {
  for (const auto& model : models_for_invalid_batches()) {
    EngineBoundary boundary(*model, {.threads = 2});
    expect_refusals(*model, true, [&](const GraphBatch& batch) { boundary.predict(batch); });
    expect_refusals(*model, true,
                    [&](const GraphBatch& batch) { boundary.train(batch, {.training = true}, no_slope); });
    torch::NoGradGuard no_grad;
    expect_refusals(*model, true, [&](const GraphBatch& batch) { model->run(batch, {}); });
  }
}

// If any single number of a batch is arbitrary, the result is a prediction or an exception.
TEST(InputValidation, RandomlyCorruptedBatchesAreHandled) {
  std::mt19937 random(7);
  int rejected = 0, accepted = 0;
  for (const auto& model : models_for_invalid_batches()) {
    const GraphBatch intact = batch_for(*model, {cubane(), salt(), chain_of(9), random_graph(12, 1)});
    EngineBoundary boundary(*model, {.threads = 1});
    const auto corrupt = [&](auto& values) {
      auto& value = values[random() % values.size()];
      using Value = std::remove_reference_t<decltype(value)>;
      const auto big = static_cast<std::int64_t>((std::uint64_t{random()} << 32) + random());
      value = static_cast<Value>(
          random() % 2 == 0 ? big : static_cast<std::int64_t>(value) + static_cast<std::int64_t>(random() % 5) - 2);
    };
    for (int k = 0; k < 400; ++k) {
      GraphBatch b = intact;
      PathSteps& p = b.paths;
      switch (random() % 14) {
        case 0: corrupt(b.atom_offset); break;
        case 1: corrupt(b.token_offset); break;
        case 2: corrupt(b.pair_offset); break;
        case 3: corrupt(b.atoms); break;
        case 4: corrupt(b.degree); break;
        case 5: corrupt(b.topology); break;
        case 6: corrupt(b.edge); break;
        case 7: corrupt(b.row); break;
        case 8: corrupt(p.pair); break;
        case 9: corrupt(p.level_pairs); break;
        case 10: corrupt(p.target); break;
        case 11: corrupt(p.source); break;
        case 12: corrupt(p.bond); break;
        default: corrupt(p.level_steps); break;
      }
      try {
        boundary.predict(b);
        boundary.train(b, {.training = true}, no_slope);
        ++accepted;
      } catch (const std::invalid_argument&) {
        ++rejected;
      }
    }
  }
  EXPECT_GT(rejected, 300);
  EXPECT_GT(accepted, 100);
}

TEST(InputValidation, RejectsInvalidLayersAndMissingWeights) {
  const auto model = make_model({"grpe", &encoding_from_string("grpe")});
  const GraphBatch batch = batch_for(*model, assorted());
  EngineBoundary boundary(*model, {.threads = 1});
  EXPECT_THROW(boundary.predict(batch, {3}), std::invalid_argument);
  EXPECT_THROW(boundary.predict(batch, {-2}), std::invalid_argument);

  const auto engine = make_engine(model->plan());
  std::vector<float> scaled(static_cast<std::size_t>(batch.size()));
  EXPECT_THROW(engine->predict(batch, scaled.data()), std::invalid_argument) << "no weights assigned";
  const std::vector<float> ones(100'000, 0.1f);
  for (const ParameterSpec& missing : parameters_of(model->plan())) {
    const auto lookup = [&](const std::string& name) { return name == missing.name ? nullptr : ones.data(); };
    try {
      engine->assign(lookup, false);
      ADD_FAILURE() << missing.name << " is missing without an error";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(missing.name), std::string::npos);
    }
  }
  engine->assign([&](const std::string&) { return ones.data(); }, false);
  engine->predict(batch, scaled.data());
  const auto no_gradients = [](const std::string&) -> float* { return nullptr; };
  EXPECT_THROW(engine->gradients(batch, {}, no_slope, scaled.data(), no_gradients), std::invalid_argument)
      << "the weights were assigned for prediction only";
}

TEST(InputValidation, RejectsInconsistentPlans) {
  const ModelPlan good = make_model({"graphormer", &encoding_from_string("graphormer")})->plan();
  EXPECT_NO_THROW(make_engine(good));
  const std::vector<std::function<void(ModelPlan&)>> changes{
      [](ModelPlan& p) { p.encoder.heads = 0; },
      [](ModelPlan& p) { p.encoder.width = 13; },
      [](ModelPlan& p) { p.encoder.layers = 0; },
      [](ModelPlan& p) { p.outputs = 0; },
      [](ModelPlan& p) { p.features = Features::zinc; },
      [](ModelPlan& p) { p.classes.topology.max_distance = 0; },
      [](ModelPlan& p) { p.classes.topology.max_distance = 70'000; },
      [](ModelPlan& p) {
        p.classes.maps.topology = {0, 1};
      },
      [](ModelPlan& p) { p.classes.maps.edge.assign(64, 64); },
      [](ModelPlan& p) { p.encoder.terms.global_bias = true; },
      [](ModelPlan& p) { p.encoder.position = NodePosition::laplacian, p.encoder.position_dim = 0; },
      [](ModelPlan& p) { p.path_hops = -1; },
      [](ModelPlan& p) { p.max_degree = -2; },
      [](ModelPlan& p) { p.encoder.dropout = 1.0; }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    ModelPlan plan = good;
    changes[k](plan);
    EXPECT_THROW(make_engine(plan), std::invalid_argument) << k;
  }
}

}  // namespace
}  // namespace molgraph::test

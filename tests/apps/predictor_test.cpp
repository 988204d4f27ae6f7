// Predictor, compared with the model that it wraps.
#include "apps/scoring/predictor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"

namespace molgraph::test {
namespace {

// float32 rounding errors of sums of several hundred terms, for values of order 1 to 10
constexpr double kRounding = 2e-5;

const std::vector<std::string> kMolecules{"CCO", "c1ccccc1C(=O)O", "C", "[Na+].[Cl-]", "CC(C)(C)c1ccc(O)cc1"};

/// Runs the model on a single molecule.
ModelOutput run_alone(const LoadedModel& loaded, const std::string& smiles, std::vector<int> layers = {}) {
  const torch::InferenceMode inference;
  const auto graph = std::get<MolecularGraph>(Featurizer(loaded.config.featurizer).smiles(smiles));
  const std::vector<GraphView> graphs{graph.view()};
  const std::vector<std::int64_t> rows{0};
  return loaded.model->run(pack(graphs, rows, loaded.model->pack_options()), {.keep_layers = std::move(layers)});
}

TEST(ScoringModel, PairStatesNeedTheCpu) {
  const Scratch scratch;
  ModelConfig config = tiny_config(grpe_architecture(), {"y"});
  config.model.encoder.pair_state = 8;
  save_tiny_run(scratch.path("run"), config, 1);
  const std::string file = scratch.path("run/model.safetensors");
  EXPECT_EQ(load_scoring_model(file).config.encoder().pair_state, 8);
  EXPECT_THROW(load_scoring_model(file, {.kind = Device::Kind::cuda}, Precision::fp32), UsageError);
}

class PredictorTest : public testing::TestWithParam<const Architecture*> {
 protected:
  void SetUp() override { save_tiny_run(run, tiny_config(*GetParam(), {"a", "b"}), 11); }

  Scratch scratch;
  std::string run = scratch.path("run");
};

TEST_P(PredictorTest, MatchesTheModelRunOnSingleMolecules) {
  Predictor predictor({run});
  const LoadedModel loaded = load_model(run + "/model.safetensors");
  const auto predictions = predictor.predict(kMolecules);
  ASSERT_EQ(predictions.size(), kMolecules.size());
  for (std::size_t i = 0; i < kMolecules.size(); ++i) {
    EXPECT_EQ(predictions[i].status, RowStatus::ok) << predictions[i].reason;
    const torch::Tensor expected = run_alone(loaded, kMolecules[i]).values;
    ASSERT_EQ(predictions[i].values.size(), 2u);
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(predictions[i].values[t], expected[0][static_cast<std::int64_t>(t)].item<float>(), kRounding)
          << kMolecules[i];
    }
    EXPECT_TRUE(predictions[i].deviation.empty());
    EXPECT_TRUE(predictions[i].members.empty());
  }
  EXPECT_GT(std::abs(predictions[0].values[0] - predictions[1].values[0]), 1e-3);
}

TEST_P(PredictorTest, DefaultEmbeddingIsTheHeadInput) {
  for (const auto& [readout, pooling] : {std::pair{Readout::sum, Pooling::sum}, {Readout::mean, Pooling::mean}}) {
    ModelConfig config = tiny_config(*GetParam(), {"a"});
    config.model.encoder.readout = readout;
    save_tiny_run(run, config, 11);
    Predictor predictor({run});
    const std::vector<float> read = predictor.embed(kMolecules)[1].values,
                             pooled = predictor.embed(kMolecules, {.pooling = pooling})[1].values;
    for (std::size_t c = 0; c < read.size(); ++c)
      EXPECT_FLOAT_EQ(read[c], readout == Readout::sum ? pooled[c] / 16 : pooled[c]);
    EXPECT_EQ(predictor.embed(kMolecules, {.pooling = Pooling::max})[1].values.size(),
              static_cast<std::size_t>(kTinyWidth));
  }
}

/// Copies a run with other target means and standard deviations, [2] each.
template <typename Number>
void write_scaled(const std::string& from, const std::string& to, DType dtype, std::vector<Number> shift,
                  std::vector<Number> scale) {
  const SafetensorsFile file = read_safetensors(from + "/model.safetensors");
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : file.tensors) {
    if (name == kTargetShift) views.push_back({name, dtype, {2}, shift.data()});
    else if (name == kTargetScale) views.push_back({name, dtype, {2}, scale.data()});
    else views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  }
  std::filesystem::create_directories(to);
  write_safetensors(to + "/model.safetensors", file.metadata, views);
  write_run_record(to, {.program = "a test"});
}

// Targets of -500,000 +- 0.05.
TEST_P(PredictorTest, TargetMeanAndDeviationAreDoubles) {
  write_scaled<double>(run, scratch.path("plain"), DType::f64, {0, 0}, {1, 1});
  write_scaled<double>(run, scratch.path("far"), DType::f64, {-500000, 7}, {0.05, 0.5});
  const Predictor plain({scratch.path("plain")}), far({scratch.path("far")});
  const auto raw = plain.predict(kMolecules), wide = far.predict(kMolecules);
  for (std::size_t i = 0; i < kMolecules.size(); ++i)
    EXPECT_NEAR(wide[i].values[0], -500000 + 0.05 * raw[i].values[0], 1e-9);
  EXPECT_EQ(far.predict_one(kMolecules[0]).values, wide[0].values);
  EXPECT_EQ(far.output_scale(), (std::vector<double>{0.05, 0.5}));
  const Predictor both({scratch.path("far"), scratch.path("plain")});
  EXPECT_EQ(both.output_scale(), (std::vector<double>{0.05, 0.5}));
  const auto mean = both.predict(std::vector<std::string>{"CCO"});
  EXPECT_NEAR(mean[0].values[0], (wide[0].values[0] + raw[0].values[0]) / 2, 1e-9);
  const LoadedModel loaded = load_model(scratch.path("far") + "/model.safetensors");
  EXPECT_NEAR(run_alone(loaded, "CCO").values[0][0].item<double>(), wide[0].values[0], 0.05 * kRounding);
  write_scaled<float>(run, scratch.path("narrow"), DType::f32, {-2.5f, 7}, {0.25f, 0.5f});
  EXPECT_THROW(Predictor({scratch.path("narrow")}), FileError);
  EXPECT_THROW(load_model(scratch.path("narrow") + "/model.safetensors"), FileError);
}

// Found by fuzzing: the program requested 64 GB of memory before it compared the configuration with the weights.
TEST_P(PredictorTest, ConfigTooLargeForTheWeightsFailsBeforeAllocation) {
  const SafetensorsFile file = read_safetensors(run + "/model.safetensors");
  ModelConfig config = tiny_config(*GetParam(), {"a", "b"});
  config.encoder().width = 65536;
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : file.tensors)
    views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_safetensors(scratch.path("wide.safetensors"),
                    {{kConfigKey, to_json(config)}, {kFeaturizerKey, config.featurizer.hash()}}, views);
  try {
    Predictor predictor({scratch.path("wide.safetensors")});
    ADD_FAILURE() << "no error";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("the weights do not fit the model: its 2 layers of width 65536"),
              std::string::npos)
        << error.what();
  }
}

TEST_P(PredictorTest, OrderAndOtherMoleculesDoNotMatter) {
  Predictor predictor({run}, {.threads = 2, .limits = {}});
  const auto predictions = predictor.predict(kMolecules);
  std::vector<std::string> many;
  for (int copy = 0; copy < 60; ++copy) many.insert(many.end(), kMolecules.rbegin(), kMolecules.rend());
  const auto many_predictions = predictor.predict(many);
  for (std::size_t i = 0; i < many.size(); ++i) {
    const std::size_t original = kMolecules.size() - 1 - i % kMolecules.size();
    EXPECT_NEAR(many_predictions[i].values[1], predictions[original].values[1], kRounding) << many[i];
  }
}

TEST_P(PredictorTest, InvalidTextGivesAStatusNotAnException) {
  Predictor predictor({run}, {.threads = 1, .limits = {.max_atoms = 5}});
  const std::vector<std::string> texts{"", "C1CC", "CCCCCC", "CCO", "\xff\xfe"};
  const auto predictions = predictor.predict(texts);
  const RowStatus expected[] = {RowStatus::empty, RowStatus::invalid_smiles, RowStatus::too_large, RowStatus::ok,
                                RowStatus::invalid_smiles};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(predictions[i].status, expected[i]) << texts[i];
    EXPECT_EQ(predictions[i].reason.empty(), expected[i] == RowStatus::ok);
    EXPECT_EQ(std::isnan(predictions[i].values.at(0)), expected[i] != RowStatus::ok);
  }
  EXPECT_TRUE(predictor.predict({}).empty());
  const auto embeddings = predictor.embed(texts);
  EXPECT_TRUE(std::isnan(embeddings[1].values.at(3)));
  EXPECT_FALSE(std::isnan(embeddings[3].values.at(3)));
}

TEST_P(PredictorTest, PoolingUsesAtomsExceptForToken) {
  Predictor predictor({run});
  const LoadedModel loaded = load_model(run + "/model.safetensors");
  const torch::Tensor states = run_alone(loaded, kMolecules[1], {-1}).layers[0];
  const torch::Tensor atoms = states.slice(0, 1);
  const std::pair<Pooling, torch::Tensor> cases[] = {{Pooling::token, states[0]},
                                                     {Pooling::mean, atoms.mean(0)},
                                                     {Pooling::sum, atoms.sum(0)},
                                                     {Pooling::max, std::get<0>(atoms.max(0))}};
  for (const auto& [pooling, expected] : cases) {
    const auto row = predictor.embed(kMolecules, {.pooling = pooling})[1].values;
    ASSERT_EQ(row.size(), static_cast<std::size_t>(kTinyWidth));
    for (int c = 0; c < kTinyWidth; ++c) {
      EXPECT_NEAR(row[static_cast<std::size_t>(c)], expected[c].item<float>(), kRounding);
    }
  }
}

TEST_P(PredictorTest, LayersAreConcatenatedAndNormalised) {
  Predictor predictor({run});
  const LoadedModel loaded = load_model(run + "/model.safetensors");
  const EmbeddingOptions options{.pooling = Pooling::token, .layers = {0, 2, -1}};
  EXPECT_EQ(predictor.embedding_width(options), 3 * kTinyWidth);
  const auto row = predictor.embed(kMolecules, options)[0].values;
  const auto kept = run_alone(loaded, kMolecules[0], options.layers).layers;
  for (std::size_t l = 0; l < 3; ++l) {
    for (int c = 0; c < kTinyWidth; ++c) {
      EXPECT_NEAR(row.at(l * kTinyWidth + static_cast<std::size_t>(c)), kept[l][0][c].item<float>(), kRounding);
    }
  }
  double squared_norm = 0;
  const auto unit = predictor.embed(kMolecules, {.layers = {0, 2, -1}, .l2 = true});
  for (const float value : unit[0].values) squared_norm += value * value;
  EXPECT_NEAR(squared_norm, 1, 1e-5);
  EXPECT_THROW(predictor.embed(kMolecules, {.layers = {kTinyLayers + 1}}), UsageError);
  EXPECT_THROW(predictor.embed(kMolecules, {.layers = {-2}}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Models, PredictorTest, testing::Values(&graphormer_architecture(), &grpe_architecture()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(PredictorEnsemble, MeanAndDeviationOverRuns) {
  const Scratch scratch;
  const auto config = tiny_config(grpe_architecture(), {"y"});
  save_tiny_run(scratch.path("all/model_0"), config, 1);
  save_tiny_run(scratch.path("all/model_1"), config, 2);
  Predictor all({scratch.path("all")}), first({scratch.path("all/model_0")}), second({scratch.path("all/model_1")});
  EXPECT_EQ(all.num_runs(), 2u);
  const Prediction both = all.predict(kMolecules)[0];
  const double a = first.predict(kMolecules)[0].values[0], b = second.predict(kMolecules)[0].values[0];
  EXPECT_NEAR(both.values[0], (a + b) / 2, kRounding);
  EXPECT_NEAR(both.deviation.at(0), std::abs(a - b) / 2, kRounding);
  EXPECT_NEAR(both.members.at(1)[0], b, kRounding);
  EXPECT_GT(std::abs(a - b), 1e-3);
  EXPECT_THROW(all.embed(kMolecules), UsageError);
}

TEST(PredictorEnsemble, ErrorNamesTheMissingModel) {
  const Scratch scratch;
  const auto config = tiny_config(grpe_architecture(), {"y"});
  const auto models = [&](const std::string& folder, const std::vector<int>& numbers) {
    for (const int k : numbers)
      save_tiny_run(scratch.path(folder + "/model_" + std::to_string(k)), config, static_cast<std::uint64_t>(k));
    return scratch.path(folder);
  };
  const auto error_of = [](const std::string& folder) -> std::string {
    try {
      Predictor predictor({folder});
      return std::to_string(predictor.num_runs()) + " models";
    } catch (const FileError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of(models("unrecorded", {0, 1})), "2 models") << "the number of models is not recorded";
  EXPECT_NE(error_of(models("gap", {0, 2})).find("gap/model_1 is missing: model_2 exists"), std::string::npos);
  EXPECT_NE(error_of(models("late", {1})).find("late/model_0 is missing"), std::string::npos);
  const std::string known = models("known", {0, 1});
  write_run_record(known, {.members = 3, .finished = "2026-01-01T00:00:00Z", .program = "test"});
  EXPECT_NE(error_of(known).find("known/model_2 is missing: the run has 3 models"), std::string::npos);
  models("known", {2});
  EXPECT_EQ(error_of(known), "3 models");
  models("known", {3});
  EXPECT_NE(error_of(known).find("known/model_3: the run has 3 models"), std::string::npos);
  scratch.write("known/run.json", "{\"version\": 1}");
  EXPECT_NE(error_of(known).find("run.json: damaged"), std::string::npos);
}

// --- values that are not finite ---

TEST(PredictorNotFinite, NonFiniteWeightsAreAnError) {
  const Scratch scratch;
  for (const float factor : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const char* tensor : {"encoder.layers.1.ffn.linear1.weight", "target_scale"}) {
      const std::string run = scratch.path("run");
      save_tiny_run(run, tiny_config(grpe_architecture(), {"y"}), 1);
      scale_weights(run, tensor, factor);
      try {
        Predictor predictor({run});
        ADD_FAILURE() << tensor << " x " << factor << ": no error";
      } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find(tensor), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("not all finite"), std::string::npos) << error.what();
      }
      EXPECT_THROW(load_model(run + "/model.safetensors"), FileError);
    }
  }
}

// Weights near the float32 maximum are finite, but sums of them are not.
TEST(PredictorNotFinite, PredictionHasStatusNotFinite) {
  const Scratch scratch;
  for (const TaskKind kind : {TaskKind::regression, TaskKind::binary}) {
    auto config = tiny_config(grpe_architecture(), {"y"});
    config.task.kind = kind;
    save_tiny_run(scratch.path("all/model_0"), config, 1);
    save_tiny_run(scratch.path("all/model_1"), config, 2);
    scale_weights(scratch.path("all/model_1"), "encoder.final_norm.weight", 1e4f);
    scale_weights(scratch.path("all/model_1"), "head.linear.weight", 1e38f);
    const Prediction good = Predictor({scratch.path("all/model_0")}).predict(kMolecules)[0];
    EXPECT_EQ(good.status, RowStatus::ok);
    const std::vector<std::string> texts{"c1ccccc1C(=O)O", "no molecule"};
    const auto both = Predictor({scratch.path("all")}).predict(texts);
    EXPECT_EQ(both[0].status, RowStatus::not_finite);
    EXPECT_NE(both[0].reason.find("model 1 gives"), std::string::npos) << both[0].reason;
    EXPECT_TRUE(std::isnan(both[0].values.at(0)));
    EXPECT_TRUE(std::isnan(both[0].members.at(0).at(0)));
    EXPECT_EQ(both[1].status, RowStatus::invalid_smiles);
  }
  EXPECT_EQ(to_string(RowStatus::not_finite), "not_finite");
}

TEST(PredictorNotFinite, EmbeddingHasStatusNotFinite) {
  const Scratch scratch;
  save_tiny_run(scratch.path("run"), tiny_config(grpe_architecture(), {"y"}), 1);
  scale_weights(scratch.path("run"), "node.atom", 5e37f);
  const auto rows = Predictor({scratch.path("run")}).embed(kMolecules, {.pooling = Pooling::sum, .layers = {0}});
  EXPECT_EQ(rows[1].status, RowStatus::not_finite) << rows[1].reason;
  EXPECT_FALSE(rows[1].reason.empty());
  for (const float value : rows[1].values) EXPECT_TRUE(std::isnan(value));
}

TEST(PredictorEnsemble, IncompatibleOrMissingRunsAreErrors) {
  const Scratch scratch;
  auto config = tiny_config(grpe_architecture(), {"y"});
  save_tiny_run(scratch.path("a"), config, 1);
  config.featurizer.features = Features::zinc;
  save_tiny_run(scratch.path("b"), config, 1);
  EXPECT_THROW(Predictor({scratch.path("a"), scratch.path("b")}), FileError);
  EXPECT_THROW(Predictor({scratch.path("none")}), FileError);
  EXPECT_THROW(Predictor(std::vector<std::string>{}), UsageError);
}

}  // namespace
}  // namespace molgraph::test

#include "apps/scoring/model_config.hpp"

#include <gtest/gtest.h>

#include "featurize/graph/error.hpp"
#include "grpe/architecture.hpp"

namespace molgraph {
namespace {

ModelConfig unusual_config() {
  ModelConfig config;
  config.model = grpe_architecture().defaults;
  config.featurizer.features = Features::zinc;
  config.model.max_distance = 7;
  config.model.published_classes = true;
  config.model.perturb_noise = 0.2;
  config.model.encoder.layers = 3;
  config.model.encoder.width = 24;
  config.model.encoder.heads = 6;
  config.model.encoder.key_term = KeyTerm::row;
  config.model.encoder.gate = {true, true, false};
  config.model.encoder.terms.edge_value = false;
  config.task = {TaskKind::multiclass, {"phase"}, {""}, 3, {"a", "b", "c"}};
  return config;
}

TEST(ModelConfig, JsonRoundTripKeepsEveryField) {
  const std::string text = to_json(unusual_config());
  const ModelConfig back = model_config_from_json(text, "x");
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.model.encoder.key_term, KeyTerm::row);
  EXPECT_EQ(back.model.max_distance, 7);
  EXPECT_TRUE(back.model.encoder.gate.relu);
  EXPECT_EQ(back.model.outputs, 3);
  EXPECT_EQ(back.task.class_labels, unusual_config().task.class_labels);
}

TEST(ModelConfig, PairStatesAreWrittenOnlyIfTheyAreUsed) {
  ModelConfig config = unusual_config();
  EXPECT_EQ(to_json(config).find("pair_state"), std::string::npos) << "version 0.1.0 reads such files";
  config.model.encoder.pair_state = 24;
  const std::string text = to_json(config);
  EXPECT_EQ(model_config_from_json(text, "x").model.encoder.pair_state, 24);
  for (const char* bad : {":-1", ":65", ":\"24\""})
    EXPECT_THROW(model_config_from_json(std::string(text).replace(text.find(":24"), 3, bad), "x"), FileError) << bad;
}

// A task with one kind of targets is written in the format from before mixed tasks.
TEST(ModelConfig, OnlyMixedTasksHaveKinds) {
  ModelConfig config = unusual_config();
  EXPECT_NE(to_json(config).find("\"kinds\":[]"), std::string::npos);
  config.task = {TaskKind::regression, {"logS", "toxic"}, {"", ""}, 0, {}};
  config.task.set_kinds({TaskKind::regression, TaskKind::binary});
  const std::string text = to_json(config);
  const ModelConfig back = model_config_from_json(text, "x");
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.task.kind, TaskKind::mixed);
  EXPECT_EQ(back.task.kind_of(1), TaskKind::binary);
  EXPECT_EQ(back.model.outputs, 2);
  for (const char* bad : {"[\"regression\"]", "[\"regression\",\"multiclass\"]", "[]"})
    EXPECT_THROW(
        model_config_from_json(std::string(text).replace(text.find("[\"regression\",\"binary\"]"), 23, bad), "x"),
        FileError)
        << bad;
}

TEST(ModelConfig, LogarithmicTargetsAreRegressionTargets) {
  ModelConfig config = unusual_config();
  EXPECT_EQ(to_json(config).find("logarithmic"), std::string::npos)
      << "older versions read models without such targets";
  config.task = {TaskKind::regression, {"half-life", "toxic"}, {"h", ""}, 0, {}};
  config.task.set_kinds({TaskKind::regression, TaskKind::binary});
  config.task.logarithmic = {true, false};
  const std::string text = to_json(config), chosen = "[true,false]";
  EXPECT_EQ(model_config_from_json(text, "x").task.logarithmic, config.task.logarithmic);
  for (const char* bad : {"[true]", "[true,false,false]", "[false,true]", "[1,0]", "true", "[\"half-life\"]"})
    EXPECT_THROW(model_config_from_json(std::string(text).replace(text.find(chosen), chosen.size(), bad), "x"),
                 FileError)
        << bad;
}

/// Expects an error that names the file and `word` if `from` is replaced by `to` in `text`.
void expect_error(std::string text, const std::string& from, const std::string& to, const std::string& word) {
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    model_config_from_json(text, "model.safetensors");
    FAIL() << "accepted: " << text;
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("model.safetensors"), std::string::npos) << error.what();
  }
}

TEST(ModelConfig, ErrorsOfDamagedTextNameTheKey) {
  const std::string text = to_json(unusual_config());
  expect_error(text, "\"layers\":3", "\"layers\":0", "layers");
  expect_error(text, "\"layers\":3", "\"layers\":\"three\"", "layers");
  expect_error(text, "\"layers\":3", "\"layer\":3", "layer");
  expect_error(text, "\"readout\":", "\"pooling\":", "readout");
  expect_error(text, "\"heads\":6", "\"heads\":5", "multiple");
  expect_error(text, "\"model\":\"grpe\"", "\"model\":\"gcn\"", "gcn");
  expect_error(text, "\"version\":1", "\"version\":9", "version");
  expect_error(text, "\"key_term\":\"row\"", "\"key_term\":\"diagonal\"", "key_term");
  expect_error(text, "{", "", "JSON");
}

}  // namespace
}  // namespace molgraph

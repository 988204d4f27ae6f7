// Options without effect are rejected. The size of a model is checked before it is created.
#include "apps/training/options/option_conflicts.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "apps/scoring/architectures.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/training/loop/model_size.hpp"
#include "apps/training/options/recipes.hpp"
#include "apps/training/run/run_options.hpp"
#include "attention/spec/parameters.hpp"
#include "datasets/system/machine.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

const Architecture* architecture(const char* name) { return &architecture_from_string(name); }
const Encoding* encoding(const char* name) { return &encoding_from_string(name); }

MoleculeSet one_molecule() {
  MoleculeSet set;
  set.task = {TaskKind::regression, {"y"}, {""}, 0, {}};
  MolecularGraph carbon;
  carbon.atoms.assign(9, 0);
  set.add(carbon, 0, "1", "C", {1.0f});
  return set;
}

using Change = std::function<void(TrainOptions&)>;

ModelConfig model_of(const Change& change, const NamedFlags& named = {}, const ModelConfig* start = nullptr) {
  TrainOptions options;
  options.data.paths = {"my.csv"};
  if (start != nullptr) options.model.from = "R";
  change(options);
  LoadedData data;
  data.set = one_molecule();
  data.split = {{0}, {}, {}};
  return resolve(options, data, start, named).model;
}

std::string problem(const Change& change, const NamedFlags& named = {}, const ModelConfig* start = nullptr) {
  try {
    model_of(change, named, start);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(OptionConflicts, RejectsOptionsThatTheModelDoesNotHave) {
  const auto rejects = [](const std::string& flag, const Change& change, const NamedFlags& named = {}) {
    const std::string text = problem(change, named);
    EXPECT_NE(text.find("--" + flag), std::string::npos) << flag << ": '" << text << "'";
  };
  // The default value on the command line would also have no effect.
  rejects("path", [](TrainOptions& o) { o.model.architecture = architecture("grpe"); }, {"path"});
  rejects("key-term", [](TrainOptions& o) { o.model.encoding = encoding("t5"); }, {"key-term"});
  rejects("grpe-terms", [](TrainOptions& o) { o.model.encoding = encoding("shaw"); }, {"grpe-terms"});
  rejects("walk-terms", [](TrainOptions& o) { o.model.encoding = encoding("grpe"); }, {"walk-terms"});
  rejects("pair-relations", [](TrainOptions& o) { o.model.pair_relations = {PairWord::paths}; });
  rejects("pe-dim", [](TrainOptions& o) {
    o.model.encoding = encoding("grpe-walk"), o.model.pair_relations = {PairWord::paths}, o.model.position_dim = 4;
  });
  rejects("pe-dim", [](TrainOptions& o) { o.model.encoding = encoding("grpe-walk"), o.model.position_dim = 65; });
  rejects("key-term", [](TrainOptions& o) { o.model.encoding = encoding("grpe-walk"); }, {"key-term"});
  rejects("walk-terms gate", [](TrainOptions& o) { o.model.encoding = encoding("grpe-walk"); }, {"walk-terms"});
  EXPECT_EQ(problem([](TrainOptions& o) { o.model.architecture = architecture("grpe"); }), "");
  rejects("share-encodings",
          [](TrainOptions& o) { o.model.encoding = encoding("laplacian"), o.model.share_encodings = Switch::off; },
          {"share-encodings"});
  rejects("max-distance", [](TrainOptions& o) { o.model.encoding = encoding("none"), o.model.max_distance = 3; },
          {"max-distance"});
  EXPECT_EQ(problem(
                [](TrainOptions& o) {
                  o.model.encoding = encoding("none"), o.model.gate.use = Switch::on, o.model.max_distance = 3;
                },
                {"max-distance"}),
            "")
      << "the gate has a maximum distance";
  EXPECT_EQ(problem(
                [](TrainOptions& o) {
                  o.model.encoding = encoding("none"), o.model.pair_state = 8;
                  o.model.max_distance = 3, o.model.published_classes = true;
                },
                {"max-distance"}),
            "")
      << "pair states have tables by distance and by bond";
  rejects("published-classes",
          [](TrainOptions& o) { o.model.encoding = encoding("random-walk"), o.model.published_classes = true; });
  rejects("key-term", [](TrainOptions& o) {
    o.model.architecture = architecture("grpe"), o.model.grpe_terms = {GrpeTerm::topology, GrpeTerm::query},
    o.model.key_term = KeyTerm::row;
  });
  rejects("size",
          [](TrainOptions& o) {
            o.model.size = "small", o.model.layers = 2, o.model.width = 16, o.model.ffn = 16, o.model.heads = 2;
          },
          {"size", "layers", "width", "ffn", "heads"});
  EXPECT_EQ(problem([](TrainOptions& o) { o.model.size = "small", o.model.layers = 2; }, {"size", "layers"}), "");
  // A recipe's values do not fit another model.
  const std::string text = problem([](TrainOptions& o) {
    o = recipe("graphormer-zinc").options, o.model.recipe = "graphormer-zinc",
    o.model.architecture = architecture("grpe"), o.model.size = "small";
  });
  EXPECT_NE(text.find("--recipe graphormer-zinc sets"), std::string::npos) << text;
}

TEST(OptionConflicts, RejectsOptionsThatContradictTheStartingRun) {
  const ModelConfig grpe = model_of([](TrainOptions& o) { o.model.architecture = architecture("grpe"); });
  const ModelConfig grpe_row =
      model_of([](TrainOptions& o) { o.model.architecture = architecture("grpe"), o.model.key_term = KeyTerm::row; });
  const ModelConfig graphormer = model_of([](TrainOptions& o) { o.model.architecture = architecture("graphormer"); });
  const auto contradicts = [](const ModelConfig& start, const std::string& flag, const Change& change,
                              const NamedFlags& named = {}) {
    const std::string text = problem(change, named, &start);
    EXPECT_NE(text.find(flag), std::string::npos) << flag << ": '" << text << "'";
  };
  contradicts(grpe, "--path ", [](TrainOptions& o) { o.model.path_rule = PathRule::single; });
  contradicts(grpe, "--path ", [](TrainOptions&) {}, {"path"});
  contradicts(grpe, "--path-hops", [](TrainOptions& o) { o.model.path_hops = 3; });
  contradicts(grpe, "--spatial-pos-max", [](TrainOptions& o) { o.model.spatial_pos_max = 8; });
  contradicts(grpe, "--untie-virtual", [](TrainOptions& o) { o.model.untie_virtual = true; });
  contradicts(grpe_row, "--key-term", [](TrainOptions&) {}, {"key-term"});
  EXPECT_EQ(problem([](TrainOptions&) {}, {}, &grpe_row), "");
  EXPECT_EQ(problem([](TrainOptions& o) { o.model.key_term = KeyTerm::row; }, {"key-term"}, &grpe_row), "")
      << "the starting run has it";
  contradicts(graphormer, "--published-classes", [](TrainOptions& o) { o.model.published_classes = true; });
  contradicts(graphormer, "--key-term", [](TrainOptions& o) { o.model.key_term = KeyTerm::row; });
  contradicts(graphormer, "--grpe-terms", [](TrainOptions&) {}, {"grpe-terms"});
  const ModelConfig walks = model_of([](TrainOptions& o) { o.model.encoding = encoding("grpe-walk"); });
  contradicts(grpe, "--walk-terms", [](TrainOptions& o) { o.model.walk_terms = {WalkTerm::bias}; }, {"walk-terms"});
  contradicts(walks, "--walk-terms",
              [](TrainOptions& o) { o.model.encoding = encoding("grpe-walk"), o.model.walk_terms = {WalkTerm::bias}; },
              {"walk-terms"});
  contradicts(walks, "--pair-relations", [](TrainOptions& o) { o.model.pair_relations = {PairWord::rings}; });
  contradicts(grpe, "--pair-relations", [](TrainOptions&) {}, {"pair-relations"});
  EXPECT_EQ(problem([](TrainOptions& o) { o.model.encoding = encoding("grpe-walk"); }, {}, &walks), "");
  EXPECT_EQ(problem([](TrainOptions&) {}, {"grpe-terms"}, &walks), "") << "the starting run has it";
  contradicts(grpe, "--readout", [](TrainOptions& o) { o.model.readout = Readout::sum; });
  contradicts(grpe, "--degree-scaler", [](TrainOptions& o) { o.model.degree_scaler = true; });
  contradicts(grpe, "--pair-state", [](TrainOptions& o) { o.model.pair_state = 8; }, {"pair-state"});
  ModelConfig pairs = grpe;
  pairs.encoder().pair_state = 8;
  contradicts(pairs, "--pair-state", [](TrainOptions&) {}, {"pair-state"});
  contradicts(graphormer, "--path ", [](TrainOptions& o) { o.model.path_rule = PathRule::single; });
  contradicts(graphormer, "--path-hops", [](TrainOptions& o) { o.model.path_hops = 3; });
  EXPECT_EQ(problem([](TrainOptions& o) { o.model.path_hops = 5; }, {"path-hops"}, &graphormer), "");
}

TEST(OptionConflicts, RejectsTrainingOptionsWithoutEffect) {
  LoadedData data;
  data.set = one_molecule();
  data.split.train = {0};
  ModelConfig start = model_of([](TrainOptions& o) { o.model.architecture = architecture("grpe"); });
  const auto rejects = [&](const std::string& flag, const Change& change, const NamedFlags& named = {},
                           const ModelConfig* from = nullptr) {
    TrainOptions options;
    change(options);
    try {
      check_training_flags(options, named, data, from);
      ADD_FAILURE() << flag;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(flag), std::string::npos) << error.what();
    }
  };
  rejects("--patience", [](TrainOptions& o) { o.training.patience = 5; });
  rejects(
      "--urpe", [](TrainOptions& o) { o.model.gate.use = Switch::on, o.model.frozen = Frozen::encoder; }, {}, &start);
  rejects(
      "--scale-targets", [](TrainOptions&) {}, {"scale-targets"}, &start);
  start.task.names = {"z"};
  EXPECT_NO_THROW(check_training_flags({}, {"scale-targets"}, data, &start)) << "the head is new";
  data.set.task.kind = TaskKind::binary;
  rejects("--scale-targets", [](TrainOptions&) {}, {"scale-targets"});
  data.split.valid = {0};
  EXPECT_NO_THROW(check_training_flags({}, {}, data, nullptr));
}

TEST(ModelSize, RejectsModelsThatDoNotFitIntoMemory) {
  const ModelConfig huge = model_of([](TrainOptions& o) {
    o.model.layers = 1000, o.model.width = 65536, o.model.ffn = 262144, o.model.heads = 4096;
  });
  try {
    check_model_fits(model_plan(huge), {});
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("a model of 51,"), std::string::npos)
        << error.what();  // 1000 * 12 * 65536^2
  }
  const ModelConfig small = model_of([](TrainOptions&) {});
  EXPECT_NO_THROW(check_model_fits(model_plan(small), {.average = true}));
  EXPECT_GT(machine_memory(), 1e8);
}

}  // namespace
}  // namespace molgraph

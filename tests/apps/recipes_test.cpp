// Recipes: the settings of published papers.
#include "apps/training/options/recipes.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "apps/scoring/model_file.hpp"
#include "apps/training/run/run_options.hpp"
#include "attention/spec/parameters.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Replaces the data set of a recipe: one molecule and the task.
LoadedData one_molecule(const Task& task, Features features) {
  LoadedData data;
  data.set.task = task;
  data.set.featurizer.features = features;
  MolecularGraph carbon;
  carbon.features = features;
  carbon.atoms.assign(static_cast<std::size_t>(feature_shape(features).atom_columns), 0);
  data.set.add(carbon, 0, "0", "C", std::vector<double>(task.names.size(), 1.0));
  data.split.train = {0};
  return data;
}

ResolvedRun resolved(const std::string& name, const LoadedData& data) {
  TrainOptions options = recipe(name).options;
  options.model.recipe = name;
  return resolve(options, data, nullptr);
}

// docs/models/formula.md, section 7: for each recipe, at least one value that the other recipes do not share.
TEST(Recipes, MatchThePapersSettings) {
  EXPECT_EQ(recipe("urpe-zinc").options.model.gate.use, Switch::on);
  EXPECT_EQ(recipe("urpe-zinc").options.training.steps, 600000);
  EXPECT_DOUBLE_EQ(recipe("urpe-zinc").options.training.lr, 4e-4);
  EXPECT_EQ(recipe("graphormer-zinc").options.model.gate.use, Switch::off);
  EXPECT_EQ(recipe("graphormer-zinc").options.model.max_distance, 38);
  EXPECT_EQ(recipe("graphormer-zinc").options.training.warmup_steps, 40000);
  EXPECT_EQ(recipe("graphormer-zinc").options.model.path_rule, PathRule::single);
  EXPECT_DOUBLE_EQ(recipe("grpe-zinc").options.model.perturb_noise, 0.2);
  EXPECT_EQ(recipe("grpe-zinc").options.model.key_term, KeyTerm::row);
  EXPECT_EQ(recipe("grpe-zinc").options.training.grad_clip, 0.0);
  EXPECT_FALSE(recipe("grpe-zinc").options.training.scale_targets);
  EXPECT_EQ(recipe("grpe-pcqm4m").options.training.warmup_epochs, 3);
  EXPECT_EQ(recipe("graphormer-molhiv").options.model.flag, "2,0.2,0");
  EXPECT_EQ(recipe("urpe-pcqm4m").options.model.size, "small");
  EXPECT_THROW(recipe("urpe"), UsageError);
}

TEST(Recipes, Pcqm4mv2AndLargeModelsMatchThePapers) {
  for (const auto& [name, data, size, batch, epochs] : {std::tuple{"grpe-pcqm4mv2", "pcqm4mv2", "standard", 1024, 400},
                                                        {"grpe-large-pcqm4mv2", "pcqm4mv2", "large", 512, 400},
                                                        {"grpe-large-molpcba", "molpcba", "large", 256, 200}}) {
    const TrainOptions& o = recipe(name).options;
    EXPECT_EQ(o.data.paths, std::vector<std::string>{data}) << name;
    EXPECT_EQ(o.model.size, size) << name;
    EXPECT_EQ(o.training.batch_size, batch) << name;
    EXPECT_EQ(o.training.epochs, epochs) << name;
    EXPECT_EQ(o.training.warmup_epochs, 3) << name;
    EXPECT_EQ(o.training.weight_decay, 0.0) << name;
    EXPECT_EQ(o.training.grad_clip, 5.0) << name;
    EXPECT_EQ(o.model.attention_dropout, 0.1) << name << ": the published code ignores its flag";
    EXPECT_EQ(o.model.key_term, KeyTerm::row) << name;
    EXPECT_EQ(o.model.max_distance, 5) << name;
  }
  for (const char* name : {"grpe-pcqm4mv2", "grpe-large-pcqm4mv2"}) {
    EXPECT_EQ(recipe(name).options.model.dropout, 0.1) << name;
    EXPECT_EQ(recipe(name).options.training.lr, 2e-4) << name;
    EXPECT_TRUE(recipe(name).band_is_validation) << name;
  }
  EXPECT_EQ(recipe("grpe-large-molpcba").options.model.dropout, 0.3);
  EXPECT_EQ(recipe("grpe-large-molpcba").options.training.lr, 3e-4);
  EXPECT_FALSE(recipe("grpe-large-molpcba").band_is_validation);
}

// Park et al. 2022: 46.2 and 118.3 million parameters. Their code has 4,609 embedding rows for atoms (here 174), and
// three times 8 rows for distances (here 11) and 34 rows for edges (here 64).
TEST(Recipes, HaveThePublishedParameterCounts) {
  constexpr std::int64_t kMoreRows = 4609 - 174 + 3 * (8 - 11 + 34 - 64);
  const Task gap{TaskKind::regression, {"gap"}, {"eV"}, 0, {}};
  Task assays{TaskKind::binary, {}, std::vector<std::string>(128), 0, {}};
  for (int t = 0; t < 128; ++t) assays.names.push_back(std::to_string(t));
  for (const auto& [name, task, width, published] : {std::tuple{"grpe-pcqm4mv2", gap, 768, 46.2e6},
                                                     {"grpe-large-pcqm4mv2", gap, 1024, 118.3e6},
                                                     {"grpe-large-molpcba", assays, 1024, 118.3e6}}) {
    const ModelConfig model = resolved(name, one_molecule(task, Features::ogb)).model;
    const std::int64_t outputs = task.num_targets() - 1;  // the published numbers are for one output
    const std::int64_t count = parameters_of(model_plan(model)).numbers() - outputs * (width + 1);
    EXPECT_NEAR(static_cast<double>(count + kMoreRows * width), published, 0.05e6) << name << ' ' << count;
  }
}

}  // namespace
}  // namespace molgraph

#include "apps/training/train_options.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "apps/training/recipes.hpp"
#include "apps/training/run_options.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string scratch_file(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / ("molgraph_" + name)).string();
}

TEST(TrainOptions, TablesGetTheFeaturesOfOurOwnButNotWithARecipe) {
  TrainOptions options;
  options.data = {"my.csv"};
  EXPECT_EQ(to_load_options(options, 1).table_features, Features::molgraph);
  EXPECT_FALSE(to_load_options(options, 1).features.has_value());
  options.recipe = "grpe-molhiv";
  EXPECT_EQ(to_load_options(options, 1).table_features, Features::ogb);
  options.features = "molgraph";
  EXPECT_EQ(to_load_options(options, 1).features, Features::molgraph);
}

TEST(TrainOptions, TomlRoundTripKeepsEveryOption) {
  TrainOptions options;
  options.data = {"a b.csv", "c\"d.csv"};
  options.split_sizes = {0.7, 0.2, 0.1};
  options.lr = 1.0 / 3.0;
  options.strict = true;
  options.share_encodings = "off";
  options.seed = 12345;
  options.grpe_terms = {"topology", "value"};
  const std::string path = scratch_file("options.toml");
  write_file_atomically(path, to_toml(options));
  EXPECT_EQ(to_toml(train_options_from_toml(path)), to_toml(options));
  EXPECT_EQ(train_options_from_toml(path).lr, 1.0 / 3.0);
  EXPECT_EQ(train_options_from_toml(path).data, options.data);
}

TEST(TrainOptions, DamagedTomlIsRefused) {
  const std::string path = scratch_file("bad.toml");
  write_file_atomically(path, "epochs = [\n");
  EXPECT_THROW(train_options_from_toml(path), FileError);
  write_file_atomically(path, "epochs = 3\n");
  EXPECT_THROW(train_options_from_toml(path), FileError);
}

TEST(TrainOptions, RunsOfTheFirstVersionAreRead) {
  TrainOptions options;
  options.no_header = true;
  std::string text = to_toml(options);
  const std::string line = "header = false\n";
  const std::size_t at = text.find("\n" + line);
  ASSERT_NE(at, std::string::npos);
  text.erase(at + 1, line.size());
  const TrainOptions read = train_options_from_text(text, "old");
  EXPECT_TRUE(read.no_header);
  EXPECT_FALSE(read.header);
}

// config.toml is read again by --resume: what the command line refuses is refused there too.
TEST(TrainOptions, StoredValuesOutOfRangeAreRefused) {
  const std::string path = scratch_file("range.toml");
  for (const auto& [good, bad] : std::vector<std::pair<std::string, std::string>>{
           {"lr = 0.0005", "lr = nan"}, {"layers = 0", "layers = 65536"}, {"max-atoms = 1024", "max-atoms = 70000000000"},
           {"urpe = 'auto'", "urpe = 'maybe'"}, {"ema = 0.0", "ema = 1.0"}, {"split-sizes = [ 0.8", "split-sizes = [ -0.8"}}) {
    std::string text = to_toml(TrainOptions{});
    ASSERT_NE(text.find(good), std::string::npos) << good << "\n" << text;
    text.replace(text.find(good), good.size(), bad);
    write_file_atomically(path, text);
    EXPECT_THROW(train_options_from_toml(path), FileError) << bad;
  }
}

TEST(TrainOptions, EveryNumberHasARange) {
  TrainOptions options;
  for (const auto& option : list_options(options)) {
    const bool number = std::visit(
        [](const auto* field) {
          using T = std::decay_t<decltype(*field)>;
          return (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::vector<double>>;
        },
        option.field);
    EXPECT_EQ(number, !std::holds_alternative<std::monostate>(option.range)) << option.key();
  }
  EXPECT_NO_THROW(check_values(options)) << "defaults lie in their ranges";
  for (const auto& item : recipes()) EXPECT_NO_THROW(check_values(item.options)) << item.name;
}

TEST(TrainOptions, EveryFieldIsListedOnce) {
  TrainOptions options;
  std::set<std::string> keys;
  std::set<const void*> fields;
  for (const auto& option : list_options(options)) {
    EXPECT_TRUE(keys.insert(option.key()).second) << option.key();
    std::visit([&](const auto* field) { EXPECT_TRUE(fields.insert(field).second) << option.key(); }, option.field);
    EXPECT_FALSE(option.help.empty());
  }
}

MoleculeSet ten_molecules() {
  MoleculeSet set;
  set.task = {TaskKind::regression, {"y"}, {""}, 0, {}};
  MolecularGraph carbon;
  carbon.atoms.assign(9, 0);
  for (int g = 0; g < 10; ++g) set.add(carbon, g, std::to_string(g), "C", {static_cast<double>(g)});
  return set;
}

LoadedData loaded() {
  LoadedData data;
  data.set = ten_molecules();
  data.split = {{0, 1, 2, 3, 4, 5, 6, 7}, {8}, {9}};
  return data;
}

TEST(RunOptions, AutomaticValuesAreWrittenBackAndStay) {
  TrainOptions options;
  options.data = {"my.csv"};
  const LoadedData data = loaded();
  const ModelConfig config = resolve_model(options, data.set, nullptr);
  EXPECT_EQ(options.model, "grpe");
  EXPECT_EQ(options.urpe, "on");
  EXPECT_TRUE(config.encoder().gate.enabled);
  const TrainerOptions trainer = resolve_training(options, data, "folder");
  EXPECT_EQ(trainer.batch_size, 32);
  EXPECT_EQ(trainer.total_steps, 300);
  EXPECT_EQ(trainer.warmup_steps, 30);
  EXPECT_EQ(trainer.patience, 30);
  const std::string once = to_toml(options);
  resolve_model(options, data.set, nullptr);
  resolve_training(options, data, "folder");
  EXPECT_EQ(to_toml(options), once);
}

TEST(RunOptions, ANamedModelHasNoGateUnlessAsked) {
  TrainOptions options;
  options.data = {"my.csv"};
  options.model = "graphormer";
  EXPECT_FALSE(resolve_model(options, ten_molecules(), nullptr).encoder().gate.enabled);
}

TEST(RunOptions, ContradictionsAreUsageErrors) {
  const LoadedData data = loaded();
  const auto refuse = [&](auto change) {
    TrainOptions options;
    options.data = {"my.csv"};
    change(options);
    EXPECT_THROW(
        {
          resolve_model(options, data.set, nullptr);
          resolve_training(options, data, "folder");
        },
        UsageError);
  };
  refuse([](TrainOptions& o) { o.width = 10, o.heads = 3; });
  refuse([](TrainOptions& o) { o.epochs = 3, o.steps = 100; });
  refuse([](TrainOptions& o) { o.loss = "bce"; });
  refuse([](TrainOptions& o) { o.metric = "roc-auc"; });
  refuse([](TrainOptions& o) { o.dropout = 1.0; });
  refuse([](TrainOptions& o) { o.lr = 0; });
  refuse([](TrainOptions& o) { o.grpe_terms = {"topology", "kye"}; });
  refuse([](TrainOptions& o) { o.model = "grpe", o.size = "slim"; });
  refuse([](TrainOptions& o) { o.model = "grpe", o.path = "single"; });
  refuse([](TrainOptions& o) { o.model = "graphormer", o.perturb_noise = 0.2; });
  refuse([](TrainOptions& o) { o.urpe = "off", o.gate_relu = true; });
  refuse([](TrainOptions& o) { o.weight_decay = -1; });
  refuse([](TrainOptions& o) { o.encoding = "rope"; });
  refuse([](TrainOptions& o) { o.encoding = "graphormer", o.model = "grpe"; });
  refuse([](TrainOptions& o) { o.encoding = "t5", o.key_term = "row"; });
  refuse([](TrainOptions& o) { o.encoding = "shaw", o.grpe_terms = {"topology"}; });
  refuse([](TrainOptions& o) { o.encoding = "t5", o.pe_dim = 4; });
  refuse([](TrainOptions& o) { o.encoding = "t5", o.untie_virtual = true; });
  refuse([](TrainOptions& o) { o.encoding = "t5", o.path_hops = 3; });
  refuse([](TrainOptions& o) { o.encoding = "laplacian", o.pe_dim = -1; });
  refuse([](TrainOptions& o) { o.urpe = "off", o.gate_path = true; });
  refuse([](TrainOptions& o) { o.flag = "2,0.2"; });
}

TEST(RunOptions, WarmUpIsGivenOnce) {
  const LoadedData data = loaded();
  const auto resolve = [&](std::int64_t steps, std::int64_t epochs) {
    TrainOptions options;
    options.data = {"my.csv"};
    options.epochs = 10;
    options.warmup_steps = steps;
    options.warmup_epochs = epochs;
    resolve_model(options, data.set, nullptr);
    resolve_training(options, data, "folder");
    const std::int64_t once = options.warmup_steps;
    resolve_training(options, data, "folder");
    EXPECT_EQ(options.warmup_steps, once);
    return once;
  };
  EXPECT_EQ(resolve(-1, 3), 3);
  EXPECT_EQ(resolve(4, 0), 4);
  EXPECT_EQ(resolve(3, 3), 3) << "as config.toml has it";
  EXPECT_THROW(resolve(4, 3), UsageError);
}

TEST(RunOptions, MoreStepsThanRandomNumbersAreRefused) {
  LoadedData data = loaded();
  data.split.train.assign(1000, 0);
  TrainOptions options;
  options.data = {"my.csv"};
  options.batch_size = 1;
  options.epochs = 1000000;
  resolve_model(options, data.set, nullptr);
  EXPECT_NO_THROW(resolve_training(options, data, "folder"));
  data.split.train.assign(4001, 0);
  options.steps = 0;
  options.warmup_steps = -1;
  EXPECT_THROW(resolve_training(options, data, "folder"), UsageError);
}

TEST(RunOptions, AnEncodingNamesItsTermsAndItsModel) {
  const auto resolve = [](auto change) {
    TrainOptions options;
    options.data = {"my.csv"};
    change(options);
    const ModelConfig config = resolve_model(options, ten_molecules(), nullptr);
    // What is written to config.toml means the same model.
    const ModelConfig again = resolve_model(options, ten_molecules(), nullptr);
    EXPECT_EQ(to_json(again), to_json(config));
    return config;
  };
  const ModelConfig deberta = resolve([](TrainOptions& o) { o.encoding = "deberta"; });
  EXPECT_EQ(deberta.model.architecture->name, "grpe");
  EXPECT_EQ(deberta.encoder().key_term, KeyTerm::reverse);
  EXPECT_EQ(deberta.encoder().score_terms, 3);
  EXPECT_FALSE(deberta.encoder().gate.enabled) << "the gate is on only where neither model nor encoding is named";
  const ModelConfig graphormer = resolve([](TrainOptions& o) { o.encoding = "graphormer", o.urpe = "on"; });
  EXPECT_EQ(graphormer.model.architecture->name, "graphormer");
  EXPECT_TRUE(graphormer.model.path_bias);
  EXPECT_FALSE(graphormer.encoder().untie_virtual);
  const ModelConfig t5 = resolve([](TrainOptions& o) { o.encoding = "t5", o.model = "graphormer"; });
  EXPECT_EQ(t5.model.architecture->name, "graphormer");
  EXPECT_FALSE(t5.model.path_bias);
  EXPECT_TRUE(t5.encoder().untie_virtual);
  EXPECT_TRUE(t5.encoder().share_encodings);
  EXPECT_FALSE(resolve([](TrainOptions& o) { o.encoding = "diet-rel"; }).encoder().share_encodings);
  EXPECT_TRUE(resolve([](TrainOptions& o) { o.encoding = "diet-rel", o.share_encodings = "on"; }).encoder().share_encodings);
  EXPECT_EQ(resolve([](TrainOptions& o) { o.encoding = "laplacian"; }).encoder().position_dim, 8);
  EXPECT_EQ(resolve([](TrainOptions& o) { o.encoding = "tupe", o.pe_dim = 5; }).encoder().position_dim, 5);
  const ModelConfig path = resolve([](TrainOptions& o) { o.encoding = "t5", o.urpe = "on", o.gate_path = true; });
  EXPECT_EQ(path.encoder().gate.path_hops, 5);
  const ModelConfig table9 = resolve([](TrainOptions& o) { o.model = "grpe", o.grpe_terms = {"topology", "value"}; });
  EXPECT_EQ(table9.encoder().terms, RelationTerms{.topology_value = true});
}

TEST(RunOptions, WhatIsSaidOfTheStartingRunMustBeTrue) {
  TrainOptions first;
  first.data = {"my.csv"};
  first.model = "grpe";
  const ModelConfig start = resolve_model(first, ten_molecules(), nullptr);
  const auto fine = [&](auto change) {
    TrainOptions options;
    options.data = {"my.csv"};
    options.from = "R";
    change(options);
    return resolve_model(options, ten_molecules(), &start);
  };
  EXPECT_NO_THROW(fine([](TrainOptions& o) { o.encoding = "grpe", o.share_encodings = "on"; }));
  EXPECT_EQ(fine([](TrainOptions& o) { o.urpe = "on", o.gate_path = true, o.path_hops = 3; }).encoder().gate.path_hops, 3);
  EXPECT_THROW(fine([](TrainOptions& o) { o.encoding = "shaw"; }), UsageError);
  EXPECT_THROW(fine([](TrainOptions& o) { o.grpe_terms = {"topology", "query"}; }), UsageError);
  EXPECT_THROW(fine([](TrainOptions& o) { o.post_ln = true; }), UsageError);
  EXPECT_THROW(fine([](TrainOptions& o) { o.share_encodings = "off"; }), UsageError);
  EXPECT_THROW(fine([](TrainOptions& o) { o.key_term = "row"; }), UsageError);
  EXPECT_THROW(fine([](TrainOptions& o) { o.published_classes = true; }), UsageError);
  EXPECT_THROW(fine([](TrainOptions& o) { o.pe_dim = 3; }), UsageError);
}

// Recipes with pre-trained weights name the size that --from brings along.
TEST(RunOptions, ARecipesSizeAgreesWithTheRunItStartsFrom) {
  TrainOptions first = recipe("graphormer-molhiv").options;
  const ModelConfig start = resolve_model(first, ten_molecules(), nullptr);
  TrainOptions fine = recipe("graphormer-molhiv").options;
  fine.from = "R";
  EXPECT_EQ(resolve_model(fine, ten_molecules(), &start).encoder().width, 768);
  fine = recipe("graphormer-molhiv").options;
  fine.size = "slim";
  EXPECT_THROW(resolve_model(fine, ten_molecules(), &start), UsageError);
}

TEST(Recipes, NameNoOptionThatTheirModelRefuses) {
  for (const Recipe& one : recipes()) {
    TrainOptions options = one.options;
    EXPECT_NO_THROW(resolve_model(options, ten_molecules(), nullptr)) << one.name;
  }
}

// docs/formula.md section 7, one figure of each recipe that the others do not share.
TEST(Recipes, AreThePapersSettings) {
  EXPECT_EQ(recipe("urpe-zinc").options.urpe, "on");
  EXPECT_EQ(recipe("urpe-zinc").options.steps, 600000);
  EXPECT_DOUBLE_EQ(recipe("urpe-zinc").options.lr, 4e-4);
  EXPECT_EQ(recipe("graphormer-zinc").options.urpe, "off");
  EXPECT_EQ(recipe("graphormer-zinc").options.max_distance, 38);
  EXPECT_EQ(recipe("graphormer-zinc").options.warmup_steps, 40000);
  EXPECT_EQ(recipe("graphormer-zinc").options.path, "single");
  EXPECT_DOUBLE_EQ(recipe("grpe-zinc").options.perturb_noise, 0.2);
  EXPECT_EQ(recipe("grpe-zinc").options.key_term, "row");
  EXPECT_EQ(recipe("grpe-zinc").options.grad_clip, 0.0);
  EXPECT_FALSE(recipe("grpe-zinc").options.scale_targets);
  EXPECT_EQ(recipe("grpe-pcqm4m").options.warmup_epochs, 3);
  EXPECT_EQ(recipe("graphormer-molhiv").options.flag, "2,0.2,0");
  EXPECT_EQ(recipe("urpe-pcqm4m").options.size, "small");
  EXPECT_THROW(recipe("urpe"), UsageError);
}

}  // namespace
}  // namespace molgraph

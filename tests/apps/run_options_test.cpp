#include "apps/training/run/run_options.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "apps/scoring/architectures.hpp"
#include "apps/training/options/recipes.hpp"
#include "apps/training/run/quality.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

const Architecture* architecture_named(const char* name) { return &architecture_from_string(name); }
const Encoding* encoding_named(const char* name) { return &encoding_from_string(name); }

LoadedData ten_molecules() {
  LoadedData data;
  data.set.task = {TaskKind::regression, {"y"}, {""}, 0, {}};
  MolecularGraph carbon;
  carbon.atoms.assign(9, 0);
  for (int g = 0; g < 10; ++g) data.set.add(carbon, g, std::to_string(g), "C", {static_cast<double>(g)});
  data.split = {{0, 1, 2, 3, 4, 5, 6, 7}, {8}, {9}};
  return data;
}

/// The options of `molgraph-train my.csv`.
TrainOptions own_table() {
  TrainOptions options;
  options.data.paths = {"my.csv"};
  return options;
}
template <class Change>
TrainOptions own_table(Change change) {
  TrainOptions options = own_table();
  change(options);
  return options;
}

TEST(RunOptions, ResolvingAgainChangesNothing) {
  TrainOptions options = own_table();
  const std::string before = to_toml(options);
  const LoadedData data = ten_molecules();
  const ResolvedRun run = resolve(options, data, nullptr);
  EXPECT_EQ(to_toml(options), before) << "resolving does not change its input";
  EXPECT_EQ(run.options.model.architecture->name, "grpe");
  EXPECT_EQ(run.options.model.gate.use, Switch::on);
  EXPECT_TRUE(run.model.encoder().gate.enabled);
  EXPECT_EQ(run.trainer.batch_size, 32);
  EXPECT_EQ(run.trainer.total_steps, 60);
  EXPECT_EQ(run.trainer.warmup_steps, 6);
  EXPECT_EQ(run.trainer.patience, 0);
  const ResolvedRun again = resolve(run.options, data, nullptr);
  EXPECT_EQ(to_toml(again.options), to_toml(run.options));
  EXPECT_EQ(to_json(again.model), to_json(run.model));
  EXPECT_EQ(again.trainer.identity, run.trainer.identity);
}

/// A table of which the first `labelled` molecules have labels for all targets. A tenth of the molecules is in the
/// validation set and a tenth in the test set.
LoadedData small_table(int molecules, int labelled, int targets = 1) {
  LoadedData data;
  data.split_name = "random";
  data.set.task = {TaskKind::regression,
                   std::vector<std::string>(static_cast<std::size_t>(targets), "y"),
                   std::vector<std::string>(static_cast<std::size_t>(targets)),
                   0,
                   {}};
  MolecularGraph carbon;
  carbon.atoms.assign(9, 0);
  for (int g = 0; g < molecules; ++g) {
    const double label = g < labelled ? g : std::numeric_limits<double>::quiet_NaN();
    data.set.add(carbon, g, std::to_string(g), "C", std::vector<double>(static_cast<std::size_t>(targets), label));
    (g % 10 == 0 ? data.split.valid : g % 10 == 1 ? data.split.test : data.split.train).push_back(g);
  }
  return data;
}

TEST(RunOptions, SmallTablesAreCalibratedOutOfFold) {
  EXPECT_FALSE(needs_out_of_fold(small_table(50, 50))) << "45 labels";
  EXPECT_TRUE(needs_out_of_fold(small_table(60, 60)));
  EXPECT_TRUE(needs_out_of_fold(small_table(490, 490)));
  EXPECT_FALSE(needs_out_of_fold(small_table(500, 500))) << "50 labels in the validation set";
  EXPECT_TRUE(needs_out_of_fold(small_table(1'100, 490)));
  EXPECT_FALSE(needs_out_of_fold(small_table(1'120, 490))) << "more than 1,000 rows";
  EXPECT_TRUE(needs_out_of_fold(small_table(300, 300, 74)));
  EXPECT_FALSE(needs_out_of_fold(small_table(300, 300, 75))) << "more than 20,000 labels";
  LoadedData of_store = small_table(300, 300);
  of_store.split_name = "column";
  EXPECT_FALSE(needs_out_of_fold(of_store));

  EXPECT_EQ(inner_folds_of(own_table()), kInnerFolds);
  const auto no_inner_folds = [](auto change) { return inner_folds_of(own_table(change)) == 0; };
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.data.paths = {"esol"}; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.data.paths = {"a.csv", "b.csv", "c.csv"}; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.data.splits_column = "split"; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.data.splits_file = "splits.json"; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.data.folds = 5; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.data.calibration_size = 0.2; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.training.calibrate = false; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.training.quality = Quality::fast; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.training.out_of_fold = Switch::off; }));
  EXPECT_TRUE(no_inner_folds([](TrainOptions& o) { o.model.recipe = "grpe-zinc"; }));
}

TEST(RunOptions, DefaultsDependOnTableSizeAndTaskKind) {
  LoadedData data = ten_molecules();
  data.set.input_names = {"logD"};
  data.set.inputs.assign(static_cast<std::size_t>(data.set.size()), 1.0F);
  TrainOptions options = own_table();
  const ResolvedRun numbers = resolve(options, data, nullptr);
  EXPECT_EQ(numbers.trainer.total_steps, 60);
  EXPECT_EQ(numbers.trainer.patience, 0);
  EXPECT_EQ(numbers.model.encoder().layers, 6);
  EXPECT_EQ(numbers.model.model.head.mixed, 256);
  EXPECT_EQ(to_toml(resolve(numbers.options, data, nullptr).options), to_toml(numbers.options));
  data.split.train.assign(4999, 0);
  EXPECT_EQ(resolve(options, data, nullptr).model.encoder().layers, 6);
  data.split.train.push_back(0);
  EXPECT_EQ(resolve(options, data, nullptr).model.encoder().layers, 12);
  options.model.size = "small";
  data.split.train = {0, 1};
  EXPECT_EQ(resolve(options, data, nullptr).model.encoder().layers, 12)
      << "a size option is used for any number of molecules";
  data.set.task.kind = TaskKind::binary;
  data.set.targets = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const ResolvedRun classes = resolve(options, data, nullptr);
  EXPECT_EQ(classes.trainer.total_steps, 20);
  EXPECT_EQ(classes.model.model.head.mixed, 32);
}

TEST(RunOptions, ComputedTargetsTrainLonger) {
  LoadedData data = ten_molecules();
  data.training.computed = true;
  TrainOptions options;
  options.data.paths = {"demo"};
  const ResolvedRun run = resolve(options, data, nullptr);
  EXPECT_EQ(run.trainer.total_steps, 300);
  EXPECT_EQ(run.trainer.patience, 30);
  EXPECT_EQ(run.model.encoder().layers, 12);
}

TEST(RunOptions, RefitStretchesTheScheduleToMoreRows) {
  LoadedData data = ten_molecules();
  data.split = {{0, 1, 2, 3}, {4, 5}, {6}};
  Split all{{0, 1, 2, 3, 4, 5}, {}, {6}};
  TrainOptions options = own_table();
  options.training.batch_size = 2;
  options.training.steps = 21;  // 10.5 epochs
  options.training.warmup_steps = 4;
  options.training.patience = 3;
  const ResolvedRun run = resolve(options, data, nullptr);
  ASSERT_EQ(run.trainer.epochs, 11);
  const ResolvedRun refit = for_refit(run, data, data.split, all, 7);
  EXPECT_EQ(refit.trainer.total_steps, 31);  // three updates per epoch
  EXPECT_EQ(refit.trainer.warmup_steps, 6);
  EXPECT_EQ(refit.trainer.epochs, 7);
  EXPECT_EQ(refit.trainer.patience, 0);
  EXPECT_NE(refit.trainer.identity, run.trainer.identity);
}

TEST(RunOptions, OptionsOverrideDefaultsOfTheDataSet) {
  LoadedData data = ten_molecules();
  data.training = {.model = "graphormer", .steps = 500, .batch_size = 4};
  TrainOptions options;
  options.data.paths = {"zinc"};
  const ResolvedRun own = resolve(options, data, nullptr);
  EXPECT_EQ(own.options.model.architecture->name, "graphormer");
  EXPECT_EQ(own.trainer.total_steps, 500);
  EXPECT_EQ(own.trainer.batch_size, 4);
  options.model.encoding = encoding_named("t5");
  options.training.epochs = 3;
  const ResolvedRun changed = resolve(options, data, nullptr);
  EXPECT_EQ(changed.options.model.architecture->name, "grpe");
  EXPECT_EQ(changed.trainer.total_steps, 6);
}

TEST(RunOptions, FoldsHaveTheSameEpochsAndMembersTheirOwnSeed) {
  LoadedData data = ten_molecules();
  TrainOptions options = own_table();
  options.training.batch_size = 2;
  options.training.steps = 7;  // two epochs, the second cut short
  options.training.warmup_epochs = 1;
  options.training.ensemble_size = 3;
  const ResolvedRun run = resolve(options, data, nullptr);
  EXPECT_EQ(run.trainer.warmup_steps, 4);
  data.split.train.pop_back();
  data.split.train.pop_back();
  const ResolvedRun fold = for_fold(run, data, data.split);
  EXPECT_EQ(fold.trainer.total_steps, 6);
  EXPECT_EQ(fold.trainer.warmup_steps, 3);
  const ResolvedRun member = for_member(fold, data, data.split, 2);
  EXPECT_EQ(member.trainer.seed, 2u);
  EXPECT_EQ(member.options.training.ensemble_size, 1);
  EXPECT_NE(member.trainer.identity, for_member(fold, data, data.split, 1).trainer.identity);
}

TEST(RunOptions, NamedModelHasNoGateByDefault) {
  TrainOptions options = own_table();
  options.model.architecture = architecture_named("graphormer");
  EXPECT_FALSE(resolve(options, ten_molecules(), nullptr).model.encoder().gate.enabled);
}

TEST(RunOptions, EpochsOfAConfigApplyToOtherData) {
  const LoadedData data = ten_molecules();
  TrainOptions options = own_table();
  TrainingSettings& t = options.training;
  t.batch_size = 2, t.epochs = 20, t.steps = 100, t.warmup_steps = 10;
  EXPECT_EQ(resolve(options, data, nullptr).trainer.total_steps, 20 * 4);
  EXPECT_EQ(resolve(options, data, nullptr).trainer.warmup_steps, 2 * 4);
  EXPECT_EQ(resolve(options, data, nullptr, {"warmup-steps"}).trainer.warmup_steps, 10);
  for (const char* named : {"epochs", "steps"}) EXPECT_THROW(resolve(options, data, nullptr, {named}), UsageError);
  t.warmup_epochs = 3;
  EXPECT_EQ(resolve(options, data, nullptr).trainer.warmup_steps, 3 * 4);
}

TEST(RunOptions, ContradictionsAreUsageErrors) {
  const LoadedData data = ten_molecules();
  const auto fails = [&](auto change) { EXPECT_THROW(resolve(own_table(change), data, nullptr), UsageError); };
  fails([](TrainOptions& o) { o.model.width = 10, o.model.heads = 3; });
  fails([](TrainOptions& o) { o.training.loss = Loss::bce; });
  fails([](TrainOptions& o) { o.training.metric = Metric::roc_auc; });
  fails([](TrainOptions& o) { o.model.dropout = 1.0; });
  fails([](TrainOptions& o) { o.training.lr = 0; });
  fails([](TrainOptions& o) { o.model.architecture = architecture_named("grpe"), o.model.size = "slim"; });
  fails(
      [](TrainOptions& o) { o.model.architecture = architecture_named("grpe"), o.model.path_rule = PathRule::single; });
  fails([](TrainOptions& o) { o.model.architecture = architecture_named("graphormer"), o.model.perturb_noise = 0.2; });
  fails([](TrainOptions& o) { o.model.gate.use = Switch::off, o.model.gate.relu = true; });
  fails([](TrainOptions& o) { o.training.weight_decay = -1; });
  fails([](TrainOptions& o) {
    o.model.encoding = encoding_named("graphormer"), o.model.architecture = architecture_named("grpe");
  });
  fails([](TrainOptions& o) { o.model.encoding = encoding_named("t5"), o.model.key_term = KeyTerm::row; });
  fails([](TrainOptions& o) { o.model.encoding = encoding_named("shaw"), o.model.grpe_terms = {GrpeTerm::topology}; });
  fails([](TrainOptions& o) { o.model.encoding = encoding_named("t5"), o.model.position_dim = 4; });
  fails([](TrainOptions& o) { o.model.encoding = encoding_named("t5"), o.model.untie_virtual = true; });
  fails([](TrainOptions& o) { o.model.encoding = encoding_named("t5"), o.model.path_hops = 3; });
  fails([](TrainOptions& o) { o.model.encoding = encoding_named("laplacian"), o.model.position_dim = -1; });
  fails([](TrainOptions& o) { o.model.gate.use = Switch::off, o.model.gate.path = true; });
  fails([](TrainOptions& o) { o.model.flag = "2,0.2"; });
}

TEST(RunOptions, WarmUpStepsAndEpochsMustAgree) {
  const LoadedData data = ten_molecules();
  const auto warmup = [&](std::optional<std::int64_t> steps, std::optional<std::int64_t> epochs,
                          const NamedFlags& named = {}) {
    TrainOptions options = own_table();
    options.training.epochs = 10;
    options.training.warmup_steps = steps;
    options.training.warmup_epochs = epochs;
    const ResolvedRun run = resolve(options, data, nullptr, named);
    EXPECT_EQ(resolve(run.options, data, nullptr).trainer.warmup_steps, run.trainer.warmup_steps);
    return run.trainer.warmup_steps;
  };
  EXPECT_EQ(warmup({}, 3), 3);
  EXPECT_EQ(warmup(4, {}), 4);
  EXPECT_EQ(warmup(3, 3), 3) << "as in config.toml";
  EXPECT_EQ(warmup(4, 3), 3) << "config.toml of a run with other data";
  EXPECT_THROW(warmup(4, 3, {"warmup-steps"}), UsageError);
}

TEST(RunOptions, MoreStepsThanRandomNumbersIsAnError) {
  LoadedData data = ten_molecules();
  data.split.train.assign(1000, 0);
  TrainOptions options = own_table();
  options.training.batch_size = 1;
  options.training.epochs = 1000000;
  EXPECT_NO_THROW(resolve(options, data, nullptr));
  data.split.train.assign(4001, 0);
  EXPECT_THROW(resolve(options, data, nullptr), UsageError);
}

TEST(RunOptions, EncodingDeterminesTermsAndModel) {
  const auto model = [](auto change) {
    const ResolvedRun run = resolve(own_table(change), ten_molecules(), nullptr);
    // The options in config.toml give the same model.
    EXPECT_EQ(to_json(resolve(run.options, ten_molecules(), nullptr).model), to_json(run.model));
    return run.model;
  };
  const ModelConfig deberta = model([](TrainOptions& o) { o.model.encoding = encoding_named("deberta"); });
  EXPECT_EQ(deberta.model.architecture->name, "grpe");
  EXPECT_EQ(deberta.encoder().key_term, KeyTerm::reverse);
  EXPECT_EQ(deberta.encoder().score_terms, 3);
  EXPECT_FALSE(deberta.encoder().gate.enabled) << "the gate is on by default only if neither model nor encoding is set";
  const ModelConfig graphormer =
      model([](TrainOptions& o) { o.model.encoding = encoding_named("graphormer"), o.model.gate.use = Switch::on; });
  EXPECT_EQ(graphormer.model.architecture->name, "graphormer");
  EXPECT_TRUE(graphormer.model.path_bias);
  EXPECT_FALSE(graphormer.encoder().untie_virtual);
  const ModelConfig t5 = model([](TrainOptions& o) {
    o.model.encoding = encoding_named("t5"), o.model.architecture = architecture_named("graphormer");
  });
  EXPECT_EQ(t5.model.architecture->name, "graphormer");
  EXPECT_FALSE(t5.model.path_bias);
  EXPECT_TRUE(t5.encoder().untie_virtual);
  EXPECT_TRUE(t5.encoder().share_encodings);
  EXPECT_FALSE(model([](TrainOptions& o) { o.model.encoding = encoding_named("diet-rel"); }).encoder().share_encodings);
  EXPECT_TRUE(model([](TrainOptions& o) {
                o.model.encoding = encoding_named("diet-rel"), o.model.share_encodings = Switch::on;
              })
                  .encoder()
                  .share_encodings);
  EXPECT_EQ(model([](TrainOptions& o) { o.model.encoding = encoding_named("laplacian"); }).encoder().position_dim, 8);
  EXPECT_EQ(model([](TrainOptions& o) { o.model.encoding = encoding_named("tupe"), o.model.position_dim = 5; })
                .encoder()
                .position_dim,
            5);
  const ModelConfig path = model([](TrainOptions& o) {
    o.model.encoding = encoding_named("t5"), o.model.gate.use = Switch::on, o.model.gate.path = true;
  });
  EXPECT_EQ(path.encoder().gate.path_hops, 5);
  const ModelConfig table9 = model([](TrainOptions& o) {
    o.model.architecture = architecture_named("grpe"), o.model.grpe_terms = {GrpeTerm::topology, GrpeTerm::value};
  });
  EXPECT_EQ(table9.encoder().terms, RelationTerms{.topology_value = true});
  const EncoderOptions walks = model([](TrainOptions& o) {
                                 o.model.encoding = encoding_named("grpe-walk"), o.model.gate.use = Switch::on,
                                 o.model.grpe_terms = {GrpeTerm::edge, GrpeTerm::query};
                                 o.model.walk_terms = {WalkTerm::gate, WalkTerm::value};
                                 o.model.readout = Readout::sum, o.model.degree_scaler = true;
                                 o.model.pair_state = 24;
                               }).encoder();
  EXPECT_EQ(walks.terms, (RelationTerms{.edge_query = true, .walk_value = true}));
  EXPECT_EQ(walks.position, NodePosition::none);
  EXPECT_TRUE(walks.gate.walk);
  EXPECT_EQ(walks.readout, Readout::sum);
  EXPECT_TRUE(walks.degree_scaler);
  EXPECT_EQ(walks.pair_state, 24);
  EXPECT_FALSE(model([](TrainOptions& o) { o.model.encoding = encoding_named("grpe-walk"); }).encoder().gate.walk);
  const auto vector = [&](std::vector<PairWord> words) {
    return model([&](TrainOptions& o) {
             o.model.encoding = encoding_named("graphormer-walk"), o.model.pair_relations = words;
           })
        .encoder()
        .pair_vector();
  };
  EXPECT_EQ(vector({PairWord::rings, PairWord::walks}), (PairVector{.steps = 10, .rings = true}));
  EXPECT_EQ(vector({PairWord::paths}), (PairVector{.paths = true}));
}

TEST(RunOptions, OptionsMustMatchTheStartingRun) {
  TrainOptions first = own_table();
  first.model.architecture = architecture_named("grpe");
  const ModelConfig start = resolve(first, ten_molecules(), nullptr).model;
  const auto from_run = [&](auto change) {
    TrainOptions options = own_table(change);
    options.model.from = "R";
    return resolve(options, ten_molecules(), &start).model;
  };
  EXPECT_NO_THROW(from_run(
      [](TrainOptions& o) { o.model.encoding = encoding_named("grpe"), o.model.share_encodings = Switch::on; }));
  EXPECT_EQ(
      from_run([](TrainOptions& o) { o.model.gate.use = Switch::on, o.model.gate.path = true, o.model.path_hops = 3; })
          .encoder()
          .gate.path_hops,
      3);
  TrainOptions with_walks = own_table();
  with_walks.model.encoding = encoding_named("grpe-walk"), with_walks.model.readout = Readout::sum;
  const ModelConfig walks = resolve(with_walks, ten_molecules(), nullptr).model;
  TrainOptions gated = own_table([](TrainOptions& o) { o.model.gate.use = Switch::on; });
  gated.model.from = "R";
  const auto with_gate = resolve(gated, ten_molecules(), &walks);
  EXPECT_FALSE(walks.encoder().gate.walk);
  EXPECT_TRUE(with_gate.model.encoder().gate.walk) << "a new gate also has the walk term";
  EXPECT_EQ(with_gate.model.encoder().readout, Readout::sum);
  EXPECT_THROW(from_run([](TrainOptions& o) { o.model.encoding = encoding_named("shaw"); }), UsageError);
  EXPECT_THROW(from_run([](TrainOptions& o) {
                 o.model.grpe_terms = {GrpeTerm::topology, GrpeTerm::query};
               }),
               UsageError);
  EXPECT_THROW(from_run([](TrainOptions& o) { o.model.post_ln = true; }), UsageError);
  EXPECT_THROW(from_run([](TrainOptions& o) { o.model.share_encodings = Switch::off; }), UsageError);
  EXPECT_THROW(from_run([](TrainOptions& o) { o.model.key_term = KeyTerm::row; }), UsageError);
  EXPECT_THROW(from_run([](TrainOptions& o) { o.model.published_classes = true; }), UsageError);
  EXPECT_THROW(from_run([](TrainOptions& o) { o.model.position_dim = 3; }), UsageError);
}

// Recipes with pre-trained weights also set the size of the model, which must be that of the run given with --from.
TEST(RunOptions, RecipeSizeMustMatchTheStartingRun) {
  TrainOptions first = recipe("graphormer-molhiv").options;
  const ModelConfig start = resolve(first, ten_molecules(), nullptr).model;
  TrainOptions options = recipe("graphormer-molhiv").options;
  options.model.from = "R";
  EXPECT_EQ(resolve(options, ten_molecules(), &start).model.encoder().width, 768);
  options = recipe("graphormer-molhiv").options;
  options.model.size = "slim";
  EXPECT_THROW(resolve(options, ten_molecules(), &start).model, UsageError);
}

TEST(Recipes, ResolveWithoutConflicts) {
  for (const Recipe& one : recipes()) {
    TrainOptions options = one.options;
    EXPECT_NO_THROW(resolve(options, ten_molecules(), nullptr).model) << one.name;
  }
}

}  // namespace
}  // namespace molgraph

#include "apps/training/run_baselines.hpp"

#include <chrono>
#include <filesystem>

#include "apps/scoring/tree_file.hpp"
#include "apps/training/baselines/blend.hpp"
#include "apps/training/baselines/booster.hpp"
#include "apps/training/option_conflicts.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// The share of every target in words: "logS 0.45".
std::string shares_text(const std::vector<TreeTarget>& targets) {
  std::vector<std::string> shares;
  for (const TreeTarget& target : targets)
    shares.push_back((targets.size() > 1 ? target.name + " " : "") + text("%.2f", target.weight));
  return list_of(shares, 12);
}

/// The mean of the models' predictions of the three parts.
PartPredictions mean_of(const std::vector<AllPredictions>& models) {
  AllPredictions mean;
  for (const AllPredictions& model : models) mean.add_share(model, 1.0 / static_cast<double>(models.size()));
  return mean.parts;
}

}  // namespace

bool wants_baselines(const TrainOptions& o, const LoadedData& data) {
  const auto refuse = [&](bool wrong, const std::string& why) {
    if (wrong && o.training.blend) throw UsageError("--blend: " + why);
  };
  refuse(o.training.baselines == Switch::off, "its trees are left out by --no-baselines");
  refuse(xgboost_version().empty(), "this molgraph was built without XGBoost, which makes the trees");
  refuse(!has_validation(data), "there is no validation part to choose the shares by");
  const std::int64_t molecules = data.set.size();
  refuse(molecules > kMostBaselineMolecules, text("%s molecules are more than %s", with_thousands(molecules).c_str(),
                                                  with_thousands(kMostBaselineMolecules).c_str()));
  refuse(static_cast<std::int64_t>(data.split.train.size()) * data.set.task.num_targets() > kMostTreeCells &&
             data.set.task.num_targets() > kMostTreeCells / kFewestTreeRows,
         text("%d targets are too many for trees", data.set.task.num_targets()));
  if (!data.set.computed_targets.empty()) return false;
  if (o.training.blend || o.training.baselines != Switch::automatic)
    return o.training.blend || o.training.baselines == Switch::on;
  const bool own_table = !o.data.paths.empty() && std::filesystem::exists(o.data.paths.front());
  return own_table && static_cast<std::int64_t>(data.split.train.size()) <= kMostBaselineRows;
}

RunBaselines::RunBaselines(const TrainRun& run, const ResolvedRun& resolved)
    : run_(run), resolved_(resolved), wanted_(resolved.options.training.baselines == Switch::on) {}

const FeatureRows* RunBaselines::rows_of(const MoleculeSet& set) {
  if (rows_) return &*rows_;
  if (set.size() > kMostBaselineMolecules) {
    run_.control.note("Baselines left out: " + with_thousands(set.size()) + " molecules are more than " +
                      with_thousands(kMostBaselineMolecules));
    return nullptr;
  }
  const auto give_up = [&](const std::exception& error) {
    run_.control.note(std::string("Baselines left out: ") + error.what());
    return nullptr;
  };
  const bool needed = resolved_.options.training.blend;
  try {
    const WorkInProgress work(run_.control, "Descriptors for the baselines", "molecules", set.size());
    rows_ = feature_rows(set, run_.threads, [&](std::int64_t done) {
      run_.control.stop_if_asked();
      work.advance(done, set.size());
    });
  } catch (const DataError& error) {
    if (needed) throw;
    return give_up(error);
  } catch (const FileError& error) {
    if (needed) throw;
    return give_up(error);
  }
  return &*rows_;
}

BaselineOptions RunBaselines::baseline_options() const {
  return {.seed = resolved_.options.training.seed, .threads = run_.threads, .ask_to_go_on = [this] {
            run_.control.stop_if_asked();
          }};
}

void RunBaselines::blend(const LoadedData& data, Baselines& baselines, std::vector<AllPredictions>& models,
                         const std::vector<std::string>& folders) const {
  std::vector<TreeTarget>& shares = baselines.trees->targets;
  std::vector<std::vector<double>> of_valid;
  for (const AllPredictions& model : models) of_valid.push_back(model.parts[1]);
  choose_blend(resolved_.trainer.metric, data.set.task, of_valid, baselines.of_trees[1],
               targets_of(data.set, data.split.valid), shares);
  const Trees trees = refit_trees(baselines, *rows_, data.set, data.split, baseline_options());
  const auto predicted = [&](const std::vector<std::int64_t>& molecules) {
    return tree_predictions(trees, *rows_, molecules, run_.threads);
  };
  const PartPredictions of_trees{predicted(data.split.train), baselines.of_trees[1], predicted(data.split.test)};
  for (AllPredictions& model : models) {
    for (std::size_t p = 0; p < model.parts.size(); ++p) mix_rows(shares, of_trees[p], model.parts[p]);
    for (auto& [name, values] : model.hidden) {
      const std::vector<std::int64_t>& molecules = data.hidden_parts.at(name);
      for (std::size_t i = 0; i < molecules.size(); ++i) {
        if (molecules[i] < 0) continue;
        mix_predictions(shares, predicted({molecules[i]}), values.data() + i * trees.outputs());
      }
    }
  }
  for (const std::string& folder : folders) write_trees(folder + "/" + kTreesFile, trees, resolved_.model.featurizer);
  run_.control.note("Blend: the transformer's share is " + shares_text(shares) +
                    ", the trees' the rest; chosen on the validation part, which the trees then learn too");
}

std::vector<Rival> RunBaselines::of_split(const LoadedData& data, std::vector<AllPredictions>& models,
                                          const std::vector<std::string>& folders) {
  if (!wanted_) return {};
  const auto begin = std::chrono::steady_clock::now();
  const FeatureRows* rows = rows_of(data.set);
  if (rows == nullptr) return {};
  Baselines made;
  try {
    made = make_baselines(*rows, data.set, data.split, baseline_options());
  } catch (const RunError& error) {  // of the library; nobody has asked for it, so a trained model is not lost for it
    if (resolved_.options.training.blend) throw;
    run_.control.warn(std::string("Baselines left out: ") + error.what());
    return {};
  }
  if (resolved_.options.training.blend && !made.trees) throw UsageError("--blend: no trees can be made of this split");
  for (const std::string& note : made.notes) run_.control.note(note);
  std::vector<Rival> rivals{{"nearest neighbour", "nearest_neighbour", std::move(made.nearest)}};
  if (made.trees) {
    if (resolved_.options.training.blend) {
      rivals.push_back({"transformer alone", "transformer", mean_of(models), true});
      blend(data, made, models, folders);
    }
    rivals.insert(rivals.begin() + 1, {kTreesName, "trees", std::move(made.of_trees)});
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run_.control.note("Baselines took " + duration_text(seconds));
  return rivals;
}

}  // namespace molgraph

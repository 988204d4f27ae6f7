#include "apps/training/baselines/baselines.hpp"

#include <algorithm>

#include "apps/training/baselines/booster.hpp"
#include "apps/training/baselines/gaussian_process_fit.hpp"
#include "apps/training/baselines/nearest.hpp"
#include "apps/training/baselines/tree_fit.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kMoleculesPerPiece = 64;

std::int64_t most_tree_rows(const MoleculeSet& set) {
  return std::min(kMostBaselineRows, kMostTreeCells / static_cast<std::int64_t>(set.task.names.size()));
}

std::string sampled_note(const std::string& what, std::size_t used, std::size_t all) {
  return what + with_thousands(static_cast<std::int64_t>(used)) + " of " +
         with_thousands(static_cast<std::int64_t>(all)) + " training molecules";
}

ProcessFitOptions process_options(const BaselineOptions& options, const GaussianProcess* like) {
  return {.like = like, .seed = options.seed, .threads = options.threads, .ask_to_go_on = options.ask_to_go_on};
}

void make_process(const FeatureRows& rows, const MoleculeSet& set, const Split& split, const BaselineOptions& options,
                  Baselines& made) {
  FittedProcess fitted = fit_process(rows, set, split.train, process_options(options, nullptr));
  if (fitted.learned < fitted.labels)
    made.notes.push_back("The Gaussian process was made with " + with_thousands(fitted.learned) + " of " +
                         with_thousands(fitted.labels) + " labels");
  const ProcessPredictor predictor(fitted.process);
  made.process = std::move(fitted.process);
  const std::array<const std::vector<std::int64_t>*, 3> parts{&split.train, &split.valid, &split.test};
  for (std::size_t p = 0; p < parts.size(); ++p)
    made.of_process[p] = process_predictions(predictor, rows, *parts[p], options.threads, options.ask_to_go_on);
}

}  // namespace

std::vector<double> tree_predictions(const Trees& trees, const FeatureRows& rows,
                                     const std::vector<std::int64_t>& indices, int threads) {
  std::vector<double> values(indices.size() * trees.outputs());
  parallel_for(static_cast<std::int64_t>(indices.size()), kMoleculesPerPiece, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<float> row(rows.width);
                 for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
                   rows.spread(static_cast<std::size_t>(indices[k]), row.data());
                   tree_predictions(trees, row, values.data() + k * trees.outputs());
                 }
               });
  return values;
}

Baselines make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                         const BaselineOptions& options) {
  const std::array<const std::vector<std::int64_t>*, 3> parts{&split.train, &split.valid, &split.test};
  Baselines made;
  const std::vector<std::int64_t> known = sample(split.train, kMostBaselineRows, options.seed);
  if (known.size() < split.train.size())
    made.notes.push_back(sampled_note("The nearest neighbour is looked for among ", known.size(), split.train.size()));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (options.ask_to_go_on) options.ask_to_go_on();
    made.nearest[p] = nearest_predictions(rows, set, known, *parts[p], options.threads);
  }
  const std::int64_t most = most_tree_rows(set);
  if (static_cast<std::int64_t>(known.size()) > most && most < kFewestTreeRows) {
    made.notes.push_back(
        text("Trees and Gaussian process: baselines left out: %zu targets are too many", set.task.names.size()));
    return made;
  }
  make_process(rows, set, split, options, made);
  if (xgboost_version().empty()) {
    made.notes.emplace_back("Trees: baseline left out: built without XGBoost");
    return made;
  }
  const std::vector<std::int64_t> taught = sample(known, most, options.seed);
  if (taught.size() < split.train.size())
    made.notes.push_back(sampled_note("The trees were made with ", taught.size(), split.train.size()));
  FittedTrees fitted =
      fit_trees(rows, set, taught, split.valid,
                {.seed = options.seed, .threads = options.threads, .ask_to_go_on = options.ask_to_go_on});
  made.trees = std::move(fitted.trees);
  made.rounds = std::move(fitted.rounds);
  for (std::size_t p = 0; p < parts.size(); ++p)
    made.of_trees[p] = tree_predictions(*made.trees, rows, *parts[p], options.threads);
  return made;
}

Trees refit_trees(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                  const std::vector<std::int64_t>& molecules, const BaselineOptions& options) {
  return fit_trees(rows, set, sample(molecules, most_tree_rows(set), options.seed), {},
                   {.exact_rounds = baselines.rounds,
                    .seed = options.seed,
                    .threads = options.threads,
                    .ask_to_go_on = options.ask_to_go_on})
      .trees;
}

GaussianProcess refit_process(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                              const std::vector<std::int64_t>& molecules, const BaselineOptions& options) {
  return fit_process(rows, set, molecules, process_options(options, &*baselines.process)).process;
}

}  // namespace molgraph

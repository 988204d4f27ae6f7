#include "apps/training/baselines/baselines.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

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
constexpr std::int64_t kMeasuredQueries = 32;  ///< per thread, to estimate the total time

std::int64_t max_tree_rows(const MoleculeSet& set) {
  return std::min(kMaxBaselineRows, kMaxTreeCells / static_cast<std::int64_t>(set.task.names.size()));
}

/// Returns true if there are too many targets for trees and a process.
bool has_too_many_targets(const MoleculeSet& set, const std::vector<std::int64_t>& known) {
  const std::int64_t limit = max_tree_rows(set);
  return std::ssize(known) > limit && limit < kMinTreeRows;
}

std::string sampled_note(const std::string& what, std::size_t used, std::size_t all) {
  return what + with_thousands(static_cast<std::int64_t>(used)) + " of " +
         with_thousands(static_cast<std::int64_t>(all)) + " training molecules";
}

std::function<void(std::int64_t, std::int64_t)> progress_of(const WorkInProgress& work) {
  return [&work](std::int64_t more, std::int64_t all) { work.add(more, all); };
}

std::int64_t size_of(const Split& split) {
  return std::ssize(split.train) + std::ssize(split.valid) + std::ssize(split.test);
}

std::function<void()> stop_check(const BaselineOptions& options) {
  return [&control = options.control] { control.stop_if_requested(); };
}

ProcessFitOptions process_options(const BaselineOptions& options, const GaussianProcess* like) {
  return {.like = like, .seed = options.seed, .threads = options.threads, .throw_if_stopped = stop_check(options)};
}

TreeFitOptions tree_options(const BaselineOptions& options) {
  return {.seed = options.seed, .threads = options.threads, .throw_if_stopped = stop_check(options)};
}

void make_process(const FeatureRows& rows, const MoleculeSet& set, const Split& split, const BaselineOptions& options,
                  Baselines& baselines) {
  const WorkInProgress work(options.control, kProcessWork, "targets", 0);
  ProcessFitOptions fit = process_options(options, nullptr);
  fit.progress = progress_of(work);
  FittedProcess fitted = fit_process(rows, set, split.train, fit);
  if (fitted.learned < fitted.labels)
    baselines.notes.push_back("The Gaussian process is trained on " + with_thousands(fitted.learned) + " of " +
                              with_thousands(fitted.labels) + " labels");
  const ProcessPredictor predictor(fitted.process);
  baselines.process = std::move(fitted.process);
  const std::array<const std::vector<std::int64_t>*, 3> parts{&split.train, &split.valid, &split.test};
  for (std::size_t p = 0; p < parts.size(); ++p)
    baselines.of_process[p] = process_predictions(predictor, rows, *parts[p], options.threads, fit.throw_if_stopped,
                                                  p == 1 ? &baselines.difficulty[p] : nullptr);
}

}  // namespace

std::vector<double> tree_predictions(const Trees& trees, const FeatureRows& rows,
                                     const std::vector<std::int64_t>& indices, int threads) {
  const TreePredictor predictor(trees);
  std::vector<double> values(indices.size() * trees.outputs());
  parallel_for(static_cast<std::int64_t>(indices.size()), kMoleculesPerPiece, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<float> dense(static_cast<std::size_t>(end - begin) * rows.width);
                 for (std::int64_t k = begin; k < end; ++k)
                   rows.spread(static_cast<std::size_t>(indices[static_cast<std::size_t>(k)]),
                               dense.data() + static_cast<std::size_t>(k - begin) * rows.width);
                 predictor.predict(dense, values.data() + static_cast<std::size_t>(begin) * trees.outputs());
               });
  return values;
}

Baselines make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                         const BaselineOptions& options) {
  const std::array<const std::vector<std::int64_t>*, 3> parts{&split.train, &split.valid, &split.test};
  Baselines baselines;
  const std::vector<std::int64_t> known = sample(split.train, kMaxBaselineRows, options.seed);
  if (known.size() < split.train.size())
    baselines.notes.push_back(
        sampled_note("The nearest neighbour is searched for among ", known.size(), split.train.size()));
  {
    const WorkInProgress work(options.control, kNearestWork, "molecules", size_of(split));
    for (std::size_t p = 0; p < parts.size(); ++p)
      baselines.nearest[p] = nearest_predictions(rows, set, known, *parts[p], options.threads, [&](std::int64_t more) {
        options.control.stop_if_requested();
        work.add(more, size_of(split));
      });
  }
  if (has_too_many_targets(set, known)) {
    baselines.notes.push_back(
        text("Trees and Gaussian process: baselines left out: too many targets (%zu)", set.task.names.size()));
    return baselines;
  }
  make_process(rows, set, split, options, baselines);
  if (xgboost_version().empty()) {
    baselines.notes.emplace_back("Trees: baseline left out: built without XGBoost");
    return baselines;
  }
  const std::vector<std::int64_t> tree_molecules = sample(known, max_tree_rows(set), options.seed);
  if (tree_molecules.size() < split.train.size())
    baselines.notes.push_back(sampled_note("The trees are trained on ", tree_molecules.size(), split.train.size()));
  const WorkInProgress work(options.control, kTreesWork, "rounds", 0);
  TreeFitOptions fit = tree_options(options);
  fit.progress = progress_of(work);
  FittedTrees fitted = fit_trees(rows, set, tree_molecules, split.valid, fit);
  baselines.trees = std::move(fitted.trees);
  baselines.tree_sizes = std::move(fitted.sizes);
  for (std::size_t p = 0; p < parts.size(); ++p)
    baselines.of_trees[p] = tree_predictions(*baselines.trees, rows, *parts[p], options.threads);
  return baselines;
}

BaselineSeconds seconds_to_make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                                          const BaselineOptions& options) {
  const std::vector<std::int64_t> known = sample(split.train, kMaxBaselineRows, options.seed);
  const std::vector<std::int64_t> queries =
      sample(split.train, kMeasuredQueries * thread_count(options.threads), options.seed);
  if (known.empty()) return {};
  const auto seconds_of = [&](const std::vector<std::int64_t>& some) {
    const auto start = std::chrono::steady_clock::now();
    (void)nearest_predictions(rows, set, known, some, options.threads);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto all = static_cast<double>(size_of(split));
  const double index = seconds_of({}), searched = std::max(0.0, seconds_of(queries) - index);
  BaselineSeconds seconds{.nearest = 3 * index + searched * all / static_cast<double>(queries.size())};
  if (has_too_many_targets(set, known)) return seconds;
  const ProcessSeconds process = seconds_to_fit_process(rows, set, split.train, process_options(options, nullptr));
  seconds.process = process.fit + all * process.molecule;
  seconds.process_refit = process.refit;
  if (!xgboost_version().empty())
    seconds.trees = seconds_to_fit_trees(rows, set, sample(known, max_tree_rows(set), options.seed), split.valid,
                                         tree_options(options));
  return seconds;
}

Trees refit_trees(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                  const std::vector<std::int64_t>& molecules, const BaselineOptions& options) {
  const WorkInProgress work(options.control, kTreesWork, "rounds", 0);
  TreeFitOptions fit = tree_options(options);
  fit.sizes = baselines.tree_sizes;
  fit.progress = progress_of(work);
  return fit_trees(rows, set, sample(molecules, max_tree_rows(set), options.seed), {}, fit).trees;
}

GaussianProcess refit_process(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                              const std::vector<std::int64_t>& molecules, const BaselineOptions& options) {
  const WorkInProgress work(options.control, kProcessWork, "targets", 0);
  ProcessFitOptions fit = process_options(options, &*baselines.process);
  fit.progress = progress_of(work);
  return fit_process(rows, set, molecules, fit).process;
}

}  // namespace molgraph

#include "apps/training/baselines/tree_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "apps/scoring/moments.hpp"
#include "apps/training/baselines/booster.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// A binary target with fewer labels in the training and validation sets gets a forest of kForestTrees trees, which is
/// better than boosting there.
constexpr std::size_t kForestRows = 5000, kForestTrees = 500;

/// Numbers of trees, rows and rounds for estimating the duration of a fit. Regression needs 550 to 600 rounds on ESOL
/// and Lipophilicity, and 80 if the labels are noise.
constexpr int kMeasuredTrees = 5;
constexpr std::int64_t kMeasuredRows = 2'000;
constexpr double kTypicalRounds = 450;

/// One target's labels in the form for boosters, and the conversion of margins to predictions.
struct TargetRows {
  BoosterOptions options;
  LabelledRows train, valid;
  std::vector<double> base;  ///< [classes] see Trees::base
  double scale = 1;          ///< see Trees::scale; a regression target's deviation
  bool constant = false;     ///< the target is constant
};

/// Returns the labelled rows. `to_fit`: with censored labels and without rows of weight 0; otherwise only exact labels,
/// for evaluation.
LabelledRows labelled(const MoleculeSet& set, const std::vector<std::int64_t>& part, std::size_t target, bool to_fit) {
  const std::size_t targets = set.task.names.size();
  LabelledRows rows;
  bool censored = false;
  for (const std::int64_t g : part) {
    const std::size_t row = static_cast<std::size_t>(g), at = row * targets + target;
    const std::int8_t bound = set.bound.empty() ? std::int8_t{0} : set.bound[at];
    if (std::isnan(set.targets[at]) || (bound != 0 && !to_fit)) continue;
    if (to_fit && !set.weight.empty() && set.weight[row] == 0) continue;
    rows.rows.push_back(row);
    rows.labels.push_back(static_cast<float>(set.targets[at]));
    if (!set.weight.empty()) rows.weights.push_back(set.weight[row]);
    rows.bounds.push_back(bound);
    censored = censored || bound != 0;
  }
  if (!censored) rows.bounds.clear();
  double sum = 0;
  for (const float weight : rows.weights) sum += static_cast<double>(weight);
  for (float& weight : rows.weights)  // mean 1, so that the leaf penalty has the same effect as without weights
    if (sum > 0) weight *= static_cast<float>(static_cast<double>(rows.weights.size()) / sum);
  return rows;
}

/// Sets labels to (label - mean)/deviation, computed in double.
void standardise(const MoleculeSet& set, std::size_t target, double mean, double deviation, LabelledRows& rows) {
  const std::size_t targets = set.task.names.size();
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    rows.labels[i] = static_cast<float>((set.targets[rows.rows[i] * targets + target] - mean) / deviation);
}

/// Returns the weighted mean and deviation of the exact labels, or of all labels if none is exact.
std::pair<double, double> statistics(const MoleculeSet& set, std::size_t target, const LabelledRows& rows) {
  const bool exact = rows.bounds.empty() || std::ranges::count(rows.bounds, 0) > 0;
  Moments moments;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    if (exact && !rows.bounds.empty() && rows.bounds[i] != 0) continue;
    const double label = set.targets[rows.rows[i] * set.task.names.size() + target];
    const double weight = rows.weights.empty() ? 1 : static_cast<double>(rows.weights[i]);
    if (weight == 0) continue;
    moments.add(label, weight);
  }
  return {moments.weight > 0 ? moments.mean : std::numeric_limits<double>::quiet_NaN(), moments.deviation()};
}

TargetRows target_rows(const MoleculeSet& set, const std::vector<std::int64_t>& train,
                       const std::vector<std::int64_t>& valid, std::size_t target) {
  TargetRows t{.train = labelled(set, train, target, true), .valid = labelled(set, valid, target, false)};
  const Task& task = set.task;
  const std::size_t count = t.train.rows.size();
  t.options.kind = task.kind_of(target);
  t.options.classes = task.kind == TaskKind::multiclass ? task.classes : 1;
  t.constant = std::set<float>(t.train.labels.begin(), t.train.labels.end()).size() < 2;
  const auto [mean, deviation] = statistics(set, target, t.train);
  switch (t.options.kind) {
    case TaskKind::regression: {
      t.constant = count < 2 || !(deviation > 0);
      t.base = {count > 0 ? mean : 0};  // 0 without labels
      if (t.constant) break;
      t.scale = deviation;
      for (LabelledRows* rows : {&t.train, &t.valid}) standardise(set, target, mean, deviation, *rows);
      break;
    }
    case TaskKind::binary: {
      const double frequency = count == 0 ? 0.5 : std::clamp(mean, 1e-6, 1 - 1e-6);
      t.options.base = static_cast<double>(static_cast<float>(frequency));
      t.base = {std::log(t.options.base / (1 - t.options.base))};
      break;
    }
    case TaskKind::multiclass:
    case TaskKind::mixed:    // not the kind of a target
      t.options.base = 0.5;  // the same for all classes: no effect on the softmax
      t.base.assign(static_cast<std::size_t>(task.classes), 0);
      if (!t.constant || count == 0) break;
      t.base[static_cast<std::size_t>(t.train.labels[0])] = std::log(1e6);  // the only class
      break;
  }
  return t;
}

/// Returns the mean loss of margins [rows, classes]: squared error or log-loss.
double loss_of(const TargetRows& t, const std::vector<float>& margins) {
  const auto classes = static_cast<std::size_t>(t.options.classes);
  double sum = 0;
  for (std::size_t i = 0; i < t.valid.rows.size(); ++i) {
    const float* m = margins.data() + i * classes;
    const double label = t.valid.labels[i];
    if (t.options.kind == TaskKind::regression) {
      sum += (m[0] - label) * (m[0] - label);
    } else if (t.options.kind == TaskKind::binary) {
      const double z = label > 0.5 ? m[0] : -m[0];
      sum += z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z));
    } else {
      const double largest = *std::max_element(m, m + classes);
      double total = 0;
      for (std::size_t c = 0; c < classes; ++c) total += std::exp(m[c] - largest);
      sum += largest + std::log(total) - m[static_cast<std::size_t>(label)];
    }
  }
  return sum / static_cast<double>(t.valid.rows.size());
}

/// Returns the number of columns that have a value for any of the molecules.
std::size_t columns_in_use(const FeatureRows& rows, const std::vector<std::size_t>& molecules) {
  std::vector<bool> used(rows.width);
  for (const std::size_t row : molecules)
    for (std::size_t k = rows.offset[row]; k < rows.offset[row + 1]; ++k) used[rows.column[k]] = true;
  return static_cast<std::size_t>(std::ranges::count(used, true));
}

/// Returns options for a random forest (Breiman 2001) of `trees` trees on `width` columns in use, grown until no split
/// helps. A leaf's value is the difference between the frequency of label 1 in the leaf and in training, divided by
/// p (1 - p) for the frequency p in training: one Newton step in log-odds.
BoosterOptions forest_options(BoosterOptions options, std::size_t width, std::size_t trees) {
  options.lr = 1;
  options.depth = 0;
  options.rows = 0.632;  // the fraction of distinct rows in a bootstrap sample
  options.columns = 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(width, 1)));
  options.l2 = 0;
  options.min_child_weight = 0;
  options.forest = static_cast<int>(trees);
  return options;
}

/// The trees of one booster.
struct Boosted {
  std::vector<std::vector<std::vector<TreeNode>>> trees;  ///< [outputs][trees][nodes]
  BoosterSize size;
};

/// Returns the maximum number of rounds. `exact` = fixed number; 0 = early stopping.
int max_rounds(const TargetRows& t, const BoosterOptions& options, const TreeFitOptions& fit, int exact) {
  if (options.forest > 1) return 1;
  if (exact > 0) return exact;
  return t.valid.rows.empty() ? std::min(fit.rounds, fit.rounds_without_valid) : fit.rounds;
}

/// Trains one booster. Calls `throw_if_stopped` before each round.
Boosted boost(const FeatureRows& rows, const TargetRows& t, const BoosterOptions& options, const TreeFitOptions& fit,
              int exact, const std::function<void()>& throw_if_stopped) {
  Booster booster(rows, t.train, t.valid, options);
  const bool early_stopping = exact == 0 && !t.valid.rows.empty() && options.forest == 1;
  const int limit = max_rounds(t, options, fit, exact);
  double best = std::numeric_limits<double>::infinity();
  int best_rounds = early_stopping ? 0 : limit;
  for (int round = 1; round <= limit; ++round) {
    throw_if_stopped();
    booster.add_round();
    if (!early_stopping) continue;
    const double loss = loss_of(t, booster.valid_margins());
    if (loss < best) {
      best = loss;
      best_rounds = round;
    } else if (round - best_rounds >= fit.patience) {
      break;
    }
  }
  return {booster.trees(best_rounds), {best_rounds, options.forest > 1}};
}

/// Returns the number of boosters per target.
std::size_t copies_of(std::size_t targets, const TreeFitOptions& options) {
  return static_cast<std::size_t>(std::max(1, options.copies / static_cast<int>(targets)));
}

/// Whether the target gets a forest if its kind of trees is not fixed.
bool gets_forest(const TargetRows& t) {
  return t.options.kind == TaskKind::binary && t.train.rows.size() + t.valid.rows.size() < kForestRows;
}

/// Returns the options of one booster, without the seed.
BoosterOptions booster_options(const FeatureRows& rows, const TargetRows& t, std::size_t copies, bool forest) {
  return forest ? forest_options(t.options, columns_in_use(rows, t.train.rows), kForestTrees / copies) : t.options;
}

void append(const std::vector<TreeNode>& nodes, Trees& trees) {
  const std::size_t first = trees.nodes.size();
  if (first + nodes.size() > static_cast<std::size_t>(INT32_MAX))
    throw RunError("the trees have too many nodes for a file");
  for (TreeNode node : nodes) {
    if (node.feature >= 0) {
      node.left += static_cast<std::int32_t>(first);
      node.right += static_cast<std::int32_t>(first);
    }
    trees.nodes.push_back(node);
  }
  trees.tree_offset.push_back(static_cast<std::int64_t>(trees.nodes.size()));
}

}  // namespace

FittedTrees fit_trees(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                      const std::vector<std::int64_t>& valid, const TreeFitOptions& options) {
  const std::size_t count = set.task.names.size(), copies = copies_of(count, options);
  std::vector<TargetRows> targets;
  for (std::size_t t = 0; t < count; ++t) targets.push_back(target_rows(set, train, valid, t));
  std::vector<Boosted> fitted(count * copies);
  const auto advance = [&](std::int64_t rounds) {
    if (options.progress) options.progress(rounds, std::ssize(fitted) * options.rounds);
  };
  parallel_for(std::ssize(fitted), 1, options.threads, [&](std::int64_t begin, std::int64_t) {
    const auto job = static_cast<std::size_t>(begin);
    const TargetRows& t = targets[job / copies];
    const BoosterSize exact = options.sizes.empty() ? BoosterSize{0, gets_forest(t)} : options.sizes[job];
    std::int64_t round = 0, reported = 0;  // a booster counts as options.rounds, whatever its number of rounds
    if (!t.constant && (exact.rounds > 0 || options.sizes.empty())) {
      BoosterOptions one = booster_options(rows, t, copies, exact.forest);
      one.seed = options.seed * copies + job % copies;
      fitted[job] = boost(rows, t, one, options, exact.rounds, [&] {
        if (options.throw_if_stopped) options.throw_if_stopped();
        const std::int64_t counted = round++ * options.rounds / max_rounds(t, one, options, exact.rounds);
        advance(counted - std::exchange(reported, counted));
      });
    }
    advance(options.rounds - reported);
  });
  FittedTrees all{
      .trees = {.descriptors = rows.descriptors, .columns = rows.columns, .targets = blend_targets(set.task)}};
  Trees& trees = all.trees;
  for (const Boosted& one : fitted) all.sizes.push_back(one.size);
  for (std::size_t t = 0; t < count; ++t) {
    TargetRows& target = targets[t];
    trees.forest.push_back(all.sizes[t * copies].forest);
    if (trees.forest.back()) {  // the mean frequency of label 1 in the leaves
      target.base = {target.options.base};
      target.scale = target.options.base * (1 - target.options.base);
    }
    for (std::size_t c = 0; c < target.base.size(); ++c) {
      trees.base.push_back(target.base[c]);
      trees.scale.push_back(target.scale / static_cast<double>(copies));  // for the mean of the copies
      for (std::size_t copy = 0; copy < copies; ++copy) {
        const Boosted& one = fitted[t * copies + copy];
        if (one.size.rounds == 0) continue;  // no trees
        for (const std::vector<TreeNode>& nodes : one.trees[c]) append(nodes, trees);
      }
      trees.output_offset.push_back(static_cast<std::int64_t>(trees.tree_offset.size()) - 1);
    }
  }
  return all;
}

double seconds_to_fit_trees(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                            const std::vector<std::int64_t>& valid, const TreeFitOptions& options) {
  const std::size_t count = set.task.names.size(), copies = copies_of(count, options);
  for (std::size_t target = 0; target < count; ++target) {
    const TargetRows all = target_rows(set, train, valid, target);
    const std::vector<std::int64_t> some = sample(train, kMeasuredRows, options.seed);
    const TargetRows t = target_rows(set, some, sample(valid, kMeasuredRows, options.seed), target);
    if (t.constant) continue;
    BoosterOptions one = booster_options(rows, all, copies, gets_forest(all));
    const int forest = one.forest;
    const double typical = std::min<double>(kTypicalRounds, max_rounds(all, one, options, 0));
    const auto seconds_of = [&](int trees) {
      if (forest > 1) one.forest = trees;
      const auto start = std::chrono::steady_clock::now();
      Booster booster(rows, t.train, t.valid, one);
      for (int round = 0; round < (forest > 1 ? 1 : trees); ++round) {
        booster.add_round();
        if (forest == 1) (void)loss_of(t, booster.valid_margins());
      }
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const double first = seconds_of(1), more = std::max(0.0, seconds_of(1 + kMeasuredTrees) - first);
    const double seconds = first + more / kMeasuredTrees * (forest > 1 ? forest : typical);
    const auto boosters = static_cast<double>(count * copies);
    return seconds * static_cast<double>(train.size()) / static_cast<double>(some.size()) * boosters /
           std::min<double>(boosters, thread_count(options.threads));
  }
  return 0;
}

}  // namespace molgraph

// Trains trees for every target of a task: boosted trees with early stopping on the validation rows, or a forest for
// binary targets with few labels.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/scoring/trees.hpp"
#include "apps/training/baselines/feature_rows.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Kind and size of a booster.
struct BoosterSize {
  int rounds = 0;       ///< 1 for a forest
  bool forest = false;  ///< a random forest
  bool operator==(const BoosterSize&) const = default;
};

struct TreeFitOptions {
  int rounds = 600;                ///< maximum number of boosting rounds
  int patience = 60;               ///< rounds without improvement of the validation loss
  int rounds_without_valid = 250;  ///< if a target has no validation labels
  std::vector<BoosterSize> sizes;  ///< as in FittedTrees::sizes, without early stopping; empty = as above
  int copies = 4;  ///< boosters per target with different seeds, which are averaged; fewer with several targets
  std::uint64_t seed = 0;
  int threads = 0;                         ///< 0 = all usable cores; the result does not depend on it
  std::function<void()> throw_if_stopped;  ///< called between pieces of work, by several threads; may throw
  /// Called after `more` of `all` rounds are finished, by several threads.
  std::function<void(std::int64_t more, std::int64_t all)> progress;
};

struct FittedTrees {
  Trees trees;
  std::vector<BoosterSize> sizes;  ///< [targets * copies]
};

/// Trains the trees. `rows` are those of all molecules of the set; `train` and `valid` are indices into them. Missing
/// labels are left out. Censored labels are bounds in training and are left out in validation. Rows are weighted. A
/// target with fewer than two labels, or with only one value, gets no tree; its mean is predicted. Regression targets
/// are standardised. Throws RunError in a build without XGBoost.
FittedTrees fit_trees(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                      const std::vector<std::int64_t>& valid, const TreeFitOptions& options);

/// Estimates the seconds of fit_trees() on this machine by timing a few trees on a few rows.
double seconds_to_fit_trees(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                            const std::vector<std::int64_t>& valid, const TreeFitOptions& options);

}  // namespace molgraph

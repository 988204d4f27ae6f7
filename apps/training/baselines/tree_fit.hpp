// Trees for every target of a task: boosted on the training rows, stopped by the validation rows; of few labels of two
// classes a forest.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/scoring/trees.hpp"
#include "apps/training/baselines/feature_rows.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct TreeFitOptions {
  int rounds = 600;                ///< at most
  int patience = 60;               ///< rounds without a better validation loss
  int rounds_without_valid = 250;  ///< where a target has no validation label
  std::vector<int> exact_rounds;   ///< [FittedTrees::rounds], or empty: as above
  int copies = 4;  ///< boosters per target, of different seeds, whose mean is taken; with several targets fewer
  std::uint64_t seed = 0;
  int threads = 0;                     ///< 0 = all usable cores; no number depends on it
  std::function<void()> ask_to_go_on;  ///< called between pieces of work, by several threads; may throw
  /// So many rounds more are done, of so many; called by several threads.
  std::function<void(std::int64_t more, std::int64_t all)> progress;
};

struct FittedTrees {
  Trees trees;
  std::vector<int> rounds;  ///< [targets * copies] of each booster
};

/// `rows` are those of all molecules of the set; `train` and `valid` are indices into them. Missing labels are left
/// out; a censored one is a bound in training and left out in validation; rows count by their weights. A target with
/// one label only, or with fewer than two, gets no tree and its mean. Regression targets are standardised. Throws
/// RunError without XGBoost.
FittedTrees fit_trees(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                      const std::vector<std::int64_t>& valid, const TreeFitOptions& options);

/// Seconds that fit_trees() takes here, about: a few trees of a few rows are timed.
double seconds_to_fit_trees(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                            const std::vector<std::int64_t>& valid, const TreeFitOptions& options);

}  // namespace molgraph

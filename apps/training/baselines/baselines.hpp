// Predictions of simple methods on the same split as the model.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "apps/scoring/gaussian_process.hpp"
#include "apps/scoring/trees.hpp"
#include "apps/training/baselines/feature_rows.hpp"
#include "apps/training/baselines/tree_fit.hpp"
#include "apps/training/loop/run_control.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// The baselines of one split: predictions [n, outputs] for train, valid and test in this order; empty for a baseline
/// that was left out.
struct Baselines {
  std::array<std::vector<double>, 3> nearest, of_trees, of_process;
  std::array<std::vector<double>, 3> difficulty;  ///< [n, outputs] ProcessPredictor::predict(); only for valid
  std::optional<Trees> trees;
  std::vector<BoosterSize> tree_sizes;  ///< FittedTrees::sizes
  std::optional<GaussianProcess> process;
  std::vector<std::string> notes;  ///< reasons for leaving a baseline out, and sample sizes
};

struct BaselineOptions {
  std::uint64_t seed = 0;
  int threads = 0;
  RunControl control{};  ///< stops the work and receives its progress
};

/// With more molecules, there are no baselines.
inline constexpr std::int64_t kMaxBaselineMolecules = 200'000;
/// Maximum number of training molecules for neighbours and trees, drawn with the seed.
inline constexpr std::int64_t kMaxBaselineRows = 50'000;
/// Maximum number of training molecules times targets for trees. If this leaves fewer than kMinTreeRows molecules,
/// there are no trees.
inline constexpr std::int64_t kMaxTreeCells = 200'000, kMinTreeRows = 500;

/// Trains the baselines. `rows` are those of all molecules of the set.
Baselines make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                         const BaselineOptions& options);

/// Estimated seconds of each part of make_baselines() and of refit_process() on this machine; 0 = left out.
struct BaselineSeconds {
  double nearest = 0, process = 0, process_refit = 0, trees = 0;
};
BaselineSeconds seconds_to_make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                                          const BaselineOptions& options);

/// Trains the trees again on `molecules`, of the same kinds and with the same numbers of rounds.
Trees refit_trees(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                  const std::vector<std::int64_t>& molecules, const BaselineOptions& options);

/// Fits the process again to `molecules`, with the same kernels and noise.
GaussianProcess refit_process(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                              const std::vector<std::int64_t>& molecules, const BaselineOptions& options);

/// Returns predictions [n, outputs] for the molecules `indices`.
std::vector<double> tree_predictions(const Trees& trees, const FeatureRows& rows,
                                     const std::vector<std::int64_t>& indices, int threads);

}  // namespace molgraph

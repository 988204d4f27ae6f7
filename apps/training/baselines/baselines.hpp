// What simple methods predict on one split, beside the model.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "apps/scoring/gaussian_process.hpp"
#include "apps/scoring/trees.hpp"
#include "apps/training/baselines/feature_rows.hpp"
#include "apps/training/run_control.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// The baselines of one split: predictions [n, outputs] of train, valid and test in this order; all empty where one was
/// left out.
struct Baselines {
  std::array<std::vector<double>, 3> nearest, of_trees, of_process;
  std::optional<Trees> trees;
  std::vector<int> rounds;  ///< FittedTrees::rounds
  std::optional<GaussianProcess> process;
  std::vector<std::string> notes;  ///< why something was left out, or with how few molecules it was made
};

struct BaselineOptions {
  std::uint64_t seed = 0;
  int threads = 0;
  RunControl control{};  ///< may stop the work, and hears of it
};

/// Above so many molecules no baseline is made.
inline constexpr std::int64_t kMostBaselineMolecules = 200'000;
/// Neighbours and trees know at most so many training molecules, drawn by the seed.
inline constexpr std::int64_t kMostBaselineRows = 50'000;
/// Trees know at most so many training molecules times targets; with fewer molecules than kFewestTreeRows left, no tree
/// is made.
inline constexpr std::int64_t kMostTreeCells = 200'000, kFewestTreeRows = 500;

/// `rows` of all molecules of the set.
Baselines make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                         const BaselineOptions& options);

/// Seconds that make_baselines() takes here for each, about, and refit_process(); 0 = it is left out.
struct BaselineSeconds {
  double nearest = 0, process = 0, process_again = 0, trees = 0;
};
BaselineSeconds seconds_to_make_baselines(const FeatureRows& rows, const MoleculeSet& set, const Split& split,
                                          const BaselineOptions& options);

/// The trees once more, of as many rounds, made with `molecules`.
Trees refit_trees(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                  const std::vector<std::int64_t>& molecules, const BaselineOptions& options);

/// The process once more, of the same kernels and noises, made with `molecules`.
GaussianProcess refit_process(const Baselines& baselines, const FeatureRows& rows, const MoleculeSet& set,
                              const std::vector<std::int64_t>& molecules, const BaselineOptions& options);

/// Predictions [n, outputs] of the molecules `indices`.
std::vector<double> tree_predictions(const Trees& trees, const FeatureRows& rows,
                                     const std::vector<std::int64_t>& indices, int threads);

}  // namespace molgraph

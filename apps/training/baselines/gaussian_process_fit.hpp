// Gaussian processes of all targets of a task: exact regression on the labelled molecules, kernel and noise by the
// marginal likelihood.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/scoring/gaussian_process.hpp"
#include "apps/training/baselines/feature_rows.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct ProcessFitOptions {
  const GaussianProcess* like =
      nullptr;                         ///< kernels and noises are this one's, where it had some; null = they are chosen
  std::uint64_t seed = 0;              ///< of what is drawn where there is too much
  int threads = 0;                     ///< 0 = all usable cores; no number depends on it
  std::function<void()> ask_to_go_on;  ///< called between pieces of work, by several threads; may throw
  /// So many matrices more are solved, of so many; called by several threads.
  std::function<void(std::int64_t more, std::int64_t all)> progress;
};

/// The processes know at most so many molecules, one target at most so many labels, drawn by the seed.
inline constexpr std::int64_t kMostProcessMolecules = 10'000, kMostProcessLabels = 5'000;

struct FittedProcess {
  GaussianProcess process;
  std::int64_t labels = 0, learned = 0;  ///< how many there are, and how many of them it knows; of all targets together
};

/// `rows` are those of all molecules of the set; `train` are indices into them. Regression targets are standardised.
/// Of five mixtures of both kernels and seven noises the pair of the largest marginal likelihood (Rasmussen & Williams
/// 2006, eq. 5.8, with the amplitude that maximises it) on at most 1,000 of the labels, fewer with many targets.
/// Missing labels are left out; a row's noise is divided by its weight (mean 1), and rows of weight 0 teach nothing. A
/// censored label is the limit, or what the process itself says of the molecule where that lies beyond it, by three
/// rounds; mean and deviation are those of exact labels where there are some. A target with fewer than two labels, or
/// with one value alone, is always that. Throws RunError for a matrix that cannot be solved.
FittedProcess fit_process(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                          const ProcessFitOptions& options);

/// Seconds that a process takes here, about: to fit it, to fit one with its kernels, and to predict a molecule. Some
/// pairs of molecules and one small matrix are timed.
struct ProcessSeconds {
  double fit = 0, fit_again = 0, molecule = 0;
};
ProcessSeconds seconds_to_fit_process(const FeatureRows& rows, const MoleculeSet& set,
                                      const std::vector<std::int64_t>& train, const ProcessFitOptions& options);

/// Predictions [n, outputs] of the molecules `indices`. `ask_to_go_on`: as above.
std::vector<double> process_predictions(const ProcessPredictor& process, const FeatureRows& rows,
                                        const std::vector<std::int64_t>& indices, int threads,
                                        const std::function<void()>& ask_to_go_on = {});

}  // namespace molgraph

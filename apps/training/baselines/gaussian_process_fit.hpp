// Fits Gaussian processes for all targets of a task: exact regression on the labelled molecules, with kernel and noise
// chosen by marginal likelihood.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/scoring/gaussian_process.hpp"
#include "apps/training/baselines/feature_rows.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct ProcessFitOptions {
  const GaussianProcess* like = nullptr;   ///< source of kernels and noise, if it has any; null = they are chosen
  std::uint64_t seed = 0;                  ///< for sampling molecules and labels
  int threads = 0;                         ///< 0 = all usable cores; the result does not depend on it
  std::function<void()> throw_if_stopped;  ///< called between pieces of work, by several threads; may throw
  /// Called after `more` of `all` matrices are solved, by several threads.
  std::function<void(std::int64_t more, std::int64_t all)> progress;
};

/// Maximum number of molecules of all processes, and of labels of one target, drawn with the seed.
inline constexpr std::int64_t kMaxProcessMolecules = 10'000, kMaxProcessLabels = 5'000;

struct FittedProcess {
  GaussianProcess process;
  std::int64_t labels = 0, learned = 0;  ///< number of labels, and of those used, over all targets
};

/// Fits the processes. `rows` are those of all molecules of the set; `train` are indices into them.
///
/// Regression targets are standardised. Of five mixtures of both kernels and seven noise levels, the pair with the
/// largest marginal likelihood is used (Rasmussen & Williams 2006, eq. 5.8, with the amplitude that maximises it). The
/// likelihood is that of at most 1,000 labels, fewer with many targets. Missing labels are left out. A row's noise is
/// divided by its weight (mean 1); rows of weight 0 are left out. A censored label is replaced by its limit, or by the
/// process's own prediction if that lies beyond the limit, in three iterations. Mean and deviation are those of the
/// exact labels, if there are any. A target with fewer than two labels, or with only one value, is predicted to be
/// constant. Throws RunError if a kernel matrix cannot be factorised.
FittedProcess fit_process(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                          const ProcessFitOptions& options);

/// Estimated seconds on this machine to fit a process, to fit one with given kernels, and to predict a molecule. The
/// estimate is based on timing some pairs of molecules and one small matrix.
struct ProcessSeconds {
  double fit = 0, refit = 0, molecule = 0;
};
ProcessSeconds seconds_to_fit_process(const FeatureRows& rows, const MoleculeSet& set,
                                      const std::vector<std::int64_t>& train, const ProcessFitOptions& options);

/// Returns predictions [n, outputs] for the molecules `indices`; `difficulty`, if not null, becomes their difficulty
/// [n, outputs] (ProcessPredictor::predict()). `throw_if_stopped`: as above.
std::vector<double> process_predictions(const ProcessPredictor& process, const FeatureRows& rows,
                                        const std::vector<std::int64_t>& indices, int threads,
                                        const std::function<void()>& throw_if_stopped = {},
                                        std::vector<double>* difficulty = nullptr);

}  // namespace molgraph

// Predictions of the Gaussian process that a run may contain in addition to its model (Rasmussen & Williams 2006,
// "Gaussian Processes for Machine Learning", eq. 2.25). Training fits it (apps/training/baselines).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "apps/scoring/count_index.hpp"
#include "featurize/graph/input_scaling.hpp"

namespace molgraph {

/// Molecules as inputs of the kernels.
struct KernelMolecules {
  std::vector<std::int64_t> count_offset{0};  ///< [N + 1]
  std::vector<std::uint32_t> column;          ///< of the fingerprint, ascending within a molecule
  std::vector<float> count;                   ///< positive
  std::vector<float> numbers;                 ///< [N, D] descriptors and columns, scaled; missing = 0, the mean

  std::size_t size() const { return count_offset.size() - 1; }
  CountsView counts(std::size_t i) const;
  /// `scaled` [D]: NaN = missing.
  void add(const CountsView& counts, std::span<const float> scaled);
};

/// Both kernels of a molecule with each of N others, stored for fast evaluation.
class KernelIndex {
 public:
  /// `used` [D]: the columns to use (the others are constant).
  KernelIndex(const KernelMolecules& molecules, const std::vector<bool>& used);
  std::size_t size() const { return counts_.size(); }
  /// `tanimoto` [N]: the Tanimoto coefficient of the fingerprints (Ralaivola et al. 2005). `rational_quadratic` [N]:
  /// the rational quadratic kernel 1/(1 + r^2/(2 L)) (Rasmussen & Williams, eq. 4.19, alpha = 1) of the distance r
  /// between the numbers, with the squared length L = number of used columns. Thread-safe.
  void kernels(const CountsView& counts, std::span<const float> scaled, std::vector<double>& tanimoto,
               std::vector<float>& rational_quadratic) const;

 private:
  CountIndex counts_;
  std::vector<std::size_t> used_;
  std::vector<float> by_column_;  ///< [used, N]
};

/// Processes of all targets of a task over the same molecules. Output o of target t is mean[o] + sum over i of
/// coefficient[o, i] * (a * tanimoto[i] + (1 - a) * rational_quadratic[i]) with a = fingerprint_share[t]: in the
/// target's unit for regression; for classes, which are regressed as 0 and 1, a probability (ibid., section 6.5).
struct GaussianProcess {
  std::vector<std::string> descriptors;  ///< names
  std::vector<std::string> columns;      ///< names of the user's input columns, which follow the descriptors
  std::vector<BlendTarget> targets;
  std::vector<double> fingerprint_share;  ///< [T] 0 to 1
  std::vector<double> noise;              ///< [T] variance of the label noise, as a multiple of the function's; 0 = the
                                          ///< target is constant or has too few labels
  InputScaling scaling;                   ///< [D] of descriptors and columns
  KernelMolecules molecules;
  std::vector<double> mean;         ///< [outputs]
  std::vector<double> coefficient;  ///< [outputs, N]

  std::size_t outputs() const { return mean.size(); }
  std::vector<bool> used_columns() const;
};

/// Why these processes are invalid for every task, as in a damaged file; "" if they are valid.
std::string process_problem(const GaussianProcess& process);

class ProcessPredictor {
 public:
  explicit ProcessPredictor(GaussianProcess process);
  const GaussianProcess& process() const { return process_; }
  /// Computes the predictions [outputs] of one molecule in the target's unit or as probabilities. A probability is at
  /// least the smaller of 0.01 and a tenth of the class frequency; the upper limit follows in the same way from the
  /// other classes' frequency. Multiclass probabilities sum to 1. `raw` [D]: descriptors and columns, NaN = missing.
  /// Thread-safe.
  ///
  /// If not null, `difficulty` [outputs] is filled with an estimate of the errors to expect near the molecule, relative
  /// to those of other molecules; 0 for classes. It is r * exp(1.5 (1 - s)): r is the root mean square of the
  /// coefficients of the 16 labelled training molecules with the most similar fingerprints, divided by that of all
  /// coefficients, and s is the largest of these similarities. A coefficient is the residual of its molecule divided by
  /// the noise of this row (this follows from eq. 2.25). Papadopoulos et al. (2011) combine the distance to the nearest
  /// neighbours with the deviation of their labels instead of r.
  void predict(const CountsView& counts, std::span<const float> raw, double* values,
               double* difficulty = nullptr) const;

 private:
  GaussianProcess process_;
  KernelIndex index_;
  std::vector<double> coefficient_scale_;  ///< [outputs] root mean square of the coefficients that are not 0
};

}  // namespace molgraph

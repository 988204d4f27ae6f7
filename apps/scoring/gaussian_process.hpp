// Predictions of the Gaussian process that a run may contain in addition to its model (Rasmussen & Williams 2006,
// "Gaussian Processes for Machine Learning", eq. 2.25). Training fits it (apps/training/baselines).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "apps/scoring/count_index.hpp"
#include "apps/scoring/wide_loops.hpp"
#include "featurize/graph/input_scaling.hpp"

namespace molgraph {

/// Molecules as inputs of the kernels.
struct KernelMolecules {
  std::vector<std::int64_t> count_offset{0};  ///< [N + 1]
  std::vector<std::uint32_t> column;          ///< of the fingerprint, ascending within a molecule
  std::vector<float> count;                   ///< whole numbers from 1 to kMaxCount
  std::vector<float> numbers;                 ///< [N, D] descriptors and columns, scaled; missing = 0, the mean

  std::size_t size() const { return count_offset.size() - 1; }
  CountsView counts(std::size_t i) const;
  /// `scaled` [D]: NaN = missing.
  void add(const CountsView& counts, std::span<const float> scaled);
};

/// One molecule as input of the kernels.
struct KernelInput {
  CountsView counts;
  std::span<const float> numbers;  ///< [D] descriptors and columns; NaN = missing
};

/// Both kernels of molecules with each of N others, stored for fast evaluation.
class KernelIndex {
 public:
  /// Maximum number of molecules in a call of kernels(). Each pass over the N others serves all of them.
  static constexpr std::size_t kMaxInputs = 8;
  /// Number of molecules whose numbers are stored together.
  static constexpr std::size_t kTile = 16;

  /// `used` [D]: the columns to use (the others are constant).
  KernelIndex(const KernelMolecules& molecules, const std::vector<bool>& used);
  std::size_t size() const { return counts_.size(); }
  /// For `inputs` with scaled numbers. `tanimoto` [inputs, N]: the Tanimoto coefficient of the fingerprints (Ralaivola
  /// et al. 2005). `rational_quadratic` [inputs, N]: the rational quadratic kernel 1/(1 + r^2/(2 L)) (Rasmussen &
  /// Williams, eq. 4.19, alpha = 1) of the distance r between the numbers, with the squared length L = number of used
  /// columns. The kernels of an input do not depend on the others. The results do not depend on `avx2`. Thread-safe.
  void kernels(std::span<const KernelInput> inputs, std::vector<double>& tanimoto,
               std::vector<float>& rational_quadratic, bool avx2 = has_avx2()) const;

 private:
  CountIndex counts_;
  std::vector<std::size_t> used_;
  std::vector<float> tiles_;  ///< [N / kTile rounded up, used, kTile]; the last tile is padded with 0
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
  /// Computes the predictions [molecules, outputs] in the target's unit or as probabilities. A probability is at least
  /// the smaller of 0.01 and a tenth of the class frequency; the upper limit follows in the same way from the other
  /// classes' frequency. Multiclass probabilities sum to 1. The numbers of `molecules` are not yet scaled. The
  /// predictions of a molecule do not depend on the others. Thread-safe.
  ///
  /// If not null, `difficulty` [molecules, outputs] is filled with an estimate of the errors to expect near the
  /// molecule, relative to those of other molecules; 0 for classes. It is r * exp(1.5 (1 - s)): r is the root mean
  /// square of the coefficients of the 16 labelled training molecules with the most similar fingerprints, divided by
  /// that of all coefficients, and s is the largest of these similarities. A coefficient is the residual of its
  /// molecule divided by the noise of this row (this follows from eq. 2.25). Papadopoulos et al. (2011) combine the
  /// distance to the nearest neighbours with the deviation of their labels instead of r.
  void predict(std::span<const KernelInput> molecules, double* values, double* difficulty = nullptr) const;

 private:
  /// The same for one molecule with its kernels [N].
  void predict(std::span<const double> tanimoto, std::span<const float> rational_quadratic, double* values,
               double* difficulty) const;

  GaussianProcess process_;
  KernelIndex index_;
  std::vector<double> coefficient_scale_;  ///< [outputs] root mean square of the coefficients that are not 0
};

}  // namespace molgraph

// A Gaussian process that a run may hold beside its model: what it says of a molecule (Rasmussen & Williams 2006,
// "Gaussian Processes for Machine Learning", eq. 2.25). It is made in training (apps/training/baselines).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "apps/scoring/count_index.hpp"
#include "featurize/graph/input_scaling.hpp"

namespace molgraph {

/// Molecules as the kernels see them.
struct KernelMolecules {
  std::vector<std::int64_t> count_offset{0};  ///< [N + 1]
  std::vector<std::uint32_t> column;          ///< of the fingerprint, rising within a molecule
  std::vector<float> count;                   ///< above 0
  std::vector<float> numbers;                 ///< [N, D] descriptors and columns, scaled; missing = 0, the mean

  std::size_t size() const { return count_offset.size() - 1; }
  CountsView counts(std::size_t i) const;
  /// `scaled` [D]: NaN = missing.
  void add(const CountsView& counts, std::span<const float> scaled);
};

/// Both kernels of a molecule with each of N others, arranged for speed.
class KernelIndex {
 public:
  /// `used` [D]: the columns that count (the others are constant).
  KernelIndex(const KernelMolecules& molecules, const std::vector<bool>& used);
  std::size_t size() const { return counts_.size(); }
  /// `alike` [N]: Tanimoto's coefficient of the fingerprints (Ralaivola et al. 2005). `near` [N]: the rational
  /// quadratic kernel 1/(1 + r^2/(2 L)) (Rasmussen & Williams, eq. 4.19, alpha = 1) of the distance r of the numbers,
  /// with the squared length L = how many columns count. Thread-safe.
  void kernels(const CountsView& counts, std::span<const float> scaled, std::vector<double>& alike,
               std::vector<float>& near) const;

 private:
  CountIndex counts_;
  std::vector<std::size_t> used_;
  std::vector<float> by_column_;  ///< [used, N]
};

/// Processes of all targets of a task over the same molecules. Output o of target t is
/// mean[o] + sum over i of coefficient[o, i] * (a * alike[i] + (1 - a) * near[i]) with a = fingerprint_share[t]: in the
/// target's unit for regression, a probability of classes, which are regressed as 0 and 1 (ibid., section 6.5).
struct GaussianProcess {
  std::vector<std::string> descriptors;  ///< names of the numbers
  std::vector<std::string> columns;      ///< names of the user's own columns behind those
  std::vector<BlendTarget> targets;
  std::vector<double> fingerprint_share;  ///< [T] 0 to 1
  std::vector<double> noise;              ///< [T] variance of the labels' noise, as a multiple of the function's; 0: a
                                          ///< target with nothing to learn
  InputScaling scaling;                   ///< [D] of descriptors and columns
  KernelMolecules molecules;
  std::vector<double> mean;         ///< [outputs]
  std::vector<double> coefficient;  ///< [outputs, N]

  std::size_t outputs() const { return mean.size(); }
  std::vector<bool> used_columns() const;
};

/// Why these cannot be processes of any task, "" if they can: what a damaged file would hold.
std::string process_problem(const GaussianProcess& process);

class ProcessPredictor {
 public:
  explicit ProcessPredictor(GaussianProcess process);
  const GaussianProcess& process() const { return process_; }
  /// Predictions [outputs] of one molecule as users see them; a probability is at least the smaller of 0.01 and a tenth
  /// of the class's frequency, and as far from 1; those of several classes have the sum 1. `raw` [D] descriptors and
  /// columns, NaN = missing. Thread-safe.
  void predict(const CountsView& counts, std::span<const float> raw, double* values) const;

 private:
  GaussianProcess process_;
  KernelIndex index_;
};

}  // namespace molgraph

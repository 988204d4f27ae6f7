// Outlier labels, which may be typing errors or values in the wrong unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Range of one target's labels. Without limits, as for classes or fewer than 20 labels, no label is suspicious.
struct LabelLimits {
  double low = -std::numeric_limits<double>::infinity();  ///< in the target's unit; infinite = no limit
  double high = std::numeric_limits<double>::infinity();
  double median = std::numeric_limits<double>::quiet_NaN();
  double below = 0, above = 0;          ///< deviations of the labels below and above the median; 0 = no limit
  double far_below = 0, far_above = 0;  ///< distances from the median beyond which a label is far

  /// True if the label is far, beyond the limit, and at least twice as far from the median as the limit. False for NaN.
  bool is_suspicious(double label) const;
  /// Distance from the median in deviations of that side, at least 0. Precondition: the side has a limit.
  double deviations(double label) const;
};

/// [T] Limits of the exact labels of `molecules`; missing and censored labels are left out. Empty for computed targets.
///
/// - The two sides of the median are treated separately. The deviation of a side is the median distance of its labels
///   from the median, or that of all labels if the side has fewer than 10. If it is 0, the side has no limit.
/// - A label is far if it is more than 10 deviations from the median. If all labels are on the same side of 0, it must
///   also be more than 7 such deviations away on a logarithmic scale. For a logarithmic target (Task::logarithmic), 7
///   deviations of the logarithms are the only limit.
/// - From the median outwards, the first label that is far and at least twice as far as the previous one is suspicious,
///   and so are all after it. If these are more than 3 and more than 1 % of the labels, none is suspicious.
/// - The limit is the outermost label that is not suspicious.
///
/// Reason for the gap and the logarithms: a skewed column, such as raw IC50 values, has many labels beyond 10
/// deviations, with gaps between the largest ones. A typing error is isolated on either scale.
std::vector<LabelLimits> label_limits(const MoleculeSet& set, const std::vector<std::int64_t>& molecules);

/// Clips exact labels of `molecules` to the limits during its lifetime. Censored labels are unchanged.
class ClippedLabels {
 public:
  /// `limits` [T]; empty = no change.
  ClippedLabels(MoleculeSet& set, const std::vector<LabelLimits>& limits, const std::vector<std::int64_t>& molecules);
  ~ClippedLabels() { restore(); }
  ClippedLabels(const ClippedLabels&) = delete;
  ClippedLabels& operator=(const ClippedLabels&) = delete;

  /// Restores the labels early.
  void restore();

 private:
  MoleculeSet& set_;
  std::vector<std::pair<std::size_t, double>> before_;  ///< index into MoleculeSet::targets, original label
};

}  // namespace molgraph

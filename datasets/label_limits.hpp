// Labels that lie so far from all others of their target that they may be slips of typing or of a unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// The range of one target's labels. Without limits, as of classes and of fewer than 20 labels, nothing is suspicious.
struct LabelLimits {
  double low = -std::numeric_limits<double>::infinity();  ///< in the target's unit; infinite = no limit
  double high = std::numeric_limits<double>::infinity();
  double median = std::numeric_limits<double>::quiet_NaN();
  double below = 0, above = 0;          ///< deviations of the labels below and above the median; 0 = there is no limit
  double far_below = 0, far_above = 0;  ///< distances from the median beyond which a label is far away

  /// Is it far away, beyond the limit, and at least twice as far from the median as the limit? False for NaN.
  bool is_suspicious(double label) const;
  /// The distance from the median in deviations of that side, 0 or more. The side must have a limit.
  double deviations(double label) const;
};

/// [T] of the exact labels of `molecules`; missing and censored labels are left out. Empty where targets are computed.
///
/// Each side of the median is judged by itself. Its deviation is the median distance of its labels from the median, or
/// that of all labels where it has fewer than 10; where it is 0, the side has no limit. A label is far away if it is
/// more than 10 deviations from the median. Where no label is on the other side of 0, it must also be more than 7 such
/// deviations away on a logarithmic scale. From the median outwards, the first label that is far away and at least
/// twice as far as the one before it begins the suspicious labels: it and all behind it. They must be at most 3, or 1 %
/// of the labels where that is more, else none is. The limit is the outermost label that is not suspicious. The reason
/// for gap and logarithms: a skewed column, such as raw IC50 values, has many labels beyond 10 deviations, and its
/// largest ones lie apart; a slip stands alone on either scale.
std::vector<LabelLimits> label_limits(const MoleculeSet& set, const std::vector<std::int64_t>& molecules);

/// While it lives, exact labels of `molecules` beyond the limits are the limits. Censored labels stay.
class ClippedLabels {
 public:
  /// `limits` [T], or empty: then nothing changes.
  ClippedLabels(MoleculeSet& set, const std::vector<LabelLimits>& limits, const std::vector<std::int64_t>& molecules);
  ~ClippedLabels() { restore(); }
  ClippedLabels(const ClippedLabels&) = delete;
  ClippedLabels& operator=(const ClippedLabels&) = delete;

  /// Gives the labels back before the end.
  void restore();

 private:
  MoleculeSet& set_;
  std::vector<std::pair<std::size_t, double>> before_;  ///< place in MoleculeSet::targets, and what stood there
};

}  // namespace molgraph

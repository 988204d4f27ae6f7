#include "datasets/label_limits.hpp"

#include <algorithm>
#include <cmath>

namespace molgraph {
namespace {

constexpr std::size_t kMinLimited = 20;     ///< labels of a target
constexpr std::size_t kMinSideLabels = 10;  ///< fewest labels of a side for its own deviation
constexpr double kMaxDeviations = 10, kMaxLogDeviations = 7, kGap = 2;
constexpr std::size_t kMaxSuspicious = 3;          ///< labels per side
constexpr std::size_t kLabelsPerSuspicious = 100;  ///< in large tables: one suspicious label per this many

/// Median of ascending numbers.
double sorted_median(const std::vector<double>& numbers) {
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : numbers[half - 1] / 2 + numbers[half] / 2;
}

/// [labels] distance(label), ascending.
template <class Distance>
std::vector<double> distances_of(const std::vector<double>& labels, const Distance& distance) {
  std::vector<double> distances;
  for (const double label : labels) distances.push_back(distance(label));
  std::ranges::sort(distances);
  return distances;
}

/// All labels of a target and their median.
struct LabelsOfTarget {
  const std::vector<double>& all;  ///< ascending
  double median;
  bool logarithmic;

  /// Deviation of a side, measured by distance(label).
  template <class Distance>
  double deviation(const std::vector<double>& side, const Distance& distance) const {
    return sorted_median(distances_of(side.size() < kMinSideLabels ? all : side, distance));
  }
  /// True if no label has the opposite sign of the median (never for a median of 0).
  bool one_sign() const { return median > 0 ? all.front() >= 0 : median < 0 && all.back() <= 0; }
};

struct Side {
  double deviation = 0;
  double far = 0;    ///< a distance from the median
  double limit = 0;  ///< a label
};

/// Limit of one side; deviation 0 if it has none. `labels`: those of the side, from the median outwards.
Side side_of(const std::vector<double>& labels, const LabelsOfTarget& target) {
  const double median = target.median;
  if (labels.empty()) return {};
  const auto distance = [&](double label) { return std::abs(label - median); };
  Side side{.deviation = target.deviation(labels, distance)};
  if (!(side.deviation > 0)) return {};
  side.far = (target.logarithmic ? kMaxLogDeviations : kMaxDeviations) * side.deviation;
  if (!target.logarithmic && target.one_sign()) {
    const double logarithm =
        kMaxLogDeviations * target.deviation(labels, [&](double label) { return std::abs(std::log(label / median)); });
    const bool outwards = std::abs(labels.back()) > std::abs(median);  // away from 0
    side.far = std::max(side.far, std::abs(median) * (outwards ? std::expm1(logarithm) : -std::expm1(-logarithm)));
  }
  side.limit = labels.back();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double inner = i == 0 ? 0 : distance(labels[i - 1]);
    if (distance(labels[i]) <= side.far || distance(labels[i]) < kGap * inner) continue;
    if (labels.size() - i <= std::max(kMaxSuspicious, target.all.size() / kLabelsPerSuspicious))
      side.limit = i == 0 ? median : labels[i - 1];
    break;
  }
  return side;
}

/// Limits of ascending labels, which may be logarithms.
LabelLimits limits_of(const std::vector<double>& labels, bool logarithmic) {
  LabelLimits limits;
  if (labels.size() < kMinLimited) return limits;
  limits.median = sorted_median(labels);
  const auto [first, last] = std::equal_range(labels.begin(), labels.end(), limits.median);
  const std::vector<double> under(std::make_reverse_iterator(first), labels.rend()), over(last, labels.end());
  const LabelsOfTarget target{labels, limits.median, logarithmic};
  const Side below = side_of(under, target), above = side_of(over, target);
  limits.below = below.deviation, limits.above = above.deviation;
  limits.far_below = below.far, limits.far_above = above.far;
  if (below.deviation > 0) limits.low = below.limit;
  if (above.deviation > 0) limits.high = above.limit;
  return limits;
}

}  // namespace

bool LabelLimits::is_suspicious(double label) const {
  if (!(label < low) && !(label > high)) return false;
  const double distance = std::abs(label - median);
  return distance > (label < median ? far_below : far_above) &&
         distance >= kGap * std::abs((label < median ? low : high) - median);
}

double LabelLimits::deviations(double label) const {
  return std::abs(label - median) / (label < median ? below : above);
}

std::vector<LabelLimits> label_limits(const MoleculeSet& set, const std::vector<std::int64_t>& molecules) {
  if (!set.computed_targets.empty()) return {};
  const std::size_t targets = set.task.names.size();
  std::vector<LabelLimits> limits(targets);
  for (std::size_t t = 0; t < targets; ++t) {
    if (set.task.kind_of(t) != TaskKind::regression) continue;
    std::vector<double> labels;
    for (const std::int64_t g : molecules)
      if (const double label = set.exact_target(static_cast<std::size_t>(g) * targets + t); !std::isnan(label))
        labels.push_back(label);
    std::ranges::sort(labels);
    limits[t] = limits_of(labels, set.task.is_logarithmic(t));
  }
  return limits;
}

ClippedLabels::ClippedLabels(MoleculeSet& set, const std::vector<LabelLimits>& limits,
                             const std::vector<std::int64_t>& molecules)
    : set_(set) {
  const std::size_t targets = limits.size();
  for (const std::int64_t g : molecules)
    for (std::size_t t = 0; t < targets; ++t) {
      const std::size_t at = static_cast<std::size_t>(g) * targets + t;
      const double label = set.exact_target(at);
      const double clipped = std::clamp(label, limits[t].low, limits[t].high);  // NaN stays
      if (std::isnan(label) || clipped == label) continue;
      before_.emplace_back(at, label);
      set.targets[at] = clipped;
    }
}

void ClippedLabels::restore() {
  for (const auto& [at, label] : before_) set_.targets[at] = label;
  before_.clear();
}

}  // namespace molgraph

#include "apps/report/target_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double& of(MeasureValues& values, Measure measure) { return values[static_cast<std::size_t>(measure)]; }

std::vector<std::uint32_t> sorted_places(const std::vector<double>& values, bool falling) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return falling ? values[a] > values[b] : values[a] < values[b];
  });
  return order;
}

/// Calls group(begin, end) for each group of tied values in the order.
template <class Group>
void for_each_tie(const std::vector<std::uint32_t>& order, const std::vector<double>& values, const Group& group) {
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    group(begin, end);
    begin = end;
  }
}

/// Weighted Pearson correlation; NaN if one of the two is constant.
template <class Weight>
double correlation(const std::vector<double>& x, const std::vector<double>& y, double total, const Weight& weight) {
  double mean_x = 0, mean_y = 0;
  double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double w = weight(i);
    if (w == 0) continue;
    mean_x += w * x[i], mean_y += w * y[i];
    low_x = std::min(low_x, x[i]), high_x = std::max(high_x, x[i]);
    low_y = std::min(low_y, y[i]), high_y = std::max(high_y, y[i]);
  }
  if (!(low_x < high_x) || !(low_y < high_y)) return kNaN;
  mean_x /= total, mean_y /= total;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double w = weight(i), dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += w * dx * dx, yy += w * dy * dy, xy += w * dx * dy;
  }
  const double size = std::sqrt(xx) * std::sqrt(yy);
  return size > 0 ? std::clamp(xy / size, -1.0, 1.0) : kNaN;
}

/// n (n - 1) / 2
double pairs(std::int64_t n) { return static_cast<double>(n) * static_cast<double>(n - 1) / 2; }

}  // namespace

TargetMeasures::TargetMeasures(const Task& task, std::size_t target, const std::vector<double>& predictions,
                               const std::vector<double>& labels)
    : kind_(task.kind_of(target)) {
  const std::size_t targets = task.names.size(), outputs = static_cast<std::size_t>(task.num_outputs());
  if (kind_ == TaskKind::multiclass) classes_ = static_cast<std::size_t>(task.classes);
  for (std::size_t i = 0; i * targets < labels.size(); ++i) {
    const double label = labels[i * targets + target];
    if (std::isnan(label)) continue;
    molecule_.push_back(static_cast<std::uint32_t>(i));
    y_.push_back(label);
    const double* row = predictions.data() + i * outputs + (classes_ > 0 ? target * classes_ : target);
    const std::size_t width = std::max<std::size_t>(classes_, 1);
    finite_ = finite_ && std::all_of(row, row + width, [](double value) { return std::isfinite(value); });
    if (classes_ == 0) {
      x_.push_back(*row);
    } else {
      x_.push_back(static_cast<double>(std::max_element(row, row + width) - row));
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const double miss = row[c] - (static_cast<double>(c) == label ? 1 : 0);
        sum += miss * miss;
      }
      brier_.push_back(sum);
    }
    if (kind_ == TaskKind::binary) positives_ += label > 0.5;
  }
  if (!finite_ || classes_ > 0) return;
  by_x_ = sorted_places(x_, kind_ == TaskKind::binary);
  if (kind_ == TaskKind::binary) return;
  by_y_ = sorted_places(y_, false);
  place_y_.resize(y_.size());
  for_each_tie(by_y_, y_, [&](std::size_t begin, std::size_t end) {
    ++places_;
    for (std::size_t k = begin; k < end; ++k) place_y_[by_y_[k]] = places_;
  });
}

MeasureValues TargetMeasures::evaluate(const std::uint32_t* weight, Scratch& scratch) const {
  MeasureValues values;
  values.fill(kNaN);
  if (!finite_ || molecule_.empty()) return values;
  if (kind_ == TaskKind::regression) of_numbers(weight, scratch, values);
  else if (kind_ == TaskKind::binary) of_two_classes(weight, values);
  else of_classes(weight, scratch, values);
  return values;
}

void TargetMeasures::of_numbers(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const {
  double total = 0, absolute = 0, squared = 0, sum = 0, low = INFINITY, high = -INFINITY;
  const auto of_label = [&](std::size_t i) { return static_cast<double>(weight[molecule_[i]]); };
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double w = of_label(i), error = x_[i] - y_[i];
    if (w == 0) continue;
    total += w, absolute += w * std::abs(error), squared += w * error * error, sum += w * y_[i];
    low = std::min(low, y_[i]), high = std::max(high, y_[i]);
  }
  if (total == 0) return;
  of(values, Measure::mae) = absolute / total;
  of(values, Measure::rmse) = std::sqrt(squared / total);
  if (!(low < high)) return;
  double spread = 0;
  for (std::size_t i = 0; i < y_.size(); ++i) spread += of_label(i) * (y_[i] - sum / total) * (y_[i] - sum / total);
  if (spread > 0) of(values, Measure::r2) = 1 - squared / spread;
  of(values, Measure::pearson) = correlation(x_, y_, total, of_label);

  const auto rank = [&](const std::vector<std::uint32_t>& order, const std::vector<double>& of_values,
                        std::vector<double>& ranks) {
    ranks.resize(of_values.size());
    double before = 0;
    for_each_tie(order, of_values, [&](std::size_t begin, std::size_t end) {
      double tied = 0;
      for (std::size_t k = begin; k < end; ++k) tied += of_label(order[k]);
      for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = before + (tied + 1) / 2;
      before += tied;
    });
  };
  rank(by_x_, x_, scratch.rank_x);
  rank(by_y_, y_, scratch.rank_y);
  of(values, Measure::spearman) = correlation(scratch.rank_x, scratch.rank_y, total, of_label);
  of(values, Measure::kendall) = kendall(weight, scratch);
}

/// Visits the labels in ascending order of prediction. A Fenwick tree over the ranks of the labels counts the smaller
/// and larger ones.
double TargetMeasures::kendall(const std::uint32_t* weight, Scratch& scratch) const {
  std::vector<std::int64_t>& tree = scratch.tree;
  tree.assign(places_ + 1, 0);
  const auto up_to = [&](std::uint32_t place) {
    std::int64_t sum = 0;
    for (; place > 0; place &= place - 1) sum += tree[place];
    return sum;
  };
  const auto weight_of = [&](std::uint32_t i) { return static_cast<std::int64_t>(weight[molecule_[i]]); };
  std::int64_t before = 0;
  double difference = 0, tied_x = 0, tied_y = 0;  // difference: concordant - discordant pairs
  for_each_tie(by_x_, x_, [&](std::size_t begin, std::size_t end) {
    std::int64_t group = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const std::int64_t w = weight_of(by_x_[k]);
      if (w == 0) continue;
      const std::uint32_t place = place_y_[by_x_[k]];
      const std::int64_t below = up_to(place - 1), above = before - up_to(place);
      difference += static_cast<double>(w * (below - above));
      group += w;
    }
    for (std::size_t k = begin; k < end; ++k) {
      const std::int64_t w = weight_of(by_x_[k]);
      if (w == 0) continue;
      for (std::uint32_t place = place_y_[by_x_[k]]; place <= places_; place += place & (~place + 1)) tree[place] += w;
    }
    before += group;
    tied_x += pairs(group);
  });
  for_each_tie(by_y_, y_, [&](std::size_t begin, std::size_t end) {
    std::int64_t group = 0;
    for (std::size_t k = begin; k < end; ++k) group += weight_of(by_y_[k]);
    tied_y += pairs(group);
  });
  const double all = pairs(before), size = std::sqrt(all - tied_x) * std::sqrt(all - tied_y);
  return size > 0 ? difference / size : kNaN;
}

void TargetMeasures::of_two_classes(const std::uint32_t* weight, MeasureValues& values) const {
  double positives = 0, negatives = 0, above = 0, brier = 0, precision = 0;
  double right_positives = 0, wrong_positives = 0;
  for_each_tie(by_x_, x_, [&](std::size_t begin, std::size_t end) {
    double tied_positives = 0, tied_negatives = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t i = by_x_[k];
      const double w = weight[molecule_[i]], miss = x_[i] - y_[i];
      (y_[i] > 0.5 ? tied_positives : tied_negatives) += w;
      brier += w * miss * miss;
    }
    above += tied_negatives * (positives + 0.5 * tied_positives);
    positives += tied_positives;
    negatives += tied_negatives;
    if (tied_positives > 0) precision += tied_positives * positives / (positives + negatives);
    if (x_[by_x_[begin]] > 0.5) right_positives = positives, wrong_positives = negatives;
  });
  const double total = positives + negatives;
  if (total == 0) return;
  of(values, Measure::brier) = brier / total;
  const double right_negatives = negatives - wrong_positives, missed = positives - right_positives;
  of(values, Measure::accuracy) = (right_positives + right_negatives) / total;
  if (positives == 0 || negatives == 0) return;
  of(values, Measure::roc_auc) = above / (positives * negatives);
  of(values, Measure::pr_auc) = precision / positives;
  const double said = right_positives + wrong_positives, unsaid = right_negatives + missed;
  const double size = std::sqrt(said) * std::sqrt(unsaid) * std::sqrt(positives) * std::sqrt(negatives);
  of(values, Measure::mcc) = size > 0 ? (right_positives * right_negatives - wrong_positives * missed) / size : 0;
}

void TargetMeasures::of_classes(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const {
  std::vector<std::int64_t>& count = scratch.confusion;  // by label, then by prediction
  count.assign(2 * classes_, 0);
  double total = 0, right = 0, brier = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const std::int64_t w = weight[molecule_[i]];
    total += static_cast<double>(w), brier += static_cast<double>(w) * brier_[i];
    if (x_[i] == y_[i]) right += static_cast<double>(w);
    count[static_cast<std::size_t>(y_[i])] += w;
    count[classes_ + static_cast<std::size_t>(x_[i])] += w;
  }
  if (total == 0) return;
  of(values, Measure::accuracy) = right / total;
  of(values, Measure::brier) = brier / total;
  double product = 0, labels = 0, said = 0;
  for (std::size_t c = 0; c < classes_; ++c) {
    const auto a = static_cast<double>(count[c]), b = static_cast<double>(count[classes_ + c]);
    product += a * b, labels += a * a, said += b * b;
  }
  if (labels == total * total) return;  // only one class
  const double size = std::sqrt(total * total - said) * std::sqrt(total * total - labels);
  of(values, Measure::mcc) = size > 0 ? (right * total - product) / size : 0;
}

}  // namespace molgraph

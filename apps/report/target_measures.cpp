#include "apps/report/target_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double& metric_value(MeasureValues& values, Measure measure) { return values[static_cast<std::size_t>(measure)]; }

std::vector<std::uint32_t> sorted_indices(const std::vector<double>& values, bool descending) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? values[a] > values[b] : values[a] < values[b];
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
        const double error = row[c] - (static_cast<double>(c) == label ? 1 : 0);
        sum += error * error;
      }
      brier_.push_back(sum);
    }
    if (kind_ == TaskKind::binary) positives_ += label > 0.5;
  }
  if (!finite_ || classes_ > 0) return;
  by_x_ = sorted_indices(x_, kind_ == TaskKind::binary);
  if (kind_ == TaskKind::binary) return;
  by_y_ = sorted_indices(y_, false);
  label_rank_.resize(y_.size());
  for_each_tie(by_y_, y_, [&](std::size_t begin, std::size_t end) {
    ++num_ranks_;
    for (std::size_t k = begin; k < end; ++k) label_rank_[by_y_[k]] = num_ranks_;
  });
}

MeasureValues TargetMeasures::evaluate(const std::uint32_t* weight, Scratch& scratch) const {
  MeasureValues values;
  values.fill(kNaN);
  if (!finite_ || molecule_.empty()) return values;
  if (kind_ == TaskKind::regression) evaluate_regression(weight, scratch, values);
  else if (kind_ == TaskKind::binary) evaluate_binary(weight, values);
  else evaluate_multiclass(weight, scratch, values);
  return values;
}

void TargetMeasures::evaluate_regression(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const {
  double total = 0, absolute = 0, squared = 0, sum = 0, low = INFINITY, high = -INFINITY;
  const auto label_weight = [&](std::size_t i) { return static_cast<double>(weight[molecule_[i]]); };
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double w = label_weight(i), error = x_[i] - y_[i];
    if (w == 0) continue;
    total += w, absolute += w * std::abs(error), squared += w * error * error, sum += w * y_[i];
    low = std::min(low, y_[i]), high = std::max(high, y_[i]);
  }
  if (total == 0) return;
  metric_value(values, Measure::mae) = absolute / total;
  metric_value(values, Measure::rmse) = std::sqrt(squared / total);
  if (!(low < high)) return;
  double total_squares = 0;
  for (std::size_t i = 0; i < y_.size(); ++i)
    total_squares += label_weight(i) * (y_[i] - sum / total) * (y_[i] - sum / total);
  if (total_squares > 0) metric_value(values, Measure::r2) = 1 - squared / total_squares;
  if (y_.size() < 3) return;  // two labels always have a correlation of 1 or -1
  metric_value(values, Measure::pearson) = correlation(x_, y_, total, label_weight);

  const auto rank = [&](const std::vector<std::uint32_t>& order, const std::vector<double>& ranked_values,
                        std::vector<double>& ranks) {
    ranks.resize(ranked_values.size());
    double before = 0;
    for_each_tie(order, ranked_values, [&](std::size_t begin, std::size_t end) {
      double tied = 0;
      for (std::size_t k = begin; k < end; ++k) tied += label_weight(order[k]);
      for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = before + (tied + 1) / 2;
      before += tied;
    });
  };
  rank(by_x_, x_, scratch.rank_x);
  rank(by_y_, y_, scratch.rank_y);
  metric_value(values, Measure::spearman) = correlation(scratch.rank_x, scratch.rank_y, total, label_weight);
  metric_value(values, Measure::kendall) = kendall(weight, scratch);
}

/// Visits the labels in ascending order of prediction. A Fenwick tree over the ranks of the labels counts the smaller
/// and larger ones.
double TargetMeasures::kendall(const std::uint32_t* weight, Scratch& scratch) const {
  std::vector<std::int64_t>& tree = scratch.tree;
  tree.assign(num_ranks_ + 1, 0);
  const auto up_to = [&](std::uint32_t rank) {
    std::int64_t sum = 0;
    for (; rank > 0; rank &= rank - 1) sum += tree[rank];
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
      const std::uint32_t rank = label_rank_[by_x_[k]];
      const std::int64_t below = up_to(rank - 1), above = before - up_to(rank);
      difference += static_cast<double>(w * (below - above));
      group += w;
    }
    for (std::size_t k = begin; k < end; ++k) {
      const std::int64_t w = weight_of(by_x_[k]);
      if (w == 0) continue;
      for (std::uint32_t rank = label_rank_[by_x_[k]]; rank <= num_ranks_; rank += rank & (~rank + 1)) tree[rank] += w;
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

void TargetMeasures::evaluate_binary(const std::uint32_t* weight, MeasureValues& values) const {
  double positives = 0, negatives = 0, above = 0, brier = 0, precision = 0;
  double true_positives = 0, false_positives = 0;
  for_each_tie(by_x_, x_, [&](std::size_t begin, std::size_t end) {
    double tied_positives = 0, tied_negatives = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t i = by_x_[k];
      const double w = weight[molecule_[i]], error = x_[i] - y_[i];
      (y_[i] > 0.5 ? tied_positives : tied_negatives) += w;
      brier += w * error * error;
    }
    above += tied_negatives * (positives + 0.5 * tied_positives);
    positives += tied_positives;
    negatives += tied_negatives;
    if (tied_positives > 0) precision += tied_positives * positives / (positives + negatives);
    if (x_[by_x_[begin]] > 0.5) true_positives = positives, false_positives = negatives;
  });
  const double total = positives + negatives;
  if (total == 0) return;
  metric_value(values, Measure::brier) = brier / total;
  const double true_negatives = negatives - false_positives, false_negatives = positives - true_positives;
  metric_value(values, Measure::accuracy) = (true_positives + true_negatives) / total;
  if (positives == 0 || negatives == 0) return;
  metric_value(values, Measure::roc_auc) = above / (positives * negatives);
  metric_value(values, Measure::pr_auc) = precision / positives;
  const double predicted_positives = true_positives + false_positives,
               predicted_negatives = true_negatives + false_negatives;
  const double size =
      std::sqrt(predicted_positives) * std::sqrt(predicted_negatives) * std::sqrt(positives) * std::sqrt(negatives);
  metric_value(values, Measure::mcc) =
      size > 0 ? (true_positives * true_negatives - false_positives * false_negatives) / size : 0;
}

void TargetMeasures::evaluate_multiclass(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const {
  std::vector<std::int64_t>& count = scratch.confusion;  // by label, then by prediction
  count.assign(2 * classes_, 0);
  double total = 0, correct = 0, brier = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const std::int64_t w = weight[molecule_[i]];
    total += static_cast<double>(w), brier += static_cast<double>(w) * brier_[i];
    if (x_[i] == y_[i]) correct += static_cast<double>(w);
    count[static_cast<std::size_t>(y_[i])] += w;
    count[classes_ + static_cast<std::size_t>(x_[i])] += w;
  }
  if (total == 0) return;
  metric_value(values, Measure::accuracy) = correct / total;
  metric_value(values, Measure::brier) = brier / total;
  double product = 0, labels = 0, predicted = 0;
  for (std::size_t c = 0; c < classes_; ++c) {
    const auto a = static_cast<double>(count[c]), b = static_cast<double>(count[classes_ + c]);
    product += a * b, labels += a * a, predicted += b * b;
  }
  if (labels == total * total) return;  // only one class
  const double size = std::sqrt(total * total - predicted) * std::sqrt(total * total - labels);
  metric_value(values, Measure::mcc) = size > 0 ? (correct * total - product) / size : 0;
}

}  // namespace molgraph

#include "apps/report/judged_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/scoring/moments.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kBins = 10;

std::size_t outputs_of(const Task& task) { return static_cast<std::size_t>(task.num_outputs()); }

}  // namespace

double prediction_of(const ReportFacts& facts, const PartRows& rows, std::size_t i, std::size_t t) {
  const std::size_t outputs = outputs_of(facts.task), classes = outputs / facts.task.names.size();
  if (facts.task.kind != TaskKind::multiclass) return rows.predictions[i * outputs + t];
  const double label = rows.labels[i * facts.task.names.size() + t];
  return rows.predictions[i * outputs + t * classes + static_cast<std::size_t>(label)];
}

std::vector<double> label_deviations(const ReportFacts& facts) {
  const PartRows& rows = facts.judged();
  const std::size_t targets = facts.task.names.size();
  std::vector<double> deviations(targets, 1);
  for (std::size_t t = 0; t < targets; ++t) {
    Moments labels;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const double label = rows.labels[i * targets + t]; !std::isnan(label)) labels.add(label);
    if (labels.deviation() > 0) deviations[t] = labels.deviation();
  }
  return deviations;
}

std::vector<LabelError> errors_of(const ReportFacts& facts, bool in_target_unit) {
  const PartRows& rows = facts.judged();
  const std::size_t targets = facts.task.names.size();
  const std::vector<double> deviation = in_target_unit ? std::vector<double>(targets, 1) : label_deviations(facts);
  std::vector<LabelError> errors;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t t = 0; t < targets; ++t) {
      const double label = rows.labels[i * targets + t];
      if (std::isnan(label)) continue;
      const double predicted = prediction_of(facts, rows, i, t);
      const double size = facts.task.kind_of(t) == TaskKind::regression ? std::abs(predicted - label) / deviation[t]
                          : facts.task.kind == TaskKind::multiclass     ? 1 - predicted
                                                                        : std::abs(predicted - label);
      if (std::isfinite(size)) errors.push_back({i, t, size});
    }
  return errors;
}

bool may_show(const ReportFacts& facts, std::size_t row) {
  const std::vector<bool>& in_train = facts.judged().in_train;
  return facts.training || in_train.empty() || !in_train[row];
}

std::vector<LabelError> worst_errors(const ReportFacts& facts, std::size_t max_count) {
  std::vector<LabelError> errors = errors_of(facts, false);
  std::erase_if(errors, [&](const LabelError& error) { return !may_show(facts, error.row); });
  std::ranges::stable_sort(errors, [](const auto& a, const auto& b) { return a.size > b.size; });
  errors.resize(std::min(max_count, errors.size()));
  return errors;
}

std::vector<SimilarityBin> similarity_bins(const ReportFacts& facts, bool regression) {
  const std::vector<double>& similarity = facts.judged().similarity;
  if (similarity.empty()) return {};
  // The errors of one molecule's labels are not independent, so the interval is that of a ratio of sums over molecules
  // (Cochran 1977, chapter 6). `errors` and `labels` belong to the current molecule.
  struct Sums {
    double sum = 0, count = 0;                           // of all errors
    double sum_sum = 0, sum_count = 0, count_count = 0;  // of products of the molecules' sums
    double errors = 0, labels = 0;
    std::int64_t molecules = 0;
    std::size_t last = 0;  // row
    void finish_molecule() {
      sum_sum += errors * errors, sum_count += errors * labels, count_count += labels * labels;
      errors = labels = 0;
    }
  };
  std::array<Sums, kBins> sums;
  for (const LabelError& error : errors_of(facts, facts.task.names.size() == 1)) {
    const double at = similarity[error.row];
    if ((facts.task.kind_of(error.target) == TaskKind::regression) != regression || !std::isfinite(at)) continue;
    Sums& bin = sums[std::min(static_cast<std::size_t>(at * kBins), kBins - 1)];
    if (bin.molecules == 0 || bin.last != error.row) {
      bin.finish_molecule();
      ++bin.molecules;
      bin.last = error.row;
    }
    bin.errors += error.size, bin.labels += 1;
    bin.sum += error.size, bin.count += 1;
  }
  std::vector<SimilarityBin> bins;
  for (std::size_t b = 0; b < kBins; ++b) {
    Sums& bin_sums = sums[b];
    if (bin_sums.count == 0) continue;
    bin_sums.finish_molecule();
    const double mean = bin_sums.sum / bin_sums.count;
    SimilarityBin bin{static_cast<double>(b) / kBins,
                      static_cast<double>(b + 1) / kBins,
                      bin_sums.molecules,
                      static_cast<std::int64_t>(bin_sums.count),
                      {mean, NAN, NAN}};
    if (bin_sums.molecules > 1) {
      const double squares = bin_sums.sum_sum - 2 * mean * bin_sums.sum_count + mean * mean * bin_sums.count_count,
                   molecules = static_cast<double>(bin_sums.molecules);
      const double error = kNormal95 * std::sqrt(std::max(0.0, squares) * molecules / (molecules - 1)) / bin_sums.count;
      bin.mean.low = std::max(0.0, mean - error), bin.mean.high = mean + error;
    }
    bins.push_back(bin);
  }
  return bins;
}

}  // namespace molgraph

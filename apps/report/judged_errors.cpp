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

std::vector<LabelError> errors_of(const ReportFacts& facts, bool own_unit) {
  const PartRows& rows = facts.judged();
  const std::size_t targets = facts.task.names.size();
  const std::vector<double> deviation = own_unit ? std::vector<double>(targets, 1) : label_deviations(facts);
  std::vector<LabelError> errors;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t t = 0; t < targets; ++t) {
      const double label = rows.labels[i * targets + t];
      if (std::isnan(label)) continue;
      const double said = prediction_of(facts, rows, i, t);
      const double size = facts.task.kind_of(t) == TaskKind::regression ? std::abs(said - label) / deviation[t]
                          : facts.task.kind == TaskKind::multiclass     ? 1 - said
                                                                        : std::abs(said - label);
      if (std::isfinite(size)) errors.push_back({i, t, size});
    }
  return errors;
}

std::vector<LabelError> worst_errors(const ReportFacts& facts, std::size_t most) {
  std::vector<LabelError> errors = errors_of(facts, false);
  if (const std::vector<bool>& in_train = facts.judged().in_train; !in_train.empty() && !facts.training)
    std::erase_if(errors, [&](const LabelError& error) { return in_train[error.row]; });
  std::ranges::stable_sort(errors, [](const auto& a, const auto& b) { return a.size > b.size; });
  errors.resize(std::min(most, errors.size()));
  return errors;
}

std::vector<SimilarityBin> similarity_bins(const ReportFacts& facts, bool numbers) {
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
    void close() {
      sum_sum += errors * errors, sum_count += errors * labels, count_count += labels * labels;
      errors = labels = 0;
    }
  };
  std::array<Sums, kBins> sums;
  for (const LabelError& error : errors_of(facts, facts.task.names.size() == 1)) {
    const double at = similarity[error.row];
    if ((facts.task.kind_of(error.target) == TaskKind::regression) != numbers || !std::isfinite(at)) continue;
    Sums& bin = sums[std::min(static_cast<std::size_t>(at * kBins), kBins - 1)];
    if (bin.molecules == 0 || bin.last != error.row) {
      bin.close();
      ++bin.molecules;
      bin.last = error.row;
    }
    bin.errors += error.size, bin.labels += 1;
    bin.sum += error.size, bin.count += 1;
  }
  std::vector<SimilarityBin> bins;
  for (std::size_t b = 0; b < kBins; ++b) {
    Sums& of = sums[b];
    if (of.count == 0) continue;
    of.close();
    const double mean = of.sum / of.count;
    SimilarityBin bin{static_cast<double>(b) / kBins,
                      static_cast<double>(b + 1) / kBins,
                      of.molecules,
                      static_cast<std::int64_t>(of.count),
                      {mean, NAN, NAN}};
    if (of.molecules > 1) {
      const double squares = of.sum_sum - 2 * mean * of.sum_count + mean * mean * of.count_count,
                   molecules = static_cast<double>(of.molecules);
      const double error = kNormal95 * std::sqrt(std::max(0.0, squares) * molecules / (molecules - 1)) / of.count;
      bin.mean.low = std::max(0.0, mean - error), bin.mean.high = mean + error;
    }
    bins.push_back(bin);
  }
  return bins;
}

}  // namespace molgraph

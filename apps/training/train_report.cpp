#include "apps/training/train_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "apps/training/loss.hpp"
#include "apps/training/metrics.hpp"
#include "apps/training/recipes.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A metric of predictions [n, outputs] of a part. The loss of a mixed task is in units of the training part's
/// deviations, if targets are scaled.
MetricResult measure(Metric metric, const LoadedData& data, const TrainOptions& options,
                     const std::vector<double>& predictions, const std::vector<double>& targets) {
  const Task& task = data.set.task;
  if (metric != Metric::loss) return evaluate_metric(metric, task, predictions, targets);
  std::vector<double> scale(task.names.size(), 1.0);
  if (options.training.scale_targets) scale = target_scaling_of(data.set, data.split.train).deviation;
  const double loss = loss_of_predictions(Losses(*options.training.loss, task), task, predictions, targets, scale);
  MetricResult result;
  result.value = loss;
  if (std::isnan(loss)) {
    result.skipped = task.names;
    result.reasons.assign(task.names.size(), "no value");
  }
  return result;
}

/// The metric of always predicting the training mean, of classes their frequencies.
MetricResult mean_predictor(const LoadedData& data, const TrainOptions& options,
                            const std::vector<std::int64_t>& part) {
  const Task& task = data.set.task;
  const std::size_t num_targets = task.names.size(), outputs = static_cast<std::size_t>(task.num_outputs()),
                    classes = outputs / num_targets;
  const std::vector<double> train = targets_of(data.set, data.split.train);
  std::vector<double> sum(outputs), count(num_targets);
  for (std::size_t i = 0; i < train.size(); ++i) {
    if (std::isnan(train[i])) continue;
    const std::size_t t = i % num_targets;
    if (task.kind == TaskKind::multiclass) sum[t * classes + static_cast<std::size_t>(train[i])] += 1;
    else sum[t] += train[i];
    count[t] += 1;
  }
  std::vector<double> predictions(part.size() * outputs);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    predictions[i] = sum[i % outputs] / count[i % outputs / classes];  // NaN, so no metric, without any value
  }
  return measure(*options.training.metric, data, options, predictions, targets_of(data.set, part));
}

/// What the table has columns for: the chosen metric, and the usual ones of numbers; of a mixed task also those of
/// classes.
std::vector<Metric> metrics_shown(Metric chosen, const Task& task) {
  std::vector<Metric> metrics{chosen};
  const auto add = [&](std::initializer_list<Metric> more) {
    for (const Metric m : more)
      if (m != chosen) metrics.push_back(m);
  };
  if (task.has(TaskKind::regression)) add({Metric::mae, Metric::rmse, Metric::r2});
  if (task.kind == TaskKind::mixed) add({Metric::roc_auc, Metric::accuracy});
  return metrics;
}

/// A table: `corner` and the beginnings of the rows, and columns of numbers under their headings.
std::string with_columns(const std::string& corner, const std::vector<std::string>& rows,
                         const std::vector<std::string>& headings, const std::vector<std::vector<double>>& columns) {
  constexpr std::size_t kWidth = 10;
  std::vector<std::string> lines{corner};
  lines.insert(lines.end(), rows.begin(), rows.end());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::string> cells = sensible_column(columns[c]);
    cells.insert(cells.begin(), headings[c]);
    std::size_t width = kWidth;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    for (std::size_t r = 0; r < lines.size(); ++r) lines[r] += text("  %*s", static_cast<int>(width), cells[r].c_str());
  }
  std::string table;
  for (const std::string& line : lines) table += line + "\n";
  return table;
}

constexpr std::size_t kNamesShown = 5;  ///< of targets in a note

/// "" if every target has the metric; else which have none, and why.
std::string skipped_note(const char* part, Metric metric, const MetricResult& result) {
  std::map<std::string, std::vector<std::string>> names;  // by reason
  for (std::size_t k = 0; k < result.skipped.size(); ++k) names[result.reasons[k]].push_back(result.skipped[k]);
  std::string notes;
  for (const auto& [reason, skipped] : names)
    notes += std::string(part) + ": no " + std::string(to_string(metric)) + " (" + reason + ") for " +
             (skipped.size() > kNamesShown ? std::to_string(skipped.size()) + " targets: " : "") +
             list_of(skipped, kNamesShown) + (std::isnan(result.value) ? "\n" : "; left out of the mean\n");
  return notes;
}

/// "" without censored labels in the part; else how many the metrics leave out.
std::string censored_note(const char* name, const MoleculeSet& set, const std::vector<std::int64_t>& part) {
  const auto targets = static_cast<std::size_t>(set.task.num_targets());
  std::int64_t censored = 0;
  for (const std::int64_t g : part)
    for (std::size_t t = 0; t < targets && !set.bound.empty(); ++t)
      censored += set.bound[static_cast<std::size_t>(g) * targets + t] != 0;
  if (censored == 0) return {};
  return std::string(name) + ": " + with_thousands(censored) +
         (censored == 1 ? " censored label is" : " censored labels are") + " left out of the metrics\n";
}

/// What stands in a file; nothing where there is no number.
std::string cell_of(double value) { return std::isnan(value) ? "" : number_text(static_cast<float>(value)); }

/// The paper's band and whether this run lies in it. `reached` holds the metric of train, valid and test.
std::string paper_note(const TrainOptions& options, Metric metric, const std::array<double, 3>& reached) {
  const Recipe& paper = recipe(options.model.recipe);
  std::string note = "The paper: " + paper.band;
  const double value = reached[paper.band_is_validation ? 1 : 2];
  if (paper.high > paper.low && !std::isnan(value)) {
    const bool inside = value >= paper.low && value <= paper.high;
    const bool beyond = larger_is_better(metric) ? value > paper.high : value < paper.low;
    note += inside   ? "; this run lies in the band"
            : beyond ? "; this run is better than the band"
                     : "; this run is outside it";
  }
  const std::int64_t steps = *options.training.steps, papers = paper.options.training.steps.value_or(0);
  if (steps < papers)
    note += text(" (with %lld of %lld steps)", static_cast<long long>(steps), static_cast<long long>(papers));
  return note + "\n";
}

}  // namespace

std::array<double, 3> baseline_of(const LoadedData& data, const TrainOptions& options) {
  std::array<double, 3> values;
  values.fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t p = 0; p < 3; ++p) {
    const auto& part = *parts_of(data.split)[p];
    if (!part.empty()) values[p] = mean_predictor(data, options, part).value;
  }
  return values;
}

Report report_results(const LoadedData& data, const TrainOptions& options, const PartPredictions& predictions) {
  const Metric chosen = *options.training.metric;
  const std::vector<Metric> metrics = metrics_shown(chosen, data.set.task);
  const char* names[] = {"train", "valid", "test"};
  const bool regression = data.set.task.has(TaskKind::regression);
  std::vector<std::string> headings;
  for (Metric m : metrics) headings.emplace_back(to_string(m));
  if (regression) headings.push_back(headings.front() + " of the mean predictor");
  std::vector<std::string> rows;
  std::vector<std::vector<double>> columns(headings.size());
  std::string csv = "part,n,metric,value,reason\n", notes;
  std::array<double, 3> reached;
  reached.fill(kNaN);
  for (std::size_t p = 0; p < 3; ++p) {
    const auto& part = *parts_of(data.split)[p];
    if (part.empty()) continue;
    rows.push_back(text("%-6s %9s", names[p], with_thousands(static_cast<std::int64_t>(part.size())).c_str()));
    const std::vector<double> targets = targets_of(data.set, part);
    notes += censored_note(names[p], data.set, part);
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      const Metric m = metrics[k];
      const MetricResult result = measure(m, data, options, predictions[p], targets);
      const std::string reason = std::isnan(result.value) ? result.reasons.front() : "";
      columns[k].push_back(result.value);
      csv += text("%s,%zu,%s,%s,%s\n", names[p], part.size(), std::string(to_string(m)).c_str(),
                  cell_of(result.value).c_str(), reason.c_str());
      notes += skipped_note(names[p], m, result);
      if (m == chosen) reached[p] = result.value;
    }
    if (regression) columns.back().push_back(mean_predictor(data, options, part).value);
  }
  const std::string table = "\n" + with_columns(text("%-6s %9s", "part", "n"), rows, headings, columns);
  if (!options.model.recipe.empty()) notes += paper_note(options, chosen, reached);
  return {csv, table + notes, reached};
}

Report report_folds(Metric chosen, const std::vector<std::array<double, 3>>& folds) {
  const std::string metric(to_string(chosen));
  const char* names[] = {"train", "valid", "test"};
  std::string csv = "part,fold,metric,value\n", notes;
  std::vector<std::string> rows;
  std::vector<std::vector<double>> columns(3);
  const auto line = [&](const std::string& label, const std::array<double, 3>& values) {
    rows.push_back(text("%-9s", label.c_str()));
    for (std::size_t p = 0; p < 3; ++p) {
      columns[p].push_back(values[p]);
      csv += text("%s,%s,%s,%s\n", names[p], label.c_str(), metric.c_str(), cell_of(values[p]).c_str());
    }
  };
  std::array<double, 3> mean{}, deviation{};
  for (std::size_t p = 0; p < 3; ++p) {
    std::vector<double> values;  // of the folds that have one
    for (const auto& fold : folds)
      if (!std::isnan(fold[p])) values.push_back(fold[p]);
    if (!values.empty() && values.size() < folds.size())
      notes += text("%s: mean and deviation over the %zu of %zu folds that have a %s\n", names[p], values.size(),
                    folds.size(), metric.c_str());
    const auto count = static_cast<double>(values.size());
    for (const double value : values) mean[p] += value / count;
    for (const double value : values) deviation[p] += (value - mean[p]) * (value - mean[p]);
    deviation[p] = count > 1 ? std::sqrt(deviation[p] / (count - 1)) : kNaN;
    if (values.empty()) mean[p] = kNaN;
  }
  for (std::size_t k = 0; k < folds.size(); ++k) line("fold " + std::to_string(k), folds[k]);
  line("mean", mean);
  line("deviation", deviation);
  return {csv, "\n" + with_columns(text("%-9s", metric.c_str()), rows, {names, names + 3}, columns) + notes, mean};
}

}  // namespace molgraph

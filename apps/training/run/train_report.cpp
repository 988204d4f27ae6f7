#include "apps/training/run/train_report.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>

#include "apps/training/loop/loss.hpp"
#include "apps/training/loop/metrics.hpp"
#include "apps/training/options/recipes.hpp"
#include "apps/training/run/corpus_labels.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Metric of predictions [n, outputs] for one set. If targets are scaled, a loss is in units of their standard
/// deviations in the training set.
MetricResult measure(Metric metric, const LoadedData& data, const Split& split, const TrainOptions& options,
                     const std::vector<double>& predictions, const std::vector<double>& targets) {
  const Task& task = data.set.task;
  if (metric != Metric::loss) return evaluate_metric(metric, task, predictions, targets);
  std::vector<double> scale(static_cast<std::size_t>(task.num_outputs()), 1.0);
  if (options.training.scale_targets) scale = target_scaling_of(data.set, split.train).deviation;
  const double loss = loss_of_predictions(Losses(*options.training.loss, data.set), task, predictions, targets, scale,
                                          data.set.target_weight);
  MetricResult result;
  result.value = loss;
  if (std::isnan(loss)) {
    result.skipped = task.names;
    result.reasons.assign(task.names.size(), "no value");
  }
  return result;
}

/// The value of another method; NaN if it is not defined for the same targets as the model's, because means over
/// different targets cannot be compared.
double comparable_value(const MetricResult& other, const MetricResult& model) {
  return std::ranges::equal(
             other.per_target, model.per_target, {}, [](double v) { return std::isnan(v); },
             [](double v) { return std::isnan(v); })
             ? other.value
             : kNaN;
}

/// Metric of the mean predictor, which always predicts the training mean, for classes their frequencies.
MetricResult mean_predictor(const LoadedData& data, const Split& split, const TrainOptions& options, Metric metric,
                            const std::vector<std::int64_t>& part) {
  return measure(metric, data, split, options, mean_predictions(data, split, part.size()), targets_of(data.set, part));
}

/// Columns of the table: the chosen metric and the usual regression metrics; for a mixed task also classification
/// metrics.
std::vector<Metric> metrics_shown(Metric chosen, const Task& task) {
  std::vector<Metric> metrics{chosen};
  if (chosen == Metric::loss && task.kind == TaskKind::regression) return {chosen, Metric::r2};  // units differ
  const auto add = [&](std::initializer_list<Metric> more) {
    for (const Metric m : more)
      if (m != chosen) metrics.push_back(m);
  };
  if (task.has(TaskKind::regression)) add({Metric::mae, Metric::rmse, Metric::r2});
  if (task.kind == TaskKind::mixed) add({Metric::roc_auc, Metric::accuracy});
  return metrics;
}

/// A table with `corner`, the row labels, and columns of numbers under their headings.
std::string format_table(const std::string& corner, const std::vector<std::string>& rows,
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

constexpr std::size_t kNamesShown = 5;  ///< target names in a note

/// Notes on targets without the metric, with the reasons; "" if there are none.
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

/// Note on the number of censored labels, which the metrics leave out; "" if the set has none.
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

/// Cell of a CSV file; empty for NaN.
std::string cell_of(double value) { return std::isnan(value) ? "" : number_text(static_cast<float>(value)); }

/// The recipe's range and whether this run is within it. `reached`: metric on the training, validation and test set.
std::string recipe_note(const TrainOptions& options, Metric metric, const std::array<double, 3>& reached) {
  const Recipe& named = recipe(options.model.recipe);
  std::string note = (named.measured ? "Measured with this recipe: " : "The paper: ") + named.band;
  const double value = reached[named.band_is_validation ? 1 : 2];
  if (named.high > named.low && !std::isnan(value)) {
    const bool inside = value >= named.low && value <= named.high;
    const bool beyond = larger_is_better(metric) ? value > named.high : value < named.low;
    note += inside   ? "; this run is within this range"
            : beyond ? "; this run is better than this range"
                     : "; this run is outside this range";
  }
  const std::int64_t steps = *options.training.steps, recipe_steps = named.options.training.steps.value_or(0);
  if (steps < recipe_steps)
    note += text(" (with %lld of %lld steps)", static_cast<long long>(steps), static_cast<long long>(recipe_steps));
  return note;
}

/// Results on the validation set, by the chosen metric.
struct ValidationResults {
  MetricResult model{.value = kNaN}, mean_predictor{.value = kNaN};
  std::vector<std::pair<std::string, MetricResult>> others;
};

/// Mean over the targets of the error divided by that of the mean predictor, because targets may have different units.
/// Targets that the mean predictor predicts exactly are left out. NaN if another target has no error.
double relative_error(const MetricResult& result, const MetricResult& mean_predictor) {
  assert(result.per_target.size() == mean_predictor.per_target.size());
  double sum = 0;
  int count = 0;
  for (std::size_t t = 0; t < result.per_target.size(); ++t) {
    if (!(mean_predictor.per_target[t] > 0)) continue;
    sum += result.per_target[t] / mean_predictor.per_target[t];
    ++count;
  }
  return count > 0 ? sum / count : kNaN;
}

/// Warning that lists the methods that are better than the model; "" if there are none. Errors of several targets are
/// compared as relative_error().
std::string better_methods(Metric metric, const ValidationResults& valid, bool blended) {
  if (valid.others.empty()) return {};  // no baselines
  const auto labelled = std::ranges::count_if(valid.model.per_target, [](double error) { return !std::isnan(error); });
  const bool relative = (metric == Metric::mae || metric == Metric::rmse) && labelled > 1;
  const auto value_of = [&](const MetricResult& result) {
    return relative ? relative_error(result, valid.mean_predictor) : comparable_value(result, valid.model);
  };
  const double own = value_of(valid.model);
  std::vector<std::string> better;
  bool partner = false;
  const auto compare = [&](const std::string& name, const MetricResult& result) {
    const double other = value_of(result);
    if (std::isnan(own) || std::isnan(other) || (larger_is_better(metric) ? other <= own : other >= own)) return;
    better.push_back(name + " " + sensible_number(other));
    partner = partner || name == kTreesName || name == kProcessName;
  };
  compare("mean predictor", valid.mean_predictor);
  for (const auto& [name, result] : valid.others) compare(name, result);
  if (better.empty()) return {};
  return std::string("On the validation set, a simple method is better than ") +
         (blended ? "the blend" : "the transformer") + " (" + std::string(to_string(metric)) +
         (relative ? " divided by that of the mean predictor, mean over the targets, " : " ") + sensible_number(own) +
         "): " + list_of(better) + (partner && !blended ? "; --blend combines both" : "");
}

}  // namespace

std::array<double, 3> baseline_of(const LoadedData& data, const Split& split, const TrainOptions& options) {
  std::array<double, 3> values;
  values.fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t p = 0; p < 3; ++p) {
    const auto& part = *parts_of(split)[p];
    if (part.empty() || !is_measured(data, p)) continue;
    const Metric metric = *options.training.metric;
    const std::vector<double> zeros(part.size() * static_cast<std::size_t>(data.set.task.num_outputs()));
    values[p] = comparable_value(mean_predictor(data, split, options, metric, part),
                                 measure(metric, data, split, options, zeros, targets_of(data.set, part)));
  }
  return values;
}

Report report_results(const LoadedData& data, const Split& split, const TrainOptions& options,
                      const PartPredictions& predictions, const std::vector<ComparedMethod>& compared) {
  const Metric chosen = *options.training.metric;
  const bool labels = data.set.sparse.targets > 0;  // for a corpus, each kind of target has its metric below
  const std::vector<Metric> metrics = labels ? std::vector{chosen} : metrics_shown(chosen, data.set.task);
  const char* names[] = {"train", "valid", "test"};
  const bool regression = data.set.task.has(TaskKind::regression);
  const bool has_baselines = !compared.empty(), with_mean = regression || has_baselines;
  std::vector<std::string> headings;
  for (Metric m : metrics) headings.emplace_back(to_string(m));
  if (with_mean) headings.push_back(headings.front() + " of the mean predictor");
  for (const ComparedMethod& method : compared) headings.push_back(method.name);
  for (const KindQuality& kind : quality_by_kind(data.set, {}, {})) headings.push_back(kind.name);
  std::vector<std::string> rows;
  std::vector<std::vector<double>> columns(headings.size());
  Report report{.csv = "part,n,metric,value,reason" + std::string(has_baselines ? ",mean_predictor" : "")};
  for (const ComparedMethod& method : compared) {
    report.csv += "," + method.column;
    report.baselines.emplace_back(method.column, MetricValues{kNaN, kNaN, kNaN});
  }
  report.csv += "\n";
  report.reached.fill(kNaN);
  ValidationResults valid;
  std::string notes;
  for (std::size_t p = 0; p < 3; ++p) {
    const auto& part = *parts_of(split)[p];
    if (part.empty() || !is_measured(data, p)) continue;
    rows.push_back(text("%-6s %9s", names[p], with_thousands(static_cast<std::int64_t>(part.size())).c_str()));
    const std::vector<double> targets = targets_of(data.set, part);
    notes += censored_note(names[p], data.set, part);
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      const Metric m = metrics[k];
      const MetricResult result = measure(m, data, split, options, predictions[p], targets);
      const std::string reason = std::isnan(result.value) ? result.reasons.front() : "";
      columns[k].push_back(result.value);
      report.csv += text("%s,%zu,%s,%s,%s", names[p], part.size(), std::string(to_string(m)).c_str(),
                         cell_of(result.value).c_str(), reason.c_str());
      if (has_baselines) {
        const MetricResult mean = mean_predictor(data, split, options, m, part);
        report.csv += "," + cell_of(comparable_value(mean, result));
        if (m == chosen && p == 1) valid.mean_predictor = mean;
      }
      for (std::size_t r = 0; r < compared.size(); ++r) {
        const MetricResult other = measure(m, data, split, options, compared[r].predictions[p], targets);
        const double value = comparable_value(other, result);
        report.csv += "," + cell_of(value);
        if (m != chosen) continue;
        report.baselines[r].second[p] = value;
        columns[metrics.size() + 1 + r].push_back(value);
        if (p == 1 && !compared[r].is_component) valid.others.emplace_back(compared[r].name, other);
      }
      report.csv += "\n";
      notes += skipped_note(names[p], m, result);
      if (m == chosen && with_mean)
        columns[metrics.size()].push_back(comparable_value(mean_predictor(data, split, options, chosen, part), result));
      if (m == chosen) report.reached[p] = result.value;
      if (m == chosen && p == 1) valid.model = result;
    }
    const std::vector<KindQuality> kinds = quality_by_kind(data.set, predictions[p], targets);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      columns[headings.size() - kinds.size() + k].push_back(kinds[k].value);
      report.csv += text("%s,%zu,%s,%s,%s\n", names[p], part.size(), kinds[k].name.c_str(),
                         cell_of(kinds[k].value).c_str(), kinds[k].targets == 0 ? "no target can be evaluated" : "");
      notes += text("%s: %s is the mean of %s targets\n", names[p], kinds[k].name.c_str(),
                    with_thousands(kinds[k].targets).c_str());
    }
    if (p == 1) report.valid = kinds;
  }
  report.text = "\n" + format_table(text("%-6s %9s", "part", "n"), rows, headings, columns);
  if (!options.model.recipe.empty()) {
    const std::string known = recipe_note(options, chosen, report.reached);
    notes += known + "\n";
    report.recipe = "Recipe " + options.model.recipe + ". " + known;
  }
  report.text += notes;
  const bool blended = std::ranges::any_of(compared, [](const ComparedMethod& method) { return method.is_component; });
  report.warning = better_methods(chosen, valid, blended);
  return report;
}

namespace {

/// First warning of the folds' results, with the number of other folds that have one; "" = none.
std::string warning_of_folds(const std::vector<Report>& folds) {
  const auto has_one = [](const Report& fold) { return !fold.warning.empty(); };
  const auto first = std::ranges::find_if(folds, has_one);
  if (first == folds.end()) return {};
  const auto count = std::ranges::count_if(folds, has_one);
  return text("Fold %td", first - folds.begin()) + (count > 1 ? text(" and %td more", count - 1) : "") + ": " +
         first->warning;
}

}  // namespace

Report report_folds(Metric chosen, const std::vector<Report>& folds) {
  const std::string metric(to_string(chosen));
  const char* names[] = {"train", "valid", "test"};
  std::vector<std::pair<std::string, std::vector<MetricValues>>> methods{{"", {}}};  // the model, then the baselines
  for (const auto& [name, values] : folds.front().baselines) methods.emplace_back(name, std::vector<MetricValues>());
  for (const Report& fold : folds) {
    methods[0].second.push_back(fold.reached);
    for (std::size_t m = 1; m < methods.size(); ++m)
      for (const auto& [name, values] : fold.baselines)
        if (name == methods[m].first) methods[m].second.push_back(values);
  }
  std::erase_if(methods, [&](const auto& method) { return method.second.size() < folds.size(); });
  const std::size_t width = 3 * methods.size();
  std::vector<std::string> rows, headings;
  std::vector<std::vector<double>> columns(width);  // train, valid, test of the model, then of each baseline
  std::string notes;
  Report report{.csv = "part,fold,metric,value"};
  for (const auto& [name, values] : methods) {
    if (!name.empty()) report.csv += "," + name;
    for (const char* part : names) headings.push_back(name.empty() ? part : name + " " + part);
  }
  report.csv += "\n";
  std::vector<double> mean(width, kNaN), deviation(width, kNaN);
  for (std::size_t c = 0; c < width; ++c) {
    std::vector<double> values;  // folds with a value
    for (const MetricValues& fold : methods[c / 3].second)
      if (!std::isnan(fold[c % 3])) values.push_back(fold[c % 3]);
    if (c < 3 && !values.empty() && values.size() < folds.size())
      notes += text("%s: mean and deviation over the %zu of %zu folds with a defined %s\n", names[c], values.size(),
                    folds.size(), metric.c_str());
    const auto count = static_cast<double>(values.size());
    const auto is_defined = [c](const MetricValues& fold) { return !std::isnan(fold[c % 3]); };
    // A mean over fewer folds than that of the model cannot be compared with it.
    if (values.empty() || std::ssize(values) < std::ranges::count_if(methods[0].second, is_defined)) continue;
    mean[c] = deviation[c] = 0;
    for (const double value : values) mean[c] += value / count;
    for (const double value : values) deviation[c] += (value - mean[c]) * (value - mean[c]);
    deviation[c] = count > 1 ? std::sqrt(deviation[c] / (count - 1)) : kNaN;
  }
  const auto line = [&](const std::string& label, const auto& value_of) {
    rows.push_back(text("%-9s", label.c_str()));
    for (std::size_t p = 0; p < 3; ++p) {
      report.csv += text("%s,%s,%s", names[p], label.c_str(), metric.c_str());
      for (std::size_t m = 0; m < methods.size(); ++m) report.csv += "," + cell_of(value_of(3 * m + p));
      report.csv += "\n";
    }
    for (std::size_t c = 0; c < width; ++c) columns[c].push_back(value_of(c));
  };
  for (std::size_t k = 0; k < folds.size(); ++k)
    line("fold " + std::to_string(k), [&](std::size_t c) { return methods[c / 3].second[k][c % 3]; });
  line("mean", [&](std::size_t c) { return mean[c]; });
  line("deviation", [&](std::size_t c) { return deviation[c]; });
  report.text = "\n" + format_table(text("%-9s", metric.c_str()), rows, headings, columns) + notes;
  for (std::size_t p = 0; p < 3; ++p) report.reached[p] = mean[p];
  for (std::size_t m = 1; m < methods.size(); ++m)
    report.baselines.emplace_back(methods[m].first, MetricValues{mean[3 * m], mean[3 * m + 1], mean[3 * m + 2]});
  report.warning = warning_of_folds(folds);
  return report;
}

}  // namespace molgraph

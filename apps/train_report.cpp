#include "apps/train_report.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/metrics.hpp"
#include "apps/program.hpp"
#include "apps/recipes.hpp"
#include "apps/run_directory.hpp"
#include "datasets/files.hpp"

namespace molgraph {
namespace {

/// Mean absolute (or other) error of always predicting the training mean; tells whether a model learned anything.
MetricResult mean_predictor(const LoadedData& data, Metric metric, const std::vector<std::int64_t>& part) {
  const std::size_t num_targets = data.set.task.names.size();
  const std::vector<float> train = targets_of(data.set, data.split.train);
  std::vector<double> sum(num_targets), count(num_targets);
  for (std::size_t i = 0; i < train.size(); ++i) {
    if (std::isnan(train[i])) continue;
    sum[i % num_targets] += train[i];
    count[i % num_targets] += 1;
  }
  std::vector<float> predictions(part.size() * num_targets);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    predictions[i] = static_cast<float>(sum[i % num_targets] / std::max(count[i % num_targets], 1.0));
  }
  return evaluate_metric(metric, data.set.task, predictions, targets_of(data.set, part));
}

}  // namespace

std::array<const std::vector<std::int64_t>*, 3> parts_of(const Split& split) {
  return {&split.train, &split.valid, &split.test};
}

void report_results(const std::string& folder, const LoadedData& data, const TrainOptions& options, const PartPredictions& predictions) {
  const Metric chosen = metric_from_string(options.metric);
  std::vector<Metric> metrics{chosen};
  if (data.set.task.kind == TaskKind::regression) {
    for (Metric m : {Metric::mae, Metric::rmse, Metric::r2}) {
      if (m != chosen) metrics.push_back(m);
    }
  }
  const char* names[] = {"train", "valid", "test"};
  std::string table = fmt::format("\n{:<6} {:>9}", "part", "n"), csv = "part,n,metric,value\n";
  for (Metric m : metrics) table += fmt::format(" {:>10}", to_string(m));
  const bool regression = data.set.task.kind == TaskKind::regression;
  if (regression) table += fmt::format("   {} of the mean predictor", to_string(chosen));
  table += "\n";
  double chosen_test = std::numeric_limits<double>::quiet_NaN(), chosen_valid = chosen_test;
  std::string notes;
  for (std::size_t p = 0; p < 3; ++p) {
    const auto& part = *parts_of(data.split)[p];
    if (part.empty()) continue;
    table += fmt::format("{:<6} {:>9}", names[p], with_thousands(static_cast<std::int64_t>(part.size())));
    const std::vector<float> targets = targets_of(data.set, part);
    for (Metric m : metrics) {
      const MetricResult result = evaluate_metric(m, data.set.task, predictions[p], targets);
      table += fmt::format(" {:>10.4f}", result.value);
      csv += fmt::format("{},{},{},{:.9g}\n", names[p], part.size(), to_string(m), result.value);
      if (m != chosen) continue;
            if (p == 2) chosen_test = result.value;
      if (p == 1) chosen_valid = result.value;
      if (!result.skipped.empty()) {
        std::string skipped;
        for (const auto& name : result.skipped) skipped += (skipped.empty() ? "" : ", ") + name;
        notes += fmt::format("{}: {} cannot be computed and is left out of the mean for: {}\n", names[p],
                             to_string(m), skipped);
      }
    }
    if (regression) table += fmt::format("   {:.4f}", mean_predictor(data, chosen, part).value);
    table += "\n";
  }
  if (!options.recipe.empty()) {
    const Recipe& paper = recipe(options.recipe);
    notes += "The paper: " + paper.band;
    const double reached = paper.band_is_validation ? chosen_valid : chosen_test;
    if (paper.high > paper.low && !std::isnan(reached)) {
      const bool inside = reached >= paper.low && reached <= paper.high;
      const bool beyond = larger_is_better(chosen) ? reached > paper.high : reached < paper.low;
      notes += inside ? "; this run lies in the band" : beyond ? "; this run is better than the band" : "; this run is outside it";
      if (options.steps < paper.options.steps) notes += fmt::format(" (with {} of {} steps)", options.steps, paper.options.steps);
    }
    notes += "\n";
  }
  write_file_atomically(RunDirectory{folder}.results(), csv);
  write_stdout(table + notes + "Run directory: " + folder + "\n");
  spdlog::info("{} {}", to_string(chosen), csv);
}

}  // namespace molgraph

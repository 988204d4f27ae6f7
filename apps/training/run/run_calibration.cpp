#include "apps/training/run/run_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "apps/scoring/blend.hpp"
#include "apps/training/loop/evaluate.hpp"
#include "apps/training/options/train_options.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
Difficulty ensemble_difficulty(const std::vector<AllPredictions>& models, bool same_parts) {
  Difficulty difficulty;
  if (models.size() < 2) return difficulty;
  const auto of = [&](auto rows_of) {
    std::vector<const std::vector<double>*> rows;
    for (const AllPredictions& model : models) rows.push_back(&rows_of(model));
    return deviation_of(rows);
  };
  if (same_parts) difficulty.valid = of([](const AllPredictions& model) -> auto& { return model.parts[1]; });
  difficulty.test = of([](const AllPredictions& model) -> auto& { return model.parts[2]; });
  difficulty.calibration = of([](const AllPredictions& model) -> auto& { return model.calibration; });
  return difficulty;
}

void scale_by_shares(const Task& task, const std::vector<double>& shares, Difficulty& difficulty) {
  if (shares.empty()) return;
  std::vector<double> of_outputs;
  const std::vector<BlendTarget> targets = blend_targets(task);
  for (std::size_t t = 0; t < targets.size(); ++t)
    of_outputs.insert(of_outputs.end(), static_cast<std::size_t>(targets[t].classes), shares[t]);
  for (std::vector<double>* rows : {&difficulty.valid, &difficulty.test, &difficulty.calibration})
    for (std::size_t i = 0; i < rows->size(); ++i) (*rows)[i] *= of_outputs[i % of_outputs.size()];
}

RunCalibration RunCalibration::of_split(const LoadedData& data, const Split& split, AllPredictions& predictions,
                                        const Difficulty& difficulty, std::int64_t members, bool pooled) {
  RunCalibration result;
  const MoleculeSet& set = data.set;
  const auto rows_of = [&](const std::vector<std::int64_t>& molecules, const std::vector<double>& predicted,
                           const std::vector<double>& difficulties) {
    return PredictedRows{predicted, difficulties, targets_of(set, molecules)};
  };
  result.test_ = rows_of(split.test, predictions.parts[2], difficulty.test);
  const bool has_calibration_set = !split.calibration.empty();
  if (!has_calibration_set && split.valid.empty()) return result;
  Calibration calibration =
      has_calibration_set
          ? fit_calibration(set.task, CalibrationPart::calibration,
                            {rows_of(split.calibration, predictions.calibration, difficulty.calibration)}, true,
                            difficulty.valid)  // not of the same set, which would make the coverage approximate
          : fit_calibration(set.task, data.inner.empty() ? CalibrationPart::valid : CalibrationPart::inner_folds,
                            {rows_of(split.valid, predictions.parts[1], difficulty.valid)}, !pooled);
  calibration.members = members;
  const bool without_temperatures = pooled && !has_calibration_set;
  result.notes_ = calibration_notes(calibration, data.may_have_inner_folds, !without_temperatures);
  if (without_temperatures && set.task.kind != TaskKind::regression)
    result.notes_.emplace_back(
        "Probabilities are not calibrated: each validation molecule is predicted by one model, but the run predicts "
        "the mean over models (--calibration-size sets molecules aside to calibrate this mean)");
  const auto outputs = static_cast<std::size_t>(set.task.num_outputs());
  predictions.for_each_row(outputs, [&](double* row) { apply_temperatures(calibration, row); });
  result.calibration_ = std::move(calibration);
  return result;
}

RunCalibration RunCalibration::of_folds(const Task& task, const std::vector<Split>& folds,
                                        const std::vector<PredictedRows>& tests) {
  RunCalibration result;
  std::map<std::int64_t, int> tested;
  for (const Split& fold : folds)
    for (const std::int64_t molecule : fold.test) ++tested[molecule];
  if (const auto repeated = std::ranges::count_if(tested, [](const auto& one) { return one.second > 1; });
      repeated > 0) {
    result.notes_.push_back("No intervals and no temperatures: the test sets of the splits share " +
                            with_thousands(repeated) + (repeated == 1 ? " molecule" : " molecules") +
                            ", whose errors would count more than once (CV+ requires disjoint test sets)");
    return result;
  }
  result.calibration_ = fit_calibration(task, CalibrationPart::folds, tests);
  result.calibration_->members = static_cast<std::int64_t>(tests.size());
  result.notes_ = calibration_notes(*result.calibration_, false);
  return result;
}

bool RunCalibration::write(const std::string& folder) const {
  const std::string path = RunDirectory{folder}.calibration();
  if (calibration_ && has_effect(*calibration_)) {
    write_calibration(path, *calibration_);
    return true;
  }
  std::filesystem::remove(path);
  return false;
}

std::optional<IntervalColumns> RunCalibration::test_intervals() const {
  if (!calibration_) return std::nullopt;
  std::size_t outputs = 0, first = 0;
  for (const TargetCalibration& target : calibration_->targets) outputs += static_cast<std::size_t>(target.outputs);
  const double none = std::nan("");
  IntervalColumns columns{std::vector<double>(test_.labels.size(), none),
                          std::vector<double>(test_.labels.size(), none)};
  const std::size_t targets = calibration_->targets.size();
  for (std::size_t t = 0; t < targets; ++t) {
    const TargetCalibration& target = calibration_->targets[t];
    for (std::size_t i = t, at = first; i < test_.labels.size(); i += targets, at += outputs) {
      const double difficulty = test_.difficulty.empty() ? 0 : test_.difficulty[at];
      const Interval interval = interval_of(target, kReportedLevel, test_.predictions[at], difficulty, {});
      columns.low[i] = interval.low, columns.high[i] = interval.high;
    }
    first += static_cast<std::size_t>(target.outputs);
  }
  return columns;
}

std::string check_calibration_size(const LoadedData& data) {
  if (data.split.calibration.empty()) return {};
  const std::vector<double> calibration = targets_of(data.set, data.split.calibration),
                            rest = targets_of(data.set, data.split.train);
  const std::vector<std::string>& names = data.set.task.names;
  std::vector<std::string> few;
  constexpr double kMargin = 1.1;  // molecules are drawn at random, and some targets lack labels
  double needed = 1;               // share of the training set, for the target with the most labels
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::int64_t count = count_labels(calibration, t, names.size()),
                       all = count + count_labels(rest, t, names.size());
    if (count < kMinCalibrationLabels) few.push_back(names[t] + " (" + std::to_string(count) + ")");
    if (all > 0)
      needed = std::min(needed, kMargin * static_cast<double>(kMinCalibrationLabels) / static_cast<double>(all));
  }
  if (few.empty()) return {};
  std::string why = "--calibration-size leaves fewer than " + std::to_string(kMinCalibrationLabels) +
                    " labels for an interval or a temperature: " + list_of(few, 5);
  if (few.size() < names.size()) return why;
  throw UsageError(why + (std::ceil(needed * 100) / 100 <= kMaxCalibration
                              ? text("; give at least %.2f, or omit the option", std::ceil(needed * 100) / 100)
                              : std::string("; the table has too few labels")));
}

void RunCalibration::add_results(Report& report) const {
  if (!calibration_ || test_.labels.empty()) return;
  const std::size_t columns =
      1 + static_cast<std::size_t>(std::ranges::count(report.csv.substr(0, report.csv.find('\n')), ','));
  const std::size_t rows = test_.labels.size() / calibration_->targets.size();
  std::string line;
  for (const auto& [name, value] : calibration_results(*calibration_, test_)) {
    report.csv += text("test,%zu,%s,%s", rows, name.c_str(), number_text(static_cast<float>(value)).c_str()) +
                  std::string(columns - 4, ',') + "\n";
    line += (line.empty() ? "Calibration, test: " : ", ") + name + " " + sensible_number(value);
  }
  if (!line.empty()) report.text += line + "\n";
}

}  // namespace molgraph

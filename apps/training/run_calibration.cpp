#include "apps/training/run_calibration.hpp"

#include <algorithm>
#include <filesystem>

#include "apps/scoring/blend.hpp"
#include "apps/training/evaluate.hpp"
#include "apps/training/run_directory.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
Disagreement::Disagreement(const std::vector<AllPredictions>& models, bool same_parts) {
  if (models.size() < 2) return;
  const auto of = [&](auto rows_of) {
    std::vector<const std::vector<double>*> rows;
    for (const AllPredictions& model : models) rows.push_back(&rows_of(model));
    return deviation_of(rows);
  };
  if (same_parts) valid = of([](const AllPredictions& model) -> auto& { return model.parts[1]; });
  test = of([](const AllPredictions& model) -> auto& { return model.parts[2]; });
  calibration = of([](const AllPredictions& model) -> auto& { return model.calibration; });
}

void Disagreement::scale(const Task& task, const std::vector<double>& shares) {
  if (shares.empty()) return;
  std::vector<double> of_outputs;
  const std::vector<BlendTarget> targets = blend_targets(task);
  for (std::size_t t = 0; t < targets.size(); ++t)
    of_outputs.insert(of_outputs.end(), static_cast<std::size_t>(targets[t].classes), shares[t]);
  for (std::vector<double>* rows : {&valid, &test, &calibration})
    for (std::size_t i = 0; i < rows->size(); ++i) (*rows)[i] *= of_outputs[i % of_outputs.size()];
}

RunCalibration RunCalibration::of_split(const LoadedData& data, AllPredictions& predictions,
                                        const Disagreement& disagreement, std::int64_t members,
                                        const RunControl& control) {
  RunCalibration made;
  const MoleculeSet& set = data.set;
  const auto rows_of = [&](const std::vector<std::int64_t>& molecules, const std::vector<double>& predicted,
                           const std::vector<double>& deviation) {
    return PredictedRows{predicted, deviation, targets_of(set, molecules)};
  };
  made.test_ = rows_of(data.split.test, predictions.parts[2], disagreement.test);
  const bool apart = !data.split.calibration.empty();
  if (!apart && data.split.valid.empty()) return made;
  Calibration calibration =
      apart ? fit_calibration(set.task, CalibrationPart::calibration,
                              {rows_of(data.split.calibration, predictions.calibration, disagreement.calibration)})
            : fit_calibration(set.task, CalibrationPart::valid,
                              {rows_of(data.split.valid, predictions.parts[1], disagreement.valid)});
  calibration.members = members;
  for (const std::string& note : calibration_notes(calibration)) control.note(note);
  const auto outputs = static_cast<std::size_t>(set.task.num_outputs());
  predictions.for_each_row(outputs, [&](double* row) { apply_temperatures(calibration, row); });
  made.calibration_ = std::move(calibration);
  return made;
}

RunCalibration RunCalibration::of_folds(const Task& task, const std::vector<PredictedRows>& tests,
                                        const RunControl& control) {
  RunCalibration made;
  made.calibration_ = fit_calibration(task, CalibrationPart::folds, tests);
  made.calibration_->members = static_cast<std::int64_t>(tests.size());
  for (const std::string& note : calibration_notes(*made.calibration_)) control.note(note);
  return made;
}

bool RunCalibration::write(const std::string& folder) const {
  const std::string path = RunDirectory{folder}.calibration();
  if (calibration_ && is_of_use(*calibration_)) {
    write_calibration(path, *calibration_);
    return true;
  }
  std::filesystem::remove(path);
  return false;
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

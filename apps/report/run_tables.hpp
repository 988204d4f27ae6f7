// Reads the tables of a run directory for the report. All functions throw FileError or DataError if a table is damaged
// and return an empty result if it is missing.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// test_predictions.csv or valid_predictions.csv: id, smiles, then label and prediction per target. Ignores the
/// intervals that follow.
PartRows read_predictions(const std::string& path, const Task& task);
/// metrics.csv.
LearningCurve read_curve(const std::string& path);
/// splits.csv: number of molecules in train, valid, test and calibration.
std::array<std::int64_t, kParts + 1> read_part_sizes(const std::string& path);
/// splits.csv: PartRows::in_train.
std::vector<bool> read_in_train(const std::string& path, const PartRows& rows);
/// rejected.csv.
std::vector<RejectedRows> read_rejected(const std::string& path);
/// results.csv: the values of the run, then those of the other methods, without intervals.
std::vector<MethodResults> read_results(const std::string& path);

struct RepeatedMolecules {
  std::int64_t molecules = 0, rows = 0;
  std::vector<LabelNoise> noise;
};
/// duplicates.csv. `judged` [n, T]: the labels of the evaluation set, whose variance gives the best R2.
RepeatedMolecules read_repeated(const std::string& path, const Task& task, const std::vector<double>& judged);

}  // namespace molgraph

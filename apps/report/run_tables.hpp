// The tables of a run directory as the report reads them. All throw FileError or DataError where a table is damaged,
// and give nothing where it is missing.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// test_predictions.csv or valid_predictions.csv: id, smiles, then per target its label and its prediction;
/// intervals after these are not read.
PartRows read_predictions(const std::string& path, const Task& task);
/// metrics.csv.
LearningCurve read_curve(const std::string& path);
/// splits.csv: molecules in train, valid, test and calibration.
std::array<std::int64_t, kParts + 1> read_part_sizes(const std::string& path);
/// PartRows::in_train by splits.csv.
std::vector<bool> read_in_train(const std::string& path, const PartRows& rows);
/// rejected.csv.
std::vector<RejectedRows> read_rejected(const std::string& path);
/// results.csv: the run, then the columns beside it, values alone.
std::vector<MethodResults> read_results(const std::string& path);

struct RepeatedMolecules {
  std::int64_t molecules = 0, rows = 0;
  std::vector<LabelNoise> noise;
};
/// duplicates.csv; `judged` [n, T]: the labels whose variance bounds R2.
RepeatedMolecules read_repeated(const std::string& path, const Task& task, const std::vector<double>& judged);

}  // namespace molgraph

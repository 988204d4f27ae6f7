// All that the report of a run says, as data: gathered from the run's files, shown by report_page.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/nearest_training.hpp"
#include "apps/report/report_record.hpp"
#include "apps/report/statistics.hpp"
#include "apps/scoring/run_record.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// A part as its predictions file has it, n molecules.
struct PartRows {
  std::vector<std::string> id, smiles;
  std::vector<double> labels;       ///< [n, T] exact ones, else NaN
  std::vector<double> predictions;  ///< [n, outputs]
  std::vector<double> low, high;    ///< [n, T] of the 90 % interval, NaN = none; empty = none at all
  std::vector<double> similarity;   ///< [n] to the most similar training molecule; empty = not known
  /// [n] of a validation part that inner folds or members' splits made: it is in the split's training part. Empty =
  /// none
  std::vector<bool> in_train;

  std::size_t size() const { return id.size(); }
};

/// metrics.csv of one model.
struct LearningCurve {
  std::string name;    ///< "model_0"; "" = the only one
  std::string metric;  ///< what chose the best epoch, "mae"
  std::vector<double> epoch, loss, value;
  std::ptrdiff_t best = -1;  ///< index of the best epoch; -1 = there is no value
};

/// What an interval of a level holds of the test part.
struct Coverage {
  std::size_t target = 0;
  double level = 0, covered = 0, width = 0;
  std::int64_t hits = 0, labels = 0;
};

/// How far the labels of molecules that stand in several rows differ.
struct LabelNoise {
  std::size_t target = 0;
  std::int64_t molecules = 0, rows = 0;  ///< with several exact labels
  double deviation = 0;                  ///< of numbers: of one label, pooled over the molecules
  double best_r2 = 0;                    ///< of numbers: 1 - deviation^2 / variance of the test labels; NaN = unknown
  double disagree = 0;                   ///< of classes: the share of pairs of rows of a molecule that differ
};

struct RejectedRows {
  std::string status, reason;
  std::int64_t count = 0;
};

struct ReportFacts {
  std::string name;  ///< of the data: "esol", "my_assay.csv"
  Task task;
  std::string model;             ///< in words
  std::int64_t models = 1;       ///< of the run
  std::optional<RunRecord> run;  ///< run.json
  bool has_record = false;       ///< report.json is there
  std::optional<std::int64_t> shared;
  std::optional<std::int64_t> censored;
  std::array<std::int64_t, kParts> parts{};  ///< molecules
  std::int64_t calibration_part = 0;         ///< molecules that are kept apart
  std::vector<RejectedRows> rejected;        ///< by falling count
  std::int64_t repeated_molecules = 0, repeated_rows = 0;
  std::vector<LabelNoise> noise;
  /// The first is the run. Of folds a value is the mean over them, its interval a deviation (of the sample) to each
  /// side.
  std::vector<MethodResults> methods;
  std::vector<MethodResults> members;  ///< each model of an ensemble alone, or each fold; of one model none
  bool folds = false;                  ///< the members are folds, each with a test part of its own
  std::string recipe;                  ///< whose settings it has, and what they are known to reach; "" = none
  PartRows valid, test;
  std::vector<LearningCurve> curves;
  std::vector<Coverage> coverage;
  std::int64_t compared = 0;  ///< training molecules behind the similarities
  std::vector<Twins> twins;
  std::shared_ptr<const NearestTraining> training;  ///< null = the run does not name its training molecules

  /// What is judged by: the test part, else the validation part.
  const PartRows& judged() const { return test.size() > 0 || valid.size() == 0 ? test : valid; }
  std::size_t judged_part() const { return &judged() == &test ? 2 : 1; }
};

/// From the files of a run directory, of any version: what is not there is left out, values of earlier versions'
/// results.csv have no intervals. Of folds the parts are those of all folds, one after the other, each molecule as its
/// fold's model predicts it. Throws FileError where a file is damaged or there is no model.
ReportFacts facts_of_run(const std::string& folder, int threads = 0);

}  // namespace molgraph

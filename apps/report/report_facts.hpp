// The content of a run's report as data: collected from the run's files, rendered by report_page.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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

/// A predictions file: one set of the split, n molecules.
struct PartRows {
  std::vector<std::string> id, smiles;
  std::vector<double> labels;       ///< [n, T] exact ones, else NaN
  std::vector<double> predictions;  ///< [n, outputs]
  std::vector<double> low, high;    ///< [n, T] of the 90 % interval, NaN = none; empty = none for any target
  std::vector<double> similarity;   ///< [n] to the most similar training molecule; empty = unknown
  /// [n] for validation results from inner folds or member splits: whether the molecule is in the split's training set.
  /// Empty = none is.
  std::vector<bool> in_train;

  std::size_t size() const { return id.size(); }
  /// Whether any label is exact.
  bool has_labels() const {
    return std::ranges::any_of(labels, [](double label) { return !std::isnan(label); });
  }
};

/// metrics.csv of one model.
struct LearningCurve {
  std::string name;    ///< "model_0"; "" = the only one
  std::string metric;  ///< the metric that selected the best epoch, "mae"
  std::vector<double> epoch, loss, value;
  std::ptrdiff_t best = -1;  ///< index of the best epoch; -1 = no value
};

/// Coverage of a target's intervals at one level on the test set.
struct Coverage {
  std::size_t target = 0;
  double level = 0, covered = 0, width = 0;
  std::int64_t hits = 0, labels = 0;
};

/// Differences between the labels of duplicate molecules.
struct LabelNoise {
  std::size_t target = 0;
  std::int64_t molecules = 0, rows = 0;  ///< with several exact labels
  double deviation = 0;                  ///< regression: standard deviation of one label, pooled over the molecules
  double best_r2 = 0;                    ///< regression: 1 - deviation^2 / variance of the test labels; NaN = unknown
  double disagree = 0;                   ///< classification: share of pairs of rows of a molecule that disagree
};

struct RejectedRows {
  std::string status, reason;
  std::int64_t count = 0;
};

struct ReportFacts {
  std::string name;  ///< of the data: "esol", "my_assay.csv"
  Task task;
  std::string model;             ///< description for people
  std::int64_t models = 1;       ///< number of models in the run
  std::optional<RunRecord> run;  ///< run.json
  bool has_record = false;       ///< report.json exists
  bool has_config = false;       ///< config.toml exists
  std::optional<std::int64_t> shared;
  std::optional<std::int64_t> censored;
  std::array<std::int64_t, kParts> parts{};  ///< molecules
  std::int64_t calibration_part = 0;         ///< molecules in the calibration set
  std::vector<RejectedRows> rejected;        ///< in descending order of count
  std::int64_t repeated_molecules = 0, repeated_rows = 0;
  std::vector<LabelNoise> noise;
  /// The first is the run. For folds, a value is the mean over the folds, and its interval is the mean plus or minus
  /// the sample standard deviation.
  std::vector<MethodResults> methods;
  std::vector<MethodResults> members;  ///< each member of an ensemble alone, or each fold; empty for a single model
  bool folds = false;                  ///< the members are folds, each with its own test set
  std::string recipe;                  ///< the recipe of the settings and its published result; "" = none
  PartRows valid, test;
  std::vector<LearningCurve> curves;
  std::vector<Coverage> coverage;
  std::int64_t compared = 0;  ///< number of training molecules used for the similarities
  std::vector<Twins> twins;
  std::shared_ptr<const NearestTraining> training;  ///< null = the run does not store its training molecules' names

  /// Whether molgraph-info --strip removed the predictions.
  bool is_stripped() const { return has_record && judged().size() == 0; }
  /// The evaluation set: the test set or, if it is empty or has no labels, the validation set. Without predictions
  /// (is_stripped()), the results decide whether the test set had labels.
  const PartRows& judged() const { return judged_part() == 2 ? test : valid; }
  std::size_t judged_part() const {
    if (test.has_labels() || valid.size() > 0) return test.has_labels() ? 2 : 1;
    const auto has_results = [&](std::size_t part) {
      return !methods.empty() && methods.front().parts[part] &&
             std::ranges::any_of(methods.front().parts[part]->mean,
                                 [](const Estimate& mean) { return !std::isnan(mean.value); });
    };
    return has_results(2) || !has_results(1) ? 2 : 1;
  }
};

/// Collects the facts from the files of a run directory. Omits what is missing. For folds, `valid` and `test` are the
/// concatenated sets of all folds, predicted by each fold's own model. Throws FileError if a file is damaged or there
/// is no model.
ReportFacts facts_of_run(const std::string& folder, int threads = 0);

}  // namespace molgraph

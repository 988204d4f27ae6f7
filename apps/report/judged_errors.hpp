// Errors of the predictions on the evaluation set, by label and by similarity to the training set.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// The error of one label: the absolute error for regression, 1 - the probability of the label for classification.
struct LabelError {
  std::size_t row, target;
  double size;
};

/// The prediction for an existing label: the value, for binary targets the probability of 1, for multiclass targets the
/// probability of the label.
double prediction_of(const ReportFacts& facts, const PartRows& rows, std::size_t row, std::size_t target);

/// [T] standard deviation of the labels in the evaluation set; 1 if it is 0.
std::vector<double> label_deviations(const ReportFacts& facts);

/// All errors on the evaluation set. Regression errors are in the target's unit if `in_target_unit`, else in standard
/// deviations of the labels.
std::vector<LabelError> errors_of(const ReportFacts& facts, bool in_target_unit);

/// Whether the report may show a molecule of the evaluation set: training molecules, of which there are some in the
/// validation results of inner folds, only if the run stores the names of its training molecules.
bool may_show(const ReportFacts& facts, std::size_t row);

/// The largest errors of molecules that the report may show, in descending order, in standard deviations of the labels.
std::vector<LabelError> worst_errors(const ReportFacts& facts, std::size_t max_count);

/// The molecules whose similarity to the most similar training molecule is in the range.
struct SimilarityBin {
  double low, high;
  std::int64_t molecules, labels;
  Estimate mean;  ///< of the errors, with its 95 % interval
};

/// Ten bins from 0 to 1, without empty ones, for the regression targets (`regression`) or for the classification
/// targets. The errors of a single regression target are in its unit. Empty if similarities are unknown.
std::vector<SimilarityBin> similarity_bins(const ReportFacts& facts, bool regression);

}  // namespace molgraph

// How far off the predictions of the judged part are, label by label, and by similarity to the training set.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// An error of one label: of numbers its size, of classes what the label's probability lacks to one.
struct LabelError {
  std::size_t row, target;
  double size;
};

/// What is said of a label that is there: the number, of two classes the probability of 1, of more that of the label.
double prediction_of(const ReportFacts& facts, const PartRows& rows, std::size_t row, std::size_t target);

/// [T] The standard deviation of the judged part's labels; 1 where it is none.
std::vector<double> label_deviations(const ReportFacts& facts);

/// All errors of the judged part; those of numbers in their own unit where `own_unit`, else in standard deviations of
/// the part's labels.
std::vector<LabelError> errors_of(const ReportFacts& facts, bool own_unit);

/// The largest ones, falling, of several targets in deviations of their labels; of training molecules only in runs that
/// name theirs.
std::vector<LabelError> worst_errors(const ReportFacts& facts, std::size_t most);

/// Molecules whose most similar training molecule is so similar.
struct SimilarityBin {
  double low, high;
  std::int64_t molecules, labels;
  Estimate mean;  ///< of the errors, with the 95 % interval of a mean
};

/// Ten bins from 0 to 1 less those without a label, of the targets that are numbers or of those that are classes. One
/// target's numbers are in its unit. Nothing where similarities are not known.
std::vector<SimilarityBin> similarity_bins(const ReportFacts& facts, bool numbers);

}  // namespace molgraph

// Explanations beside predictions: molgraph-score --explain.
#pragma once

#include <vector>

#include "apps/programs/batch/batch_run.hpp"
#include "apps/programs/batch/score_output.hpp"
#include "apps/programs/score/score.hpp"

namespace molgraph {

/// Of --explain: atoms or rollout, "" = none.
ExplainMethod explain_method(const std::string& word);

/// With windows so small that a signal need not wait long for the end of one.
BatchOptions explained_batch(BatchOptions batch);

/// The columns that explanations of this run have.
ExplainColumns explained_columns(const Predictor& predictor, ExplainMethod method);

/// Adds to each row that is ok what its prediction is made of. Where a sum is not complete, the reason says so.
/// `columns` as Predictor::explain() has them.
void explain_rows(const Predictor& predictor, const RowWindow& window, const std::vector<float>& columns,
                  std::vector<ScoredRow>& rows);

/// Pictures of explanations in a folder, of the first kMostPictures rows.
class Pictures {
 public:
  static constexpr std::int64_t kMostPictures = 10'000;

  /// `folder` "" = none are asked for. Throws UsageError for a folder that holds something already (unless an output is
  /// gone on with), a target that is none, and without an explanation; FileError if the folder cannot be made.
  Pictures(const ScoreOptions& options, const Predictor& predictor);

  /// Of the rows that are ok. May be called by several threads. Throws FileError.
  void draw(const RowWindows& windows, const RowWindow& window, const std::vector<ScoredRow>& rows) const;

 private:
  std::string folder_;
  std::size_t target_ = 0;
  std::string name_;  ///< of the target
  bool rollout_ = false;
  FeaturizerOptions featurizer_;
};

}  // namespace molgraph

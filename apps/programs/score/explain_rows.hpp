// Explanations of predictions: molgraph-score --explain.
#pragma once

#include <vector>

#include "apps/programs/batch/batch_run.hpp"
#include "apps/programs/batch/score_output.hpp"
#include "apps/programs/score/score.hpp"

namespace molgraph {

/// The method of --explain: atoms, fragments or rollout; "" = none.
ExplainMethod explain_method(const std::string& word);

/// The options with smaller windows, so that a signal does not wait long for the end of a window.
BatchOptions explained_batch(BatchOptions batch);

/// The columns of explanations of this run.
ExplainColumns explained_columns(const Predictor& predictor, ExplainMethod method);

/// Adds explanations to all rows with status ok. If contributions do not add up to the prediction, the reason reports
/// it. `columns`: as for Predictor::explain().
void explain_rows(const Predictor& predictor, const RowWindow& window, const std::vector<float>& columns,
                  std::vector<ScoredRow>& rows);

/// Drawings of explanations for the first kMaxPictures rows, in a folder.
class Pictures {
 public:
  static constexpr std::int64_t kMaxPictures = 10'000;

  /// `options.draw` "" = no drawings. Throws UsageError for a folder that is not empty (except with --resume), an
  /// unknown target or a missing --explain; FileError if the folder cannot be created.
  Pictures(const ScoreOptions& options, const Predictor& predictor);

  /// Draws the rows with status ok. Thread-safe. Throws FileError.
  void draw(const RowWindows& windows, const RowWindow& window, const std::vector<ScoredRow>& rows) const;

 private:
  std::string folder_;
  std::size_t target_ = 0;
  std::string name_;  ///< target, or "attention rollout"
  ExplainMethod method_ = ExplainMethod::none;
  FeaturizerOptions featurizer_;
};

}  // namespace molgraph

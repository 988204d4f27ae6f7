// One model of a run: a single one, a member of an ensemble, or that of a fold.
#pragma once

#include <optional>
#include <string>

#include "apps/training/predictions.hpp"
#include "apps/training/run_inputs.hpp"
#include "apps/training/run_options.hpp"
#include "apps/training/train_run.hpp"

namespace molgraph {

struct TrainedModel {
  AllPredictions predictions;   ///< of the data's split; only the first process has any
  std::int64_t best_epoch = 0;  ///< by validation; 0 without it
};

/// Trains the model in `folder` on the parts of `split`.
TrainedModel train_model(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                         const std::optional<StartingPoint>& start, const std::string& folder);

/// Trains a model as `train_model` does, then the one that stays: on training and validation part together, with the
/// same schedule, up to the best epoch. Predictions of the validation part are those of the first one, which has not
/// learned it; the others are of the second one, whose checkpoints lie in `folder`/refit.
TrainedModel train_and_refit(const TrainRun& run, const ResolvedRun& resolved, LoadedData& data,
                             const std::optional<StartingPoint>& start, const std::string& folder);

}  // namespace molgraph

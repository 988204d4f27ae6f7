// Training of one model of a run: a single model, an ensemble member or the model of a fold.
#pragma once

#include <optional>
#include <string>

#include "apps/training/run/predictions.hpp"
#include "apps/training/run/run_inputs.hpp"
#include "apps/training/run/run_options.hpp"
#include "apps/training/run/run_plan.hpp"
#include "apps/training/run/train_run.hpp"

namespace molgraph {

/// Trains a model on `split` in `folder` and returns its predictions; empty in all processes except the first. With
/// --refit, trains a second model in folder/refit on the training and validation set together, with the same schedule
/// up to the best epoch of the first model. The run keeps the second model. Predictions for the validation set come
/// from the first one, which was not trained on it. The first model of a run passes the duration of an update to
/// `plan`.
AllPredictions train_model(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                           const std::optional<StartingPoint>& start, const std::string& folder, RunPlan& plan);

}  // namespace molgraph

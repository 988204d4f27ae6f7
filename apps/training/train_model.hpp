// One model of a run: a single one, a member of an ensemble, or that of a fold.
#pragma once

#include <optional>
#include <string>

#include "apps/training/predictions.hpp"
#include "apps/training/run_inputs.hpp"
#include "apps/training/run_options.hpp"
#include "apps/training/run_plan.hpp"
#include "apps/training/train_run.hpp"

namespace molgraph {

/// Trains the model in `folder` and returns what it predicts; only the first process has anything to return. With
/// --refit a second one is trained in folder/refit, on training and validation part together with the same schedule up
/// to the best epoch of the first: it is the model that stays. The predictions of the validation part are those of the
/// first one, which has not learned it. The run's first model tells the `plan` how long an update takes.
AllPredictions train_model(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                           const std::optional<StartingPoint>& start, const std::string& folder, RunPlan& plan);

}  // namespace molgraph

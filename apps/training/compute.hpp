// What computes while a run trains: LibTorch's operations or an engine, and how the trainer asks it.
#pragma once

#include <memory>

#include "apps/scoring/model_config.hpp"
#include "apps/training/evaluate.hpp"
#include "apps/training/train_run.hpp"
#include "apps/training/trainer.hpp"
#include "attention/reference/engine_boundary.hpp"

namespace molgraph {

/// Null where LibTorch's operations compute.
using Compute = std::shared_ptr<EngineBoundary>;

/// Throws UsageError where the options contradict each other or this machine cannot do what they ask for.
void check_compute(const TrainRun& run);
/// What products are computed in: fp32 with --backend reference.
UsedPrecision precision_of(const TrainRun& run);
/// `model` must outlive the result.
Compute make_compute(const TrainRun& run, GraphModel& model);
/// What a batch has to be packed with.
PackOptions pack_options(const GraphModel& model, const Compute& compute);
/// Predictions of the model as it is now.
PredictFunction predict_function(const std::shared_ptr<GraphModel>& model, const Compute& compute);
/// The model as the trainer sees it; `decay_all`: no parameter is exempt from weight decay.
Trainable make_trainable(const std::shared_ptr<GraphModel>& model, const Compute& compute, const ModelConfig& config,
                         bool decay_all);

}  // namespace molgraph

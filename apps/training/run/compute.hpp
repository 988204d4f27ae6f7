// Compute backend of a training run (LibTorch operations or an engine) and its interface to the trainer.
#pragma once

#include <memory>

#include "apps/scoring/model_config.hpp"
#include "apps/training/loop/evaluate.hpp"
#include "apps/training/loop/trainer.hpp"
#include "apps/training/run/train_run.hpp"
#include "attention/reference/engine_boundary.hpp"

namespace molgraph {

/// Null = LibTorch operations.
using Compute = std::shared_ptr<EngineBoundary>;

/// Throws UsageError if the options contradict each other or this machine does not support them.
void check_compute(const TrainRun& run);
/// Returns the precision of matrix products: fp32 with --backend reference.
UsedPrecision precision_of(const TrainRun& run);
/// Creates the backend. `model` must outlive the result.
Compute make_compute(const TrainRun& run, GraphModel& model);
/// Returns the options with which batches must be packed.
PackOptions pack_options(const GraphModel& model, const Compute& compute);
/// Returns a function that predicts with the model's current weights.
PredictFunction predict_function(const std::shared_ptr<GraphModel>& model, const Compute& compute);
/// Returns the trainer's view of the model. `decay_all`: no parameter is exempt from weight decay.
Trainable make_trainable(const std::shared_ptr<GraphModel>& model, const Compute& compute, const ModelConfig& config,
                         bool decay_all);

}  // namespace molgraph

// Checks of an engine's inputs against its plan. Invalid inputs cause std::invalid_argument, never undefined behaviour.
#pragma once

#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// True if the model has an edge-path term. Engines that do not find the paths themselves then need GraphBatch::paths.
bool needs_paths(const ModelPlan& plan);

/// Checks that the plan's options are valid and consistent. Throws std::invalid_argument that names the first problem.
void check_plan(const ModelPlan& plan);

/// Checks everything that is used as an index or offset: the feature set, array sizes, offsets, values of atoms and
/// pairs and, with `paths`, GraphBatch::paths. Takes a few passes over the batch's bytes, which is negligible compared
/// with running a model. Throws std::invalid_argument that names the molecule and the value.
void check_batch(const GraphBatch& batch, const ModelPlan& plan, bool paths);

/// Throws std::invalid_argument unless the states of `layer` can be kept: -1, 0 .. layers.
void check_layer(int layer, const ModelPlan& plan);

}  // namespace molgraph

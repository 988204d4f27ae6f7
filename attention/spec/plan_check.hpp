// What an engine is given, against its plan: a wrong caller gets std::invalid_argument, never undefined behaviour.
#pragma once

#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// True if the model has a term over edge paths: whoever does not find the paths itself needs GraphBatch::paths.
bool needs_paths(const ModelPlan& plan);

/// Sizes that fit each other. Throws std::invalid_argument naming what does not.
void check_plan(const ModelPlan& plan);

/// Everything that is an index or an offset: the feature set, the arrays' sizes, offsets, the atoms' and pairs' values,
/// with `paths` also GraphBatch::paths. A few passes over the batch's bytes, beside nothing of what a model does with
/// them. Throws std::invalid_argument naming molecule and value.
void check_batch(const GraphBatch& batch, const ModelPlan& plan, bool paths);

/// A layer whose states can be kept: -1, 0 .. layers. Throws std::invalid_argument.
void check_layer(int layer, const ModelPlan& plan);

}  // namespace molgraph

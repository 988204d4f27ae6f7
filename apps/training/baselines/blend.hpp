// The blend: how much of the model and how much of the trees predicts best on the validation part.
#pragma once

#include <vector>

#include "apps/scoring/trees.hpp"
#include "apps/training/metrics.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Sets the weight of every target, and for classes whether probabilities or log-odds are mixed: of 21 weights from 0
/// to 1, the ones with the best metric on `targets` [n, T]; of those that are as good as the best but for a hundredth
/// of what lies between the worst and the best, the one nearest to a half. `models` are the predictions [n, outputs] of
/// each model of an ensemble (each is mixed, then their mean is taken), `of_trees` [n, outputs] the trees'. A target of
/// another kind than the metric's has the default one of its kind. Where it means nothing (no label, one class), the
/// weight is a half.
void choose_blend(Metric metric, const Task& task, const std::vector<std::vector<double>>& models,
                  const std::vector<double>& of_trees, const std::vector<double>& targets,
                  std::vector<TreeTarget>& blend);

/// Predictions [n, outputs] of a model, mixed row by row with `of_trees` [n, outputs].
void mix_rows(const std::vector<TreeTarget>& blend, const std::vector<double>& of_trees,
              std::vector<double>& predictions);

}  // namespace molgraph

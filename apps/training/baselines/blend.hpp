// The blend: how much of the model and how much of the trees predicts best on the validation part.
#pragma once

#include <vector>

#include "apps/scoring/trees.hpp"
#include "apps/training/metrics.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Sets the weight of every target: of 21 weights from 0 to 1 with a mean loss on `targets` [n, T] within one standard
/// error of the least, the one nearest to a half: few rows say little, and halves are wrong by little. (The
/// one-standard-error rule of Breiman et al., 1984, section 3.4.3, with the error of the paired differences.) The loss
/// is the absolute error if the metric is mae, else the squared one; of classes the log-loss, whatever the metric.
/// `models` are the predictions [n, outputs] of each model of an ensemble (each is mixed, then their mean is taken),
/// `of_trees` [n, outputs] the trees'. With labels of one class
/// alone, which show who is surer and not who is right, or with one label or none the weight is a half.
void choose_blend(Metric metric, const Task& task, const std::vector<std::vector<double>>& models,
                  const std::vector<double>& of_trees, const std::vector<double>& targets,
                  std::vector<TreeTarget>& blend);

/// Predictions [n, outputs] of a model, mixed row by row with `of_trees` [n, outputs].
void mix_rows(const std::vector<TreeTarget>& blend, const std::vector<double>& of_trees,
              std::vector<double>& predictions);

}  // namespace molgraph

// The blend: a run's prediction is a weighted mean of the predictions of the model and its partners (trees and a
// Gaussian process). Each partner has a share for each target.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// One target of the task for one partner.
struct BlendTarget {
  std::string name;
  TaskKind kind = TaskKind::regression;
  int classes = 1;   ///< outputs of the target: the number of classes for multiclass, else 1
  double share = 0;  ///< 0 to 1, weight of this partner in the run's prediction; the model has the rest
};

/// The targets of a task, without shares.
std::vector<BlendTarget> blend_targets(const Task& task);
/// Number of outputs of all targets, the columns of a prediction.
std::size_t outputs_of(std::span<const BlendTarget> targets);

/// A partner's prediction for one molecule.
struct PartnerPrediction {
  std::span<const BlendTarget> targets;
  std::span<const double> values;  ///< [outputs]
};

/// Replaces `values` [outputs], a model's predictions for one molecule, by (1 - the partners' shares) * model + the sum
/// of share * partner.
void blend_predictions(std::span<const PartnerPrediction> partners, double* values);

/// Limits a partner's prediction for a class, so that no class is certain: at least a tenth of the class's frequency in
/// training, but this limit is between 1e-6 and 0.01. The same holds for 1 minus the prediction and 1 minus the
/// frequency.
double limited_probability(double value, double frequency);

/// Why these are invalid as a partner's targets, "" if they are valid.
std::string targets_problem(std::span<const BlendTarget> targets);

}  // namespace molgraph

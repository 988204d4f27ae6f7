// The blend: a run's prediction is a mixture of what the model says and what its partners say, trees and a Gaussian
// process, each with a share of its own for every target.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// One target of the task as a partner of the model has it.
struct BlendTarget {
  std::string name;
  TaskKind kind = TaskKind::regression;
  int classes = 1;   ///< outputs of the target: of multiclass the classes, else 1
  double share = 0;  ///< 0 to 1, of this partner in the run's prediction; what the partners leave is the model's
};

/// The targets of a task, without shares.
std::vector<BlendTarget> blend_targets(const Task& task);
/// Outputs of all targets: columns of a prediction.
std::size_t outputs_of(std::span<const BlendTarget> targets);

/// What a partner predicts of one molecule.
struct PartnerPrediction {
  std::span<const BlendTarget> targets;
  std::span<const double> values;  ///< [outputs]
};

/// `values` [outputs], a model's predictions of one molecule, become (1 - the partners' shares) * model + the sum of
/// share * partner.
void blend_predictions(std::span<const PartnerPrediction> partners, double* values);

/// Why these cannot be a partner's targets, "" if they can.
std::string targets_problem(std::span<const BlendTarget> targets);

}  // namespace molgraph

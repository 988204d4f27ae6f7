// Losses over the targets that are not missing, and their derivatives.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/training/loop/metrics.hpp"
#include "attention/engine.hpp"
#include "attention/spec/scalar.hpp"
#include "datasets/store/molecule_set.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Returns the default loss of a task: l1 (mse if the chosen metric is rmse or r2), bce or ce.
Loss default_loss(TaskKind kind, std::optional<Metric> metric = {});
/// Throws UsageError if the loss does not apply to the task.
void check_loss(Loss loss, TaskKind kind);

/// The loss of each target. Usually all targets have the same loss. In a mixed task, binary targets have bce and the
/// others a different loss. In a corpus with measured labels, computed targets have the given loss, measured numbers l1
/// and classes bce.
class Losses {
 public:
  Losses(Loss all) : rest_(all) {}  // NOLINT(google-explicit-constructor): the usual case
  Losses(Loss rest, const Task& task);
  Losses(Loss rest, const MoleculeSet& set);

  bool uniform() const { return each_.empty(); }
  Loss of(std::size_t target) const { return each_.empty() ? rest_ : each_[target]; }
  /// Returns the losses [T]; empty if all are rest().
  const std::vector<Loss>& each() const { return each_; }
  /// Returns the loss of all targets, or of those that are neither binary nor measured.
  Loss rest() const { return rest_; }

 private:
  Loss rest_;
  std::vector<Loss> each_;
};

/// Bounds and weights of labels.
struct LabelTerms {
  torch::Tensor bounds;   ///< [B, T] int8, see MoleculeSet::bound; undefined = all are exact
  torch::Tensor weights;  ///< [B, T] float32; undefined = all are 1
};

/// Sum of the weighted losses over the targets that are not missing, and their number. `scaled` [B, outputs] is the
/// model's raw output. `targets` [B, T] (NaN = missing) are in the user's unit and are first scaled with shift and
/// scale, in double precision if they are double.
struct LossSum {
  torch::Tensor sum;  ///< scalar, differentiable
  std::int64_t count = 0;
};
LossSum masked_loss(const Losses& losses, const torch::Tensor& scaled, const torch::Tensor& targets,
                    const torch::Tensor& shift, const torch::Tensor& scale, const LabelTerms& terms = {});

/// Returns the mean loss of predictions in the target's unit or as probabilities: `predictions` [n, outputs], `targets`
/// [n, T]. It is in the unit of the training loss (`scale` [outputs] as above); all labels have weight 1. Probabilities
/// are clipped to [2^-24, 1 - 2^-24]. For a mixed task, it is the mean over the targets of their mean losses; with
/// `weights` [T] of each target's labels, the weighted mean over all labels. NaN if all targets are missing.
double loss_of_predictions(const Losses& losses, const Task& task, const std::vector<double>& predictions,
                           const std::vector<double>& targets, const std::vector<double>& scale,
                           const std::vector<double>& weights = {});

/// Returns a tensor's numbers as doubles, row-major.
std::vector<double> values_of(const torch::Tensor& tensor);

/// Returns the number of targets that are not NaN.
std::int64_t count_present(const torch::Tensor& targets);

/// Returns a function that computes the derivative of masked_loss()'s sum with respect to one molecule's raw outputs,
/// times `factor`. It copies the labels.
LossSlope loss_slope(const Losses& losses, const torch::Tensor& targets, const torch::Tensor& shift,
                     const torch::Tensor& scale, double factor, const LabelTerms& terms = {});

}  // namespace molgraph

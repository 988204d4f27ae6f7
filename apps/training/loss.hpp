// Losses over the targets that are present, and their derivatives.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/training/metrics.hpp"
#include "attention/engine.hpp"
#include "attention/spec/scalar.hpp"
#include "datasets/store/molecule_set.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// The loss of a task where nobody names one: l1 (mse where the metric that is asked for is of squares), bce, ce.
Loss default_loss(TaskKind kind, std::optional<Metric> metric = {});
/// Throws UsageError if the loss means nothing for the task.
void check_loss(Loss loss, TaskKind kind);

/// The loss of each target: one for all, or of a mixed task bce for the binary targets and another for the rest; of a
/// corpus with measured labels that for the computed targets, l1 for measured numbers and bce for classes.
class Losses {
 public:
  Losses(Loss all) : rest_(all) {}  // NOLINT(google-explicit-constructor): one loss is the rule
  Losses(Loss rest, const Task& task);
  Losses(Loss rest, const MoleculeSet& set);

  bool uniform() const { return each_.empty(); }
  Loss of(std::size_t target) const { return each_.empty() ? rest_ : each_[target]; }
  /// [T]; empty where all are rest().
  const std::vector<Loss>& each() const { return each_; }
  /// That of all, or of what is not binary or not measured.
  Loss rest() const { return rest_; }

 private:
  Loss rest_;
  std::vector<Loss> each_;
};

/// What the losses of some labels go by beside their numbers.
struct LabelTerms {
  torch::Tensor bounds;   ///< [B, T] int8 as MoleculeSet::bound; undefined = all are exact
  torch::Tensor weights;  ///< [B, T] float32; undefined = all are 1
};

/// Sum of the weighted losses over the targets that are present, and their number. `scaled` [B, outputs] is the model's
/// raw output; `targets` [B, T] (NaN = missing) are in the user's unit and scaled by shift and scale first, in double
/// where they are.
struct LossSum {
  torch::Tensor sum;  ///< scalar, differentiable
  std::int64_t count = 0;
};
LossSum masked_loss(const Losses& losses, const torch::Tensor& scaled, const torch::Tensor& targets,
                    const torch::Tensor& shift, const torch::Tensor& scale, const LabelTerms& terms = {});

/// The mean loss of predictions as users see them, `predictions` [n, outputs] and `targets` [n, T], in the unit of the
/// training loss (`scale` [outputs] as above), all labels weighing 1. Probabilities of 0 and 1 count as the next float
/// beside them. Of a mixed task it is the mean over its targets of their mean losses; with `weights` [T] of each
/// target's labels it is the weighted mean over all labels. NaN without any target.
double loss_of_predictions(const Losses& losses, const Task& task, const std::vector<double>& predictions,
                           const std::vector<double>& targets, const std::vector<double>& scale,
                           const std::vector<double>& weights = {});

/// A tensor's numbers as doubles, row-major.
std::vector<double> values_of(const torch::Tensor& tensor);

/// Number of targets that are not NaN.
std::int64_t count_present(const torch::Tensor& targets);

/// The derivative of masked_loss's sum, times `factor`, by one molecule's raw outputs. It holds copies of the labels.
LossSlope loss_slope(const Losses& losses, const torch::Tensor& targets, const torch::Tensor& shift,
                     const torch::Tensor& scale, double factor, const LabelTerms& terms = {});

}  // namespace molgraph

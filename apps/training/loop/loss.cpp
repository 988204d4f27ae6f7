#include "apps/training/loop/loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "featurize/graph/error.hpp"

namespace molgraph {

std::vector<double> values_of(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.to(torch::kFloat64).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

Loss default_loss(TaskKind kind, std::optional<Metric> metric) {
  if (kind == TaskKind::regression || kind == TaskKind::mixed)
    return metric == Metric::rmse || metric == Metric::r2 ? Loss::mse : Loss::l1;
  return kind == TaskKind::binary ? Loss::bce : Loss::ce;
}

void check_loss(Loss loss, TaskKind kind) {
  const TaskKind fits = loss == Loss::bce  ? TaskKind::binary
                        : loss == Loss::ce ? TaskKind::multiclass
                                           : TaskKind::regression;
  const bool of_the_rest = kind == TaskKind::mixed && fits == TaskKind::regression;
  if (fits != kind && !of_the_rest) {
    throw UsageError("this loss is for " + std::string(to_string(fits)) + " tasks, but the task is " +
                     std::string(to_string(kind)));
  }
}

std::int64_t count_present(const torch::Tensor& targets) {
  return targets.isnan().logical_not().sum().item<std::int64_t>();
}

namespace {

/// Returns [T] whether any molecule has a label of the target.
std::vector<bool> labelled_targets(const torch::Tensor& targets) {
  const torch::Tensor rows = targets.to(torch::kFloat64).contiguous();
  const auto count = static_cast<std::size_t>(rows.size(1)), all = static_cast<std::size_t>(rows.numel());
  const auto* value = rows.const_data_ptr<double>();
  std::vector<bool> labelled(count);
  for (std::size_t i = 0; i < all; ++i)
    if (!std::isnan(value[i])) labelled[i % count] = true;
  return labelled;
}

torch::Tensor weighted(const torch::Tensor& each, const LabelTerms& terms) {
  return terms.weights.defined() ? each * terms.weights.reshape(each.sizes()) : each;
}

/// Returns a tensor's numbers, row-major; empty if the tensor is undefined.
template <class T>
std::vector<T> numbers_of(const torch::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const torch::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<T>(), flat.const_data_ptr<T>() + flat.numel()};
}

LossSum masked_loss_of_one(Loss loss, const torch::Tensor& scaled, const torch::Tensor& targets,
                           const torch::Tensor& shift, const torch::Tensor& scale, const LabelTerms& terms) {
  namespace F = torch::nn::functional;
  const torch::Tensor present = targets.isnan().logical_not();
  LossSum result;
  result.count = count_present(targets);
  if (loss == Loss::ce) {
    const std::int64_t num_targets = targets.size(1), classes = scaled.size(1) / num_targets;
    const torch::Tensor labels = torch::where(present, targets, torch::zeros_like(targets)).to(torch::kInt64);
    const torch::Tensor each = F::cross_entropy(scaled.reshape({-1, classes}), labels.reshape({-1}),
                                                F::CrossEntropyFuncOptions().reduction(torch::kNone));
    result.sum = (weighted(each, terms) * present.reshape({-1})).sum();
    return result;
  }
  const torch::Tensor expected =
      torch::where(present, ((targets - shift) / scale).to(scaled.scalar_type()), scaled.detach());
  torch::Tensor each;
  if (loss == Loss::bce) {
    // Targets that are not missing are 0 or 1; missing ones get weight 0 below.
    each = F::binary_cross_entropy_with_logits(
        scaled, torch::where(present, targets, torch::zeros_like(targets)).to(scaled.scalar_type()),
        F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone));
  } else if (loss == Loss::l1) {
    each = (scaled - expected).abs();
  } else if (loss == Loss::mse) {
    each = (scaled - expected).square();
  } else {
    each = F::huber_loss(scaled, expected, F::HuberLossFuncOptions().reduction(torch::kNone));
  }
  if (terms.bounds.defined()) {
    const torch::Tensor keeps = terms.bounds * (scaled.detach() - expected) > 0;  // keeps_bound()
    each = torch::where(keeps, torch::zeros_like(each), each);
  }
  result.sum = (weighted(each, terms) * present).sum();
  return result;
}

}  // namespace

Losses::Losses(Loss rest, const Task& task) : rest_(rest) {
  if (task.kind != TaskKind::mixed) return;
  for (const TaskKind kind : task.kinds) each_.push_back(kind == TaskKind::binary ? Loss::bce : rest);
}

Losses::Losses(Loss rest, const MoleculeSet& set) : Losses(rest, set.task) {
  if (set.sparse.targets == 0) return;
  each_.assign(set.dense_targets(), rest);
  for (std::size_t t = each_.size(); t < set.task.names.size(); ++t)
    each_.push_back(set.task.kind_of(t) == TaskKind::binary ? Loss::bce : Loss::l1);
}

LossSum masked_loss(const Losses& losses, const torch::Tensor& scaled, const torch::Tensor& targets,
                    const torch::Tensor& shift, const torch::Tensor& scale, const LabelTerms& terms) {
  if (losses.uniform()) return masked_loss_of_one(losses.rest(), scaled, targets, shift, scale, terms);
  std::vector<Loss> different{losses.rest()};
  for (const Loss loss : losses.each())
    if (std::ranges::find(different, loss) == different.end()) different.push_back(loss);
  const std::vector<bool> labelled = labelled_targets(targets);  // a batch of a corpus has labels of few targets
  LossSum total{torch::zeros({}, scaled.options()), 0};
  for (const Loss loss : different) {
    std::vector<std::int64_t> of_loss;
    for (std::size_t t = 0; t < losses.each().size(); ++t)
      if (losses.of(t) == loss && labelled[t]) of_loss.push_back(static_cast<std::int64_t>(t));
    const torch::Tensor columns = torch::tensor(of_loss);
    const auto chosen = [&](const torch::Tensor& all, std::int64_t dimension = 1) {
      return all.defined() ? all.index_select(dimension, columns) : all;
    };
    const LossSum part = masked_loss_of_one(loss, chosen(scaled), chosen(targets), chosen(shift, 0), chosen(scale, 0),
                                            {chosen(terms.bounds), chosen(terms.weights)});
    total.sum = total.sum + part.sum;
    total.count += part.count;
  }
  return total;
}

double loss_of_predictions(const Losses& losses, const Task& task, const std::vector<double>& predictions,
                           const std::vector<double>& targets, const std::vector<double>& scale,
                           const std::vector<double>& weights) {
  const auto num_targets = static_cast<std::size_t>(task.num_targets());
  const std::size_t width = static_cast<std::size_t>(task.num_outputs()) / num_targets;
  const auto log_of = [](double probability) {
    constexpr double kSmallest = std::numeric_limits<float>::epsilon() / 2;
    return std::log(std::clamp(probability, kSmallest, 1.0 - kSmallest));
  };
  const bool together = losses.uniform() || !weights.empty();
  std::vector<double> sum(together ? 1 : num_targets), count(sum.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (std::isnan(targets[i])) continue;
    const std::size_t t = i % num_targets, group = together ? 0 : t;
    const double weight = weights.empty() ? 1.0 : weights[t];
    count[group] += weight;
    const double* predicted = predictions.data() + i * width;
    const double difference = (*predicted - targets[i]) / scale[t * width];
    switch (const Loss loss = losses.of(t)) {
      case Loss::l1:
      case Loss::mse:
      case Loss::huber: sum[group] += weight * target_loss(loss, difference, 0.0); break;
      case Loss::bce: sum[group] -= weight * log_of(targets[i] > 0.5 ? *predicted : 1.0 - *predicted); break;
      case Loss::ce: sum[group] -= weight * log_of(predicted[static_cast<std::size_t>(targets[i])]); break;
    }
  }
  double means = 0, measured = 0;
  for (std::size_t group = 0; group < sum.size(); ++group) {
    if (count[group] == 0) continue;
    means += sum[group] / count[group];
    measured += 1;
  }
  return measured > 0 ? means / measured : std::numeric_limits<double>::quiet_NaN();
}

LossSlope loss_slope(const Losses& losses, const torch::Tensor& targets, const torch::Tensor& shift,
                     const torch::Tensor& scale, double factor, const LabelTerms& terms) {
  return [losses, bounds = numbers_of<std::int8_t>(terms.bounds), weights = numbers_of<float>(terms.weights),
          targets = values_of(targets), count = static_cast<std::size_t>(targets.size(1)), shift = values_of(shift),
          scale = values_of(scale),
          base_factor = static_cast<float>(factor)](std::size_t molecule, const float* scaled, float* slope) {
    const std::size_t classes = shift.size() / count;  // per multiclass target
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t at = molecule * count + t;
      const Loss loss = losses.of(t);
      const float label_factor = weights.empty() ? base_factor : base_factor * weights[at];
      if (loss == Loss::ce) {
        if (std::isnan(targets[at])) std::fill_n(slope + t * classes, classes, 0.0f);
        else
          (void)cross_entropy(scaled + t * classes, static_cast<int>(classes), static_cast<int>(targets[at]),
                              label_factor, slope + t * classes);
      } else if (std::isnan(targets[at])) {
        slope[t] = 0;
      } else {
        const auto expected = static_cast<float>(loss == Loss::bce ? targets[at] : (targets[at] - shift[t]) / scale[t]);
        slope[t] = label_factor * target_slope(loss, scaled[t], expected, bounds.empty() ? 0 : bounds[at]);
      }
    }
  };
}

}  // namespace molgraph

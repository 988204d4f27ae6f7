#include "apps/training/loop/device_training.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "apps/training/loop/batches.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "apps/training/loop/trainer.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kLoadedAtOnce = 4096, kPredictedAtOnce = 2048;

/// The tensors of a run's state. Names have a prefix before the parameter name.
class StateParts {
 public:
  explicit StateParts(const NamedTensors& state) {
    for (const auto& [name, tensor] : state) tensors_.emplace(name, tensor);
  }
  TensorLookup from(const std::string& prefix) const {
    return [this, prefix](const std::string& name) -> const float* {
      const auto found = tensors_.find(prefix + name);
      return found == tensors_.end() ? nullptr : found->second.const_data_ptr<float>();
    };
  }
  GradientLookup to(const std::string& prefix) const {
    return [this, prefix](const std::string& name) -> float* {
      const auto found = tensors_.find(prefix + name);
      return found == tensors_.end() ? nullptr : found->second.mutable_data_ptr<float>();
    };
  }

 private:
  std::unordered_map<std::string, torch::Tensor> tensors_;
};

}  // namespace

DeviceTraining::DeviceTraining(std::shared_ptr<EngineBoundary> boundary, const GraphModel& model,
                               const MoleculeSet& set, std::function<bool(const std::string&)> decay_exempt,
                               DeviceSum sum, RunControl control)
    : boundary_(std::move(boundary)), model_(model), set_(set), decay_exempt_(std::move(decay_exempt)),
      sum_(std::move(sum)), control_(std::move(control)) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(set.size()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  for (std::size_t first = 0; first < all.size(); first += kLoadedAtOnce) {
    const auto some = std::span(all).subspan(first, std::min(kLoadedAtOnce, all.size() - first));
    resident().add_molecules(make_batch(set, some, boundary_->pack_options()).graph);
  }
  if (!resident().upload_molecules())
    control_.note(
        "The data set would take more than half of the GPU's free memory. It stays in main memory and is copied batch "
        "by batch");
}

void DeviceTraining::begin(const TrainerOptions& options, const NamedTensors& state, std::int64_t updates) {
  boundary_->weights_changed();
  const auto outputs = static_cast<std::size_t>(set_.task.num_outputs());
  UpdateOptions update_options{.loss = options.loss.rest(),
                               .losses = options.loss.each(),
                               .targets = static_cast<int>(set_.task.num_targets()),
                               .target = scaled_targets(),
                               .weight = options.weights.table(set_),
                               .bound = set_.bound,
                               .shift = std::vector<float>(outputs, 0.0f),
                               .scale = std::vector<float>(outputs, 1.0f),
                               .weight_decay = options.weight_decay,
                               .clip = options.grad_clip,
                               .average = options.ema,
                               .decay_exempt = decay_exempt_,
                               .seed = options.seed,
                               .sum_over_processes = sum_};
  update_options.frozen = [this](const std::string& name) { return !model_[name].requires_grad(); };
  const StateParts parts(state);
  resident().start_training(update_options, updates,
                            {parts.from("adam.m."), parts.from("adam.v."), parts.from("ema.")});
}

void DeviceTraining::fetch(const NamedTensors& state) {
  torch::NoGradGuard no_grad;
  const StateParts parts(state);
  resident().read(parts.to("model."));
  resident().read_state({parts.to("adam.m."), parts.to("adam.v."), parts.to("ema.")});
}

void DeviceTraining::step(std::span<const std::int64_t> molecules, std::int64_t present, std::uint32_t update,
                          double learning_rate) {
  resident().step(molecules, update, learning_rate, present);
}

DeviceTraining::Losses DeviceTraining::take_losses() {
  const LossTotal total = resident().take_losses();
  return {total.sum, static_cast<std::int64_t>(total.count)};
}

std::vector<double> DeviceTraining::predict(const std::vector<std::int64_t>& molecules) {
  torch::NoGradGuard no_grad;
  const std::int64_t outputs = set_.task.num_outputs();
  std::vector<double> all(molecules.size() * static_cast<std::size_t>(outputs));
  for (std::size_t first = 0; first < molecules.size(); first += kPredictedAtOnce) {
    control_.stop_if_requested();
    const auto some = std::span(molecules).subspan(first, std::min(kPredictedAtOnce, molecules.size() - first));
    const torch::Tensor scaled = torch::empty({static_cast<std::int64_t>(some.size()), outputs});
    resident().predict_resident(some, scaled.data_ptr<float>());
    const torch::Tensor values =
        to_predictions(set_.task, model_.to_target_unit(scaled)).to(torch::kFloat64).contiguous();
    std::copy_n(values.const_data_ptr<double>(), values.numel(),
                all.begin() + static_cast<std::ptrdiff_t>(first) * outputs);
  }
  return all;
}

void DeviceTraining::swap_average() { resident().swap_average(); }

/// Returns targets [molecules, T] in the model's unit; classes unchanged. Computed in double, because float32 loses the
/// differences between labels that are small compared with their mean.
std::vector<float> DeviceTraining::scaled_targets() const {
  const auto shift = values_of(model_.named_buffers()["target_shift"]),
             scale = values_of(model_.named_buffers()["target_scale"]);
  const auto targets = static_cast<std::size_t>(set_.task.num_targets());
  std::vector<float> scaled(static_cast<std::size_t>(set_.size()) * targets);
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    const double value = set_.target(i);
    const bool regression = set_.task.kind_of(i % targets) == TaskKind::regression;
    scaled[i] = static_cast<float>(regression ? (value - shift[i % targets]) / scale[i % targets] : value);
  }
  return scaled;
}

}  // namespace molgraph

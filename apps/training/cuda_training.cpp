#include "apps/training/cuda_training.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "apps/training/batches.hpp"
#include "apps/training/model_factory.hpp"
#include "apps/training/trainer.hpp"

namespace molgraph::cuda {
namespace {

constexpr std::size_t kLoadedAtOnce = 4096, kPredictedAtOnce = 2048;

class Training : public DeviceTraining {
 public:
  Training(std::shared_ptr<Backend> backend, const GraphModel& model, const MoleculeSet& set,
           std::function<bool(const std::string&)> decay_exempt, DeviceSum sum, RunControl control)
      : backend_(std::move(backend)), model_(model), set_(set), decay_exempt_(std::move(decay_exempt)), sum_(std::move(sum)), control_(std::move(control)) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(set.size()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    PackOptions without_paths = model.pack_options();   // the device finds them itself
    without_paths.paths = false;
    for (std::size_t first = 0; first < all.size(); first += kLoadedAtOnce) {
      const auto some = std::span(all).subspan(first, std::min(kLoadedAtOnce, all.size() - first));
      engine().add_molecules(make_batch(set, some, without_paths).graph);
    }
    if (!engine().upload_molecules())
      control_.note("The data set takes more than half of the GPU's free memory: it stays in main memory and is sent batch by batch");
  }

  void begin(const TrainerOptions& options, const NamedTensors& state, std::int64_t updates) override {
    backend_->weights_changed();
    // Scaled here, in double: beside a large mean a float32 would hold no more of them.
    const auto outputs = static_cast<std::size_t>(set_.task.num_outputs());
    UpdateOptions of{.loss = options.loss, .targets = static_cast<int>(set_.task.num_targets()), .target = scaled_targets(),
                       .shift = std::vector<float>(outputs, 0.0f), .scale = std::vector<float>(outputs, 1.0f), .weight_decay = options.weight_decay, .clip = options.grad_clip,
                       .average = options.ema, .decay_exempt = decay_exempt_, .seed = options.seed, .sum_over_processes = sum_};
    const auto parameters = model_.named_parameters();
    of.frozen = [&](const std::string& name) { return !parameters[name].requires_grad(); };
    const auto tensors = by_name(state);
    const auto part = [&](const std::string& prefix) -> TensorLookup {
      return [&tensors, prefix](const std::string& name) -> const float* {
        const auto found = tensors.find(prefix + name);
        return found == tensors.end() ? nullptr : found->second.const_data_ptr<float>();
      };
    };
    engine().start_training(of, updates, {part("adam.m."), part("adam.v."), part("ema.")});
  }

  void fetch(const NamedTensors& state) override {
    torch::NoGradGuard no_grad;
    const auto tensors = by_name(state);
    const auto part = [&](const std::string& prefix) -> GradientLookup {
      return [&tensors, prefix](const std::string& name) -> float* {
        const auto found = tensors.find(prefix + name);
        return found == tensors.end() ? nullptr : found->second.mutable_data_ptr<float>();
      };
    };
    engine().read(part("model."));
    engine().read_state({part("adam.m."), part("adam.v."), part("ema.")});
  }

  void step(std::span<const std::int64_t> molecules, std::int64_t present, std::uint32_t update, double learning_rate) override {
    engine().step(molecules, update, learning_rate, present);
  }

  Losses take_losses() override {
    const LossTotal total = engine().take_losses();
    return {total.sum, static_cast<std::int64_t>(total.count)};
  }

  std::vector<double> predict(const std::vector<std::int64_t>& molecules) override {
    torch::NoGradGuard no_grad;
    const std::int64_t outputs = set_.task.num_outputs();
    std::vector<double> all(molecules.size() * static_cast<std::size_t>(outputs));
    for (std::size_t first = 0; first < molecules.size(); first += kPredictedAtOnce) {
      control_.stop_if_asked();
      const auto some = std::span(molecules).subspan(first, std::min(kPredictedAtOnce, molecules.size() - first));
      const torch::Tensor scaled = torch::empty({static_cast<std::int64_t>(some.size()), outputs});
      engine().predict_resident(some, scaled.data_ptr<float>());
      const torch::Tensor values = to_predictions(set_.task, model_.to_target_unit(scaled)).to(torch::kFloat64).contiguous();
      std::copy_n(values.const_data_ptr<double>(), values.numel(), all.begin() + static_cast<std::ptrdiff_t>(first) * outputs);
    }
    return all;
  }

  void swap_average() override { engine().swap_average(); }

 private:
  /// [molecules, T] in the model's unit; labels as they are.
  std::vector<float> scaled_targets() const {
    const auto shift = values_of(model_.named_buffers()["target_shift"]), scale = values_of(model_.named_buffers()["target_scale"]);
    const auto targets = static_cast<std::size_t>(set_.task.num_targets());
    const bool regression = set_.task.kind == TaskKind::regression;
    std::vector<float> scaled(set_.targets.size());
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      const double value = set_.targets[i];
      scaled[i] = static_cast<float>(regression ? (value - shift[i % targets]) / scale[i % targets] : value);
    }
    return scaled;
  }
  ResidentTraining& engine() { return backend_->resident(); }
  static std::unordered_map<std::string, torch::Tensor> by_name(const NamedTensors& state) {
    std::unordered_map<std::string, torch::Tensor> tensors;
    for (const auto& [name, tensor] : state) tensors.emplace(name, tensor);
    return tensors;
  }

  std::shared_ptr<Backend> backend_;
  const GraphModel& model_;
  const MoleculeSet& set_;
  std::function<bool(const std::string&)> decay_exempt_;
  DeviceSum sum_;
  RunControl control_;
};

}  // namespace

std::unique_ptr<DeviceTraining> train_on_device(const std::shared_ptr<Backend>& backend, const GraphModel& model, const MoleculeSet& set,
                                                const std::function<bool(const std::string&)>& decay_exempt, DeviceSum sum, RunControl control) {
  return std::make_unique<Training>(backend, model, set, decay_exempt, std::move(sum), std::move(control));
}

}  // namespace molgraph::cuda

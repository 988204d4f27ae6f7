#include "apps/training/compute.hpp"

#include "apps/training/model_factory.hpp"
#include "apps/scoring/model_file.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

template <class Engine>
void let_engine_train(const std::shared_ptr<Engine>& engine, Trainable& trainable) {
  trainable.gradients = [engine](const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope) {
    torch::Tensor perturbation = mode.perturbation, dinput;
    const torch::Tensor scaled = engine->train(batch, mode, slope, perturbation.defined() ? &dinput : nullptr);
    if (perturbation.defined()) perturbation.mutable_grad() = dinput;
    return scaled;
  };
  trainable.weights_changed = [engine] { engine->weights_changed(); };
}

}  // namespace

void check_compute(const TrainRun& run) {
  const ModelSettings& m = run.options.model;
  const TrainingSettings& t = run.options.training;
  if (m.frozen != Frozen::nothing && m.from.empty()) throw UsageError("--freeze keeps what --from RUN brings along: give both");
  if (t.backend == TrainingBackend::reference) {
    if (run.gpu) throw UsageError("--backend reference computes on the CPU; without it, --device cuda computes on the GPU");
    if (t.precision != Precision::fp32) throw UsageError(std::string("--precision ") + to_string(t.precision) + " is the engines'; --backend reference has fp32 only");
  }
  check_device(device_of(run.gpu.value_or(-1)), t.precision);
}

Compute make_compute(const TrainRun& run, GraphModel& model) {
  if (run.options.training.backend == TrainingBackend::reference) return {};
  const Precision precision = run.options.training.precision;
  tell_notes(run.control.warn);
  if (run.gpu) return {nullptr, std::make_shared<cuda::Backend>(model, precision, *run.gpu)};
  return {std::make_shared<EngineBoundary>(model, Device{.threads = thread_count(run.threads)}, precision), nullptr};
}

PackOptions pack_options(const GraphModel& model, const Compute& compute) {
  PackOptions options = model.pack_options();
  if (compute.gpu) options.paths = false;
  return options;
}

RunFunction run_function(const std::shared_ptr<GraphModel>& model, const Compute& compute) {
  if (compute.cpu) return [engine = compute.cpu](const GraphBatch& batch, const ForwardMode&) { return engine->predict(batch); };
  if (compute.gpu) return [engine = compute.gpu](const GraphBatch& batch, const ForwardMode&) { return engine->predict(batch); };
  return [model](const GraphBatch& batch, const ForwardMode& mode) { return model->run(batch, mode); };
}

Trainable make_trainable(const std::shared_ptr<GraphModel>& model, const Compute& compute, const ModelConfig& config, bool decay_all) {
  Trainable trainable;
  trainable.module = model;
  trainable.run = run_function(model, compute);
  if (compute.cpu) let_engine_train(compute.cpu, trainable);
  if (compute.gpu) let_engine_train(compute.gpu, trainable);
  trainable.pack = pack_options(*model, compute);
  trainable.width = config.encoder().width;
  trainable.target_shift = model->named_buffers()["target_shift"];
  trainable.target_scale = model->named_buffers()["target_scale"];
  trainable.decay_exempt = [model, decay_all](const std::string& name) {
    return !decay_all && !model->specs().at(name).decays();
  };
  trainable.save = [model, config](const std::string& path) { save_model(path, *model, config); };
  return trainable;
}

}  // namespace molgraph

#include "apps/training/run/compute.hpp"

#include "apps/scoring/model_file.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

void check_compute(const TrainRun& run) {
  const TrainingSettings& t = run.options.training;
  if (t.backend == TrainingBackend::reference) {
    if (run.device.is_gpu())
      throw UsageError("--backend reference runs on the CPU only; leave it out to train on the GPU with --device cuda");
    if (t.precision != Precision::fp32)
      throw UsageError(std::string("--precision ") + to_string(t.precision) +
                       " is not available with --backend reference, which supports fp32 only");
  }
  const UsedPrecision used = precision_of(run);
  check_device(run.device, used.precision);
  if (!used.note.empty()) run.control.warn(used.note);
  if (!used.instructions.empty()) run.control.note("Matrix products in " + to_string(used));
}

UsedPrecision precision_of(const TrainRun& run) { return used_precision(run.device, run.options.training.precision); }

Compute make_compute(const TrainRun& run, GraphModel& model) {
  const TrainingSettings& t = run.options.training;
  if (t.backend == TrainingBackend::reference) return nullptr;
  Device device = run.device;
  device.threads = thread_count(run.threads);
  return std::make_shared<EngineBoundary>(model, device, precision_of(run).precision);
}

PackOptions pack_options(const GraphModel& model, const Compute& compute) {
  return compute ? compute->pack_options() : model.pack_options();
}

PredictFunction predict_function(const std::shared_ptr<GraphModel>& model, const Compute& compute) {
  if (compute) return [compute](const GraphBatch& batch, const ForwardMode&) { return compute->predict(batch); };
  return [model](const GraphBatch& batch, const ForwardMode& mode) { return model->run(batch, mode); };
}

Trainable make_trainable(const std::shared_ptr<GraphModel>& model, const Compute& compute, const ModelConfig& config,
                         bool decay_all) {
  Trainable trainable;
  trainable.module = model;
  trainable.run = predict_function(model, compute);
  if (compute) {
    trainable.gradients = [compute](const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope) {
      torch::Tensor perturbation = mode.perturbation, dinput;
      torch::Tensor scaled = compute->train(batch, mode, slope, perturbation.defined() ? &dinput : nullptr);
      if (perturbation.defined()) perturbation.mutable_grad() = dinput;
      return scaled;
    };
    trainable.weights_changed = [compute] { compute->weights_changed(); };
  }
  trainable.pack = pack_options(*model, compute);
  trainable.width = config.model.encoder.width;
  trainable.target_shift = model->named_buffers()["target_shift"];
  trainable.target_scale = model->named_buffers()["target_scale"];
  trainable.decay_exempt = [model, decay_all](const std::string& name) {
    return !decay_all && !model->specs().at(name).decays();
  };
  trainable.save = [model, config](const std::string& path) { save_model(path, *model, config); };
  return trainable;
}

}  // namespace molgraph

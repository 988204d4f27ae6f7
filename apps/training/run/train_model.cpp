#include "apps/training/run/train_model.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "apps/scoring/model_file.hpp"
#include "apps/training/loop/device_training.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "apps/training/loop/nccl.hpp"
#include "apps/training/run/compute.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/run_explanation.hpp"
#include "apps/training/run/warm_start.hpp"
#include "datasets/row_weights.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

/// Scales targets by mean and standard deviation of the training labels. A constant target has scale 1.
void scale_targets(const MoleculeSet& set, const Split& split, GraphModel& model) {
  const TargetStatistics train = target_scaling_of(set, split.train);
  model.set_target_scaling(torch::tensor(train.mean, torch::kFloat64), torch::tensor(train.deviation, torch::kFloat64));
}

void freeze(Frozen what, GraphModel& model) {
  if (what == Frozen::nothing) return;
  for (auto& item : model.named_parameters()) {
    if (!model.specs().at(item.key()).in_head()) item.value().set_requires_grad(false);
  }
}

/// A newly initialised model, or one with the weights of another run.
std::shared_ptr<GraphModel> start_model(const ResolvedRun& resolved, const MoleculeSet& set, const Split& split,
                                        const std::optional<StartingPoint>& start, const RunControl& control) {
  const TrainOptions& options = resolved.options;
  std::shared_ptr<GraphModel> model = make_model(resolved.model, options.training.seed);
  bool scale = options.training.scale_targets && set.task.has(TaskKind::regression);
  if (start) {
    const WarmStart warm = warm_start(start->file, start->config, resolved.model, *model);
    scale = scale && warm.new_head;
    control.note("Weights from " + start->file +
                 (warm.new_head ? ", with a new head for these targets and inputs" : "") +
                 (warm.fresh.empty() ? "" : ", with a new gate initialised to ones"));
  }
  if (scale) scale_targets(set, split, *model);
  freeze(options.model.frozen, *model);
  return model;
}

std::string description(const ModelConfig& config, const GraphModel& model, std::uint64_t seed) {
  const EncoderOptions& e = config.encoder();
  const std::string pairs = e.pair_state > 0 ? " + pair states of " + std::to_string(e.pair_state) + " numbers" : "";
  return text("%s%s%s, %d layers x %d (FFN %d, %d heads), %s parameters; seed %llu",
              std::string(config.model.architecture->title).c_str(), e.gate.enabled ? " + URPE gate" : "",
              pairs.c_str(), e.layers, e.width, e.ffn, e.heads, with_thousands(model.specs().numbers()).c_str(),
              static_cast<unsigned long long>(seed));
}

/// Sum of gradients over GPUs; empty for one process.
DeviceSum device_sum(const TrainRun& run) {
  if (run.processes->is_single()) return {};
  return [nccl = std::make_shared<Nccl>(*run.processes, run.device)](
             float* values, std::size_t size, DeviceStream stream) { nccl->sum(values, size, stream); };
}

/// Trains on `split` and writes the best weights to `directory`/checkpoints/best.
TrainerResult train_weights(const TrainRun& run, const ResolvedRun& resolved, const MoleculeSet& set,
                            const Split& split, const std::optional<StartingPoint>& start,
                            const RunDirectory& directory, RunPlan& plan) {
  if (run.processes->first()) std::filesystem::create_directories(directory.folder);
  TrainerOptions trainer = resolved.trainer;
  trainer.folder = directory.folder;
  trainer.processes = run.processes;
  trainer.control = run.control;
  const std::shared_ptr<GraphModel> model = start_model(resolved, set, split, start, run.control);
  run.control.note(description(resolved.model, *model, trainer.seed));
  const Compute compute = make_compute(run, *model);
  Trainable trainable = make_trainable(model, compute, resolved.model, resolved.options.training.decay == DecayOf::all);
  // FLAG and corpus labels are processed on the host: on the GPU, sparse labels would be stored as a dense matrix.
  if (compute && compute->resident() != nullptr && trainer.flag.ascents == 0 && set.sparse.targets == 0)
    trainable.device =
        std::make_shared<DeviceTraining>(compute, *model, set, trainable.decay_exempt, device_sum(run), run.control);
  if (!plan.logged()) plan.log(measure_step(trainable, set, split, trainer));
  const TrainerResult result = train(trainable, set, split, trainer, run.resume);
  if (run.processes->first() && result.best_epoch > 0) {
    run.control.note(text("%s after epoch %lld; the best validation epoch is %lld",
                          result.stopped_early ? "Stopped early" : "Done", static_cast<long long>(result.epochs),
                          static_cast<long long>(result.best_epoch)));
  }
  return result;
}

/// Like train_weights(), with the auxiliary targets after the others. Their labels have weight kAuxiliaryWeight.
TrainerResult train_all_targets(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                                const Split& split, const std::optional<StartingPoint>& start,
                                const RunDirectory& directory, RunPlan& plan) {
  if (data.auxiliary.empty()) return train_weights(run, resolved, data.set, split, start, directory, plan);
  const MoleculeSet all = with_auxiliary(data.set, data.auxiliary, split.train);
  ResolvedRun extended = resolved;
  extended.model.task = all.task;
  const TrainingSettings& t = resolved.options.training;
  // L1 is for numeric auxiliary targets of binary targets.
  const bool same_kinds = data.set.task.has(TaskKind::regression) == all.task.has(TaskKind::regression);
  extended.trainer.loss = Losses(same_kinds ? *t.loss : Loss::l1, all.task);
  WeightOptions weights{t.task_weights, t.balance_tasks, t.balance_classes};
  weights.tasks.resize(data.set.task.names.size(), 1);
  weights.tasks.resize(all.task.names.size(), kAuxiliaryWeight);
  extended.trainer.weights = LabelWeights(all, split.train, weights);
  run.control.note("Weight of a label in the loss (for a row of weight 1): " + extended.trainer.weights.text(all.task));
  return train_weights(run, extended, all, split, start, directory, plan);
}

/// Removes the outputs of auxiliary targets, which follow those of `task`.
LoadedModel main_outputs(LoadedModel trained, const Task& task) {
  if (trained.config.task.num_outputs() == task.num_outputs()) return trained;
  ModelConfig config = trained.config;
  config.task = task;
  const std::shared_ptr<GraphModel> model = make_model(config, 0);
  const torch::NoGradGuard no_grad;
  const std::vector<NamedTensor> from = named_tensors(*trained.model), to = named_tensors(*model);
  for (std::size_t i = 0; i < to.size(); ++i) {
    torch::Tensor tensor = to[i].tensor;
    tensor.copy_(tensor.sizes() == from[i].tensor.sizes() ? from[i].tensor
                                                          : from[i].tensor.narrow(0, 0, tensor.size(0)));
  }
  return {std::move(config), model};
}

/// The best weights of a training run, with their compute engine.
struct BestModel {
  LoadedModel loaded;
  Compute compute;

  BestModel(const TrainRun& run, const LoadedData& data, const RunDirectory& directory)
      : loaded(main_outputs(load_model(directory.best()), data.set.task)), compute(make_compute(run, *loaded.model)) {}
  PredictFunction predict() const { return predict_function(loaded.model, compute); }
  PackOptions pack() const { return pack_options(*loaded.model, compute); }
};

/// Returns the predictions for `split` and saves the weights as the run's model. `trained`: split that the model was
/// trained on.
AllPredictions finish(const TrainRun& run, const BestModel& best, const LoadedData& data, const Split& split,
                      const Split& trained, const RunDirectory& directory) {
  AllPredictions predictions = predict_all(best.predict(), best.pack(), data, split, run.control);
  predictions.output_scale = values_of(best.loaded.model->named_buffers()["target_scale"]);
  save_model(directory.model(), *best.loaded.model, best.loaded.config);
  // Computed targets need no explanation, and a corpus is large.
  const bool explained = data.set.computed_targets.empty();
  write_explanation(directory.folder, data.set, explained ? trained.train : std::vector<std::int64_t>{}, run.threads);
  return predictions;
}

/// Split that trains on the training and validation rows, without validation rows of weight 0 or without labels.
Split all_known(const LoadedData& data, const Split& split) {
  Split all = split;
  std::ranges::copy_if(all.valid, std::back_inserter(all.train), [&](std::int64_t g) { return is_trainable(data, g); });
  all.valid.clear();
  return all;
}

}  // namespace

AllPredictions train_model(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                           const std::optional<StartingPoint>& start, const std::string& folder, RunPlan& plan) {
  const RunDirectory directory{folder};
  const TrainerResult result = train_all_targets(run, resolved, data, split, start, directory, plan);
  if (!resolved.options.training.refit)
    return run.processes->first() ? finish(run, BestModel(run, data, directory), data, split, split, directory)
                                  : AllPredictions{};

  const Split all = all_known(data, split);
  const std::int64_t epochs = result.best_epoch > 0 ? result.best_epoch : result.epochs;
  run.control.note(text("Refit: %zu molecules including the validation set, %lld epochs of the same schedule",
                        all.train.size(), static_cast<long long>(epochs)));
  const RunDirectory second{directory.refit()};
  train_all_targets(run, for_refit(resolved, data, split, all, epochs), data, all, start, second, plan);
  if (!run.processes->first()) return {};
  AllPredictions predictions = finish(run, BestModel(run, data, second), data, split, all, directory);
  const BestModel first(run, data, directory);
  predictions.parts[1] = predict_molecules(first.predict(), first.pack(), data.set, split.valid, run.control);
  return predictions;
}

}  // namespace molgraph

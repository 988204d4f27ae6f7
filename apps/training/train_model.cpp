#include "apps/training/train_model.hpp"

#include <filesystem>

#include "apps/scoring/model_file.hpp"
#include "apps/training/compute.hpp"
#include "apps/training/device_training.hpp"
#include "apps/training/model_factory.hpp"
#include "apps/training/nccl.hpp"
#include "apps/training/run_directory.hpp"
#include "apps/training/warm_start.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

constexpr double kLongRun = 24 * 3600.0;  ///< seconds

/// By mean and standard deviation of every training target; a constant target keeps scale 1.
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

void tell_estimate(double step_seconds, const TrainerOptions& t) {
  const double whole = step_seconds * static_cast<double>(t.total_steps);
  t.control.note(text("One update of %lld molecules takes %s s here: %s steps (%lld epochs) take about %s%s",
                      static_cast<long long>(t.batch_size), sensible_number(step_seconds).c_str(),
                      with_thousands(t.total_steps).c_str(), static_cast<long long>(t.epochs),
                      duration_text(whole).c_str(), t.patience > 0 ? " at most (training stops early)" : ""));
  if (whole > kLongRun) t.control.warn("That is long on this machine; --steps N makes a shorter schedule");
}

/// Initialised, or with the weights of another run.
std::shared_ptr<GraphModel> start_model(const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                                        const std::optional<StartingPoint>& start, const RunControl& control) {
  const TrainOptions& options = resolved.options;
  const std::shared_ptr<GraphModel> model = make_model(resolved.model, options.training.seed);
  bool scale = options.training.scale_targets && data.set.task.has(TaskKind::regression);
  if (start) {
    const WarmStart warm = warm_start(start->file, start->config, resolved.model, *model);
    scale = scale && warm.new_head;
    control.note("Weights from " + start->file +
                 (warm.new_head ? ", with a new head for these targets and inputs" : "") +
                 (warm.fresh.empty() ? "" : ", with a new gate of ones"));
  }
  if (scale) scale_targets(data.set, split, *model);
  freeze(options.model.frozen, *model);
  return model;
}

std::string description(const ModelConfig& config, const GraphModel& model, std::uint64_t seed) {
  const EncoderOptions& e = config.encoder();
  return text("%s%s, %d layers x %d (FFN %d, %d heads), %s parameters; seed %llu",
              std::string(config.model.architecture->title).c_str(), e.gate.enabled ? " + URPE gate" : "", e.layers,
              e.width, e.ffn, e.heads, with_thousands(model.specs().numbers()).c_str(),
              static_cast<unsigned long long>(seed));
}

/// How gradients on GPUs are added up; empty for one process.
DeviceSum device_sum(const TrainRun& run) {
  if (run.processes->alone()) return {};
  return [nccl = std::make_shared<Nccl>(*run.processes, *run.gpu)](
             float* values, std::size_t size, DeviceStream stream) { nccl->sum(values, size, stream); };
}

}  // namespace

TrainedModel train_model(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                         const std::optional<StartingPoint>& start, const std::string& folder) {
  const RunDirectory directory{folder};
  if (run.processes->first()) std::filesystem::create_directories(folder);
  TrainerOptions trainer = resolved.trainer;
  trainer.folder = folder;
  trainer.processes = run.processes;
  trainer.control = run.control;
  const std::shared_ptr<GraphModel> model = start_model(resolved, data, split, start, run.control);
  run.control.note(description(resolved.model, *model, trainer.seed));
  const Compute compute = make_compute(run, *model);
  Trainable trainable = make_trainable(model, compute, resolved.model, resolved.options.training.decay == DecayOf::all);
  if (compute && compute->resident() != nullptr && trainer.flag.ascents == 0)  // FLAG's passes go through the host
    trainable.device = std::make_shared<DeviceTraining>(compute, *model, data.set, trainable.decay_exempt,
                                                        device_sum(run), run.control);
  tell_estimate(measure_step(trainable, data.set, split, trainer), trainer);
  const TrainerResult result = train(trainable, data.set, split, trainer, run.resume);
  if (!run.processes->first()) return {{}, result.best_epoch};
  if (result.best_epoch > 0) {
    run.control.note(text("%s after epoch %lld; the best by validation is epoch %lld",
                          result.stopped_early ? "Stopped early" : "Done", static_cast<long long>(result.epochs),
                          static_cast<long long>(result.best_epoch)));
  }
  const LoadedModel best = load_model(directory.best());
  const Compute computes_best = make_compute(run, *best.model);
  TrainedModel trained{predict_all(predict_function(best.model, computes_best),
                                   pack_options(*best.model, computes_best), data, run.control),
                       result.best_epoch};
  trained.predictions.output_scale = values_of(best.model->named_buffers()["target_scale"]);
  save_model(directory.model(), *best.model, best.config);
  return trained;
}

TrainedModel train_and_refit(const TrainRun& run, const ResolvedRun& resolved, LoadedData& data,
                             const std::optional<StartingPoint>& start, const std::string& folder) {
  TrainedModel chosen = train_model(run, resolved, data, data.split, start, folder);
  Split all = data.split;
  all.train.insert(all.train.end(), all.valid.begin(), all.valid.end());
  all.valid.clear();
  std::swap(data.split, all);  // scaling, weights and steps are of the rows that are learned
  ResolvedRun refit = for_fold(resolved, data);
  std::swap(data.split, all);
  if (chosen.best_epoch > 0) refit.trainer.epochs = chosen.best_epoch;
  run.control.note(text("Refit: training and validation part together, %lld epochs of the same schedule",
                        static_cast<long long>(refit.trainer.epochs)));
  const RunDirectory second{RunDirectory{folder}.refit()};
  TrainedModel last = train_model(run, refit, data, all, start, second.folder);
  if (!run.processes->first()) return chosen;
  std::filesystem::rename(second.model(), RunDirectory{folder}.model());
  last.predictions.parts[1] = std::move(chosen.predictions.parts[1]);
  return {std::move(last.predictions), chosen.best_epoch};
}

}  // namespace molgraph

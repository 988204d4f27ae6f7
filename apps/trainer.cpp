#include "apps/trainer.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "apps/batches.hpp"
#include "apps/checkpoint.hpp"
#include "apps/log.hpp"
#include "apps/optimizer.hpp"
#include "apps/program.hpp"
#include "datasets/files.hpp"
#include "datasets/splits.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

using Clock = std::chrono::steady_clock;
/// Besides the end of every epoch, a checkpoint is written when the last one is this old.
constexpr std::chrono::minutes kCheckpointEvery{10};

bool better(Metric metric, double a, double b) { return larger_is_better(metric) ? a > b : a < b; }

/// One run of training; its parts share the state that a checkpoint holds.
class Loop {
 public:
  Loop(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options)
      : model_(model),
        set_(set),
        split_(split),
        options_(options),
        optimizer_(*model.module, model.decay_exempt, options.weight_decay),
        average_(*model.module, options.ema),
        last_path_(options.folder + "/checkpoints/last.safetensors"),
        best_path_(options.folder + "/checkpoints/best.safetensors") {}

  void resume() {
    if (!std::filesystem::exists(last_path_)) {
      log_info("No checkpoint yet: training starts at the beginning");
      return;
    }
    state_ = read_checkpoint(last_path_, options_.identity, tensors());
    optimizer_.set_updates(state_.step);
    log_info("Going on after epoch " + std::to_string(state_.epoch) + ", step " + std::to_string(state_.step));
  }

  TrainerResult run() {
    if (state_.metrics_csv.empty()) {
      state_.metrics_csv = "epoch,step,lr,train_loss,valid_" + std::string(to_string(options_.metric)) + "\n";
    }
    write_file_atomically(options_.folder + "/metrics.csv", state_.metrics_csv);
    while (!state_.finished) epoch();
    return {state_.epoch, state_.step, state_.best_epoch, state_.best_value, state_.stopped_early};
  }

 private:
  /// Weights, moments and averages under the names they have in a checkpoint.
  NamedTensors tensors() {
    NamedTensors all;
    for (const auto& item : model_.module->named_parameters()) all.emplace_back("model." + item.key(), item.value());
    for (const auto& item : model_.module->named_buffers()) all.emplace_back("model." + item.key(), item.value());
    optimizer_.append_state(all);
    average_.append_state(all);
    return all;
  }

  void checkpoint() {
    write_checkpoint(last_path_, options_.identity, state_, tensors());
    last_checkpoint_ = Clock::now();
  }

  void stop_if_asked() {
    if (const int signal = stop_requested()) {
      checkpoint();
      log_info("Stopped after step " + std::to_string(state_.step) + "; go on with --resume");
      throw Stopped{signal};
    }
  }

  void epoch() {
    std::vector<std::int64_t> order = split_.train;
    shuffle(order, options_.seed, ShuffleStream::epoch, static_cast<std::uint32_t>(state_.epoch));
    const auto batches = (static_cast<std::int64_t>(order.size()) + options_.batch_size - 1) / options_.batch_size;
    model_.module->train();
    {
      BatchStream stream(set_, std::move(order), options_.batch_size, state_.batch, model_.pack);
      Progress progress("Epoch " + std::to_string(state_.epoch + 1), "molecules",
                        static_cast<std::int64_t>(split_.train.size()));
      TrainBatch batch;
      while (state_.step < options_.total_steps && stream.next(batch)) {
        update(batch);
        ++state_.batch;
        progress.update(std::min(state_.batch * options_.batch_size, static_cast<std::int64_t>(split_.train.size())),
                        "loss " + text("%.4f", mean_loss()));
        if (state_.batch < batches) {
          stop_if_asked();
          if (Clock::now() - last_checkpoint_ > kCheckpointEvery) checkpoint();
        }
      }
    }
    finish_epoch();
    stop_if_asked();
  }

  double mean_loss() const {
    return state_.loss_count ? state_.loss_sum / static_cast<double>(state_.loss_count) : 0.0;
  }

  void update(const TrainBatch& batch) {
    ForwardMode mode{true, options_.seed, static_cast<std::uint32_t>(state_.step)};
    const int passes = options_.flag.passes();
    ++state_.step;
    optimizer_.zero_grad();
    if (options_.flag.ascents > 0) mode.perturbation = first_perturbation(options_.flag, batch.graph, model_.width, mode);
    for (int pass = 0; pass < passes; ++pass) {
      mode.ascent = static_cast<std::uint32_t>(pass);
      const ModelOutput output = model_.run(batch.graph, mode);
      const LossSum loss =
          masked_loss(options_.loss, output.scaled, batch.targets, model_.target_shift, model_.target_scale);
      if (loss.count == 0) return;  // a batch without any target teaches nothing
      const double sum = loss.sum.item<double>();
      if (!std::isfinite(sum)) {
        throw std::runtime_error("the loss is not finite at step " + std::to_string(state_.step) +
                                 "; a lower --lr or a --grad-clip may help");
      }
      (loss.sum / static_cast<double>(loss.count * passes)).backward();
      if (pass + 1 < passes) mode.perturbation = next_perturbation(options_.flag, batch.graph, mode.perturbation);
      state_.loss_sum += sum;
      state_.loss_count += loss.count;
    }
    optimizer_.step(learning_rate(options_, state_.step), options_.grad_clip);
    average_.update();
  }

  void finish_epoch() {
    ++state_.epoch;
    model_.module->eval();
    const double loss = mean_loss();
    std::string valid_text, note;
    average_.swap();  // validation and the saved weights use the average
    if (!split_.valid.empty()) {
      const auto predictions = predict_checked();
      const MetricResult metric =
          evaluate_metric(options_.metric, set_.task, predictions, targets_of(set_, split_.valid));
      if (std::isnan(metric.value)) {
        throw DataError("the validation part has no target on which " + std::string(to_string(options_.metric)) +
                        " can be computed (OGB's rule skips tasks without both classes); choose another split or --metric");
      }
      valid_text = text("%.9g", metric.value);
      if (state_.best_epoch == 0 || better(options_.metric, metric.value, state_.best_value)) {
        state_.best_epoch = state_.epoch;
        state_.best_value = metric.value;
        model_.save(best_path_);
        note = "  best so far";
      }
    }
    const bool last = state_.step >= options_.total_steps || state_.epoch >= options_.epochs;
    if (last && split_.valid.empty()) model_.save(best_path_);
    average_.swap();
    const double lr = learning_rate(options_, state_.step);
    state_.metrics_csv += std::to_string(state_.epoch) + "," + std::to_string(state_.step) + "," +
                          text("%.9g", lr) + "," + text("%.9g", loss) + "," + valid_text + "\n";
    write_file_atomically(options_.folder + "/metrics.csv", state_.metrics_csv);
    log_info(text("epoch %3lld  step %6lld  lr %.2e  train loss %.4f", static_cast<long long>(state_.epoch),
                  static_cast<long long>(state_.step), lr, loss) +
             (valid_text.empty() ? "" : "  valid " + std::string(to_string(options_.metric)) + " " + valid_text) + note);
    state_.batch = 0;
    state_.loss_sum = 0;
    state_.loss_count = 0;
    state_.stopped_early =
        options_.patience > 0 && state_.best_epoch > 0 && state_.epoch - state_.best_epoch >= options_.patience;
    state_.finished = last || state_.stopped_early;
    checkpoint();
  }

  /// A signal during validation: nothing of the epoch's end is kept, the checkpoint stands before it.
  std::vector<float> predict_checked() {
    try {
      return predict_molecules(model_.run, model_.pack, set_, split_.valid);
    } catch (const Stopped& stopped) {
      average_.swap();
      --state_.epoch;
      checkpoint();
      log_info("Stopped after step " + std::to_string(state_.step) + "; go on with --resume");
      throw;
    }
  }

  const Trainable& model_;
  const MoleculeSet& set_;
  const Split& split_;
  const TrainerOptions& options_;
  Optimizer optimizer_;
  WeightAverage average_;
  TrainerState state_;
  std::string last_path_, best_path_;
  Clock::time_point last_checkpoint_ = Clock::now();
};

}  // namespace

Loss loss_from_string(const std::string& text) {
  if (text == "l1") return Loss::l1;
  if (text == "mse") return Loss::mse;
  if (text == "huber") return Loss::huber;
  if (text == "bce") return Loss::bce;
  if (text == "ce") return Loss::ce;
  throw UsageError("there is no loss '" + text + "'; the losses are l1, mse, huber, bce, ce");
}

std::string default_loss(TaskKind kind) {
  if (kind == TaskKind::regression) return "l1";
  return kind == TaskKind::binary ? "bce" : "ce";
}

void check_loss(Loss loss, TaskKind kind) {
  const TaskKind fits = loss == Loss::bce ? TaskKind::binary : loss == Loss::ce ? TaskKind::multiclass : TaskKind::regression;
  if (fits != kind) {
    throw UsageError("this loss is for a " + std::string(to_string(fits)) + " task, the targets are " +
                     std::string(to_string(kind)));
  }
}

double learning_rate(const TrainerOptions& o, std::int64_t step) {
  const auto s = static_cast<double>(step), warmup = static_cast<double>(o.warmup_steps);
  const auto total = static_cast<double>(o.total_steps);
  if (step <= o.warmup_steps) return o.lr * s / warmup;
  return o.end_lr + (o.lr - o.end_lr) * (total - s) / (total - warmup);
}

LossSum masked_loss(Loss loss, const torch::Tensor& scaled, const torch::Tensor& targets, const torch::Tensor& shift,
                    const torch::Tensor& scale) {
  namespace F = torch::nn::functional;
  const torch::Tensor present = targets.isnan().logical_not();
  LossSum result;
  result.count = present.sum().item<std::int64_t>();
  if (loss == Loss::ce) {
    const std::int64_t num_targets = targets.size(1), classes = scaled.size(1) / num_targets;
    const torch::Tensor labels = torch::where(present, targets, torch::zeros_like(targets)).to(torch::kInt64);
    const torch::Tensor each = F::cross_entropy(scaled.reshape({-1, classes}), labels.reshape({-1}),
                                                F::CrossEntropyFuncOptions().reduction(torch::kNone));
    result.sum = (each * present.reshape({-1})).sum();
    return result;
  }
  const torch::Tensor wanted = torch::where(present, (targets - shift) / scale, scaled.detach());
  torch::Tensor each;
  if (loss == Loss::bce) {
    // Present targets are 0 or 1; a missing one gets the weight 0 below.
    each = F::binary_cross_entropy_with_logits(
        scaled, torch::where(present, targets, torch::zeros_like(targets)),
        F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone));
  } else if (loss == Loss::l1) {
    each = (scaled - wanted).abs();
  } else if (loss == Loss::mse) {
    each = (scaled - wanted).square();
  } else {
    each = F::huber_loss(scaled, wanted, F::HuberLossFuncOptions().reduction(torch::kNone));
  }
  result.sum = (each * present).sum();
  return result;
}

TrainerResult train(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options,
                    bool resume) {
  assert(!split.train.empty());
  std::filesystem::create_directories(options.folder + "/checkpoints");
  Loop loop(model, set, split, options);
  if (resume) loop.resume();
  return loop.run();
}

double measure_step(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options) {
  std::vector<std::int64_t> order = split.train;
  shuffle(order, options.seed, ShuffleStream::epoch);
  const auto size = std::min<std::size_t>(static_cast<std::size_t>(options.batch_size), order.size());
  const TrainBatch batch = make_batch(set, std::span(order).first(size), model.pack);
  model.module->train();
  double seconds = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first warms caches and threads up
    const auto start = Clock::now();
    const ModelOutput output = model.run(batch.graph, {true, options.seed, 0});
    masked_loss(options.loss, output.scaled, batch.targets, model.target_shift, model.target_scale).sum.backward();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  for (auto& parameter : model.module->parameters()) parameter.mutable_grad() = torch::Tensor();
  return seconds * options.flag.passes();
}

}  // namespace molgraph

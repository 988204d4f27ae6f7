#include "apps/training/loop/trainer.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <numbers>

#include "apps/training/loop/batches.hpp"
#include "apps/training/loop/checkpoint.hpp"
#include "apps/training/loop/optimizer.hpp"
#include "apps/training/loop/validation.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using Clock = std::chrono::steady_clock;
/// A checkpoint is written at the end of every epoch and whenever the last one is this old.
constexpr std::chrono::minutes kCheckpointEvery{10};
/// Number of updates after which the losses are read from a device, which waits for it.
constexpr std::int64_t kLossEvery = 50;

/// Losses and metrics are computed in float, so further digits have no meaning.
std::string float_text(double value) { return number_text(static_cast<float>(value)); }

/// Adds the gradients of the mean loss of one batch, divided by `passes`.
LossSum add_gradients(const Trainable& model, const Losses& loss, const TrainBatch& batch, const ForwardMode& mode,
                      int passes) {
  if (count_present(batch.targets) == 0) return {};
  const double share = 1.0 / static_cast<double>(batch.present * passes);
  if (!model.gradients) {
    const torch::Tensor scaled = model.run(batch.graph, mode).scaled;
    LossSum sum = masked_loss(loss, scaled, batch.targets, model.target_shift, model.target_scale, batch.terms);
    (sum.sum * share).backward();
    return sum;
  }
  const torch::Tensor scaled = model.gradients(
      batch.graph, mode, loss_slope(loss, batch.targets, model.target_shift, model.target_scale, share, batch.terms));
  return masked_loss(loss, scaled, batch.targets, model.target_shift, model.target_scale, batch.terms);
}

/// One training run from its start or a checkpoint to its end. The member functions share the state of a checkpoint.
class Loop {
 public:
  Loop(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options)
      : model_(model), set_(set), split_(split), options_(options), processes_(*options.processes),
        control_(options.control), optimizer_(*model.module, model.decay_exempt, options.weight_decay),
        average_(*model.module, options.ema),
        validation_(options.metric, options.loss, set.task, targets_of(set, split.valid), values_of(model.target_scale),
                    set.target_weight),
        last_path_(options.folder + "/checkpoints/last.safetensors"),
        best_path_(options.folder + "/checkpoints/best.safetensors") {}

  void resume() {
    if (!processes_.first()) return;
    if (!std::filesystem::exists(last_path_))
      return control_.note("There is no checkpoint: training starts from the beginning");
    state_ = read_checkpoint(last_path_, options_.identity, tensors());
    if (!state_.finished && !state_.metrics_csv.starts_with(header())) {
      const std::string problem =
          ": an earlier version, which selects the best epoch by another metric, started this run";
      throw FileError(last_path_ + problem + "; train again in a new folder");
    }
    control_.note("Resuming after epoch " + std::to_string(state_.epoch) + ", step " + std::to_string(state_.step));
  }

  TrainerResult run() {
    share_state();
    optimizer_.set_updates(state_.step);
    weights_changed();
    if (model_.device) model_.device->begin(options_, tensors(), state_.step);
    if (state_.metrics_csv.empty()) state_.metrics_csv = header();
    if (validation_.by_loss()) control_.warn(validation_.warning());
    write_metrics();
    first_step_ = state_.step;
    const WorkInProgress work(control_, kTrainingWork, "steps", options_.total_steps - first_step_);
    while (!state_.finished) epoch(work);
    return {state_.epoch, state_.step, state_.best_epoch, state_.best_value, state_.stopped_early};
  }

 private:
  std::string header() const { return "epoch,step,lr,train_loss," + validation_.columns() + '\n'; }

  /// Weights, moments and averages under their names in a checkpoint.
  NamedTensors tensors() {
    NamedTensors all;
    for (const auto& item : model_.module->named_parameters()) all.emplace_back("model." + item.key(), item.value());
    for (const auto& item : model_.module->named_buffers()) all.emplace_back("model." + item.key(), item.value());
    optimizer_.append_state(all);
    average_.append_state(all);
    return all;
  }

  /// Copies the state of the first process to all others.
  void share_state() {
    if (processes_.is_single()) return;
    std::string identity = options_.identity, state = to_text(state_);
    processes_.share(identity);
    double differing = identity == options_.identity ? 0 : 1;
    processes_.sum(std::span(&differing, 1));
    if (differing > 0) throw DataError("the processes of this training run have different data or options");
    processes_.share(state);
    state_ = state_from_text(state);
    torch::NoGradGuard no_grad;
    for (auto& [name, tensor] : tensors()) {
      torch::Tensor flat = tensor.detach().contiguous();
      processes_.share(flat.data_ptr(), flat.nbytes());
      tensor.detach().copy_(flat);
    }
  }

  void write_metrics() const {
    if (processes_.first()) write_file_atomically(options_.folder + "/metrics.csv", state_.metrics_csv);
  }

  void checkpoint() {
    if (model_.device) model_.device->fetch(tensors());
    if (processes_.first()) write_checkpoint(last_path_, options_.identity, state_, tensors());
    last_checkpoint_ = Clock::now();
  }

  [[noreturn]] void stop(int signal) {
    checkpoint();
    control_.note("Stopped after step " + std::to_string(state_.step));
    throw Stopped{signal};
  }

  struct Agreement {
    int signal = 0;           ///< stop signal of any process
    bool checkpoint = false;  ///< a checkpoint is due
  };
  /// Sums the losses of all processes since the last call and agrees on a common next action. Waits for a device.
  Agreement agree() {
    if (model_.device) {
      const DeviceTraining::Losses losses = model_.device->take_losses();
      own_loss_sum_ += losses.sum;
      own_loss_count_ += losses.count;
    }
    const int signal = control_.stop_signal();
    const bool due = processes_.first() && Clock::now() - last_checkpoint_ > kCheckpointEvery;
    std::array<double, 4> all{own_loss_sum_, static_cast<double>(own_loss_count_), signal != 0 ? 1.0 : 0.0,
                              due ? 1.0 : 0.0};
    processes_.sum(std::span(all));
    if (!std::isfinite(all[0])) {
      throw RunError("the loss is not finite at step " + std::to_string(state_.step) +
                     "; a lower --lr or a --grad-clip may help");
    }
    state_.loss_sum += all[0];
    state_.loss_count += static_cast<std::int64_t>(all[1]);
    own_loss_sum_ = 0;
    own_loss_count_ = 0;
    return {all[2] == 0 ? 0 : signal != 0 ? signal : SIGTERM, all[3] > 0};
  }

  void epoch(const WorkInProgress& work) {
    std::vector<std::int64_t> order =
        order_of_epoch(split_.train, {options_.batch_size, options_.epoch_parts, options_.seed}, state_.epoch);
    const auto molecules = static_cast<std::int64_t>(order.size());
    const auto batches = (molecules + options_.batch_size - 1) / options_.batch_size;
    model_.module->train();
    {
      const std::string prefix = text("epoch %lld of %lld, loss ", static_cast<long long>(state_.epoch) + 1,
                                      static_cast<long long>(options_.epochs));
      const auto after_update = [&] {
        ++state_.batch;
        const bool stop_requested = processes_.is_single() && control_.stop_signal() != 0;
        const bool last = state_.batch == batches || state_.step == options_.total_steps;
        if (!model_.device || state_.step % kLossEvery == 0 || last || stop_requested) {
          const Agreement agreed = agree();
          if (agreed.signal != 0 && state_.batch < batches) stop(agreed.signal);
          if (agreed.checkpoint && state_.batch < batches) checkpoint();
        }
        work.advance(state_.step - first_step_, options_.total_steps - first_step_,
                     prefix + sensible_number(mean_loss()));
      };
      if (model_.device) {
        while (state_.step < options_.total_steps && state_.batch < batches) {
          update_on_device(order);
          after_update();
        }
      } else {
        BatchStream stream(set_, std::move(order), options_.batch_size, state_.batch, model_.pack, options_.weights,
                           processes_);
        TrainBatch batch;
        while (state_.step < options_.total_steps && stream.next(batch)) {
          update(batch);
          after_update();
        }
      }
    }
    finish_epoch();
    if (const int signal = agree().signal) stop(signal);
  }

  void update_on_device(const std::vector<std::int64_t>& order) {
    const auto first = static_cast<std::size_t>(state_.batch * options_.batch_size);
    const auto batch =
        std::span(order).subspan(first, std::min(static_cast<std::size_t>(options_.batch_size), order.size() - first));
    const auto update = static_cast<std::uint32_t>(state_.step++);
    model_.device->step(processes_.part(batch), count_present(set_, batch), update,
                        learning_rate(options_, state_.step));
  }

  double mean_loss() const {
    return state_.loss_count ? state_.loss_sum / static_cast<double>(state_.loss_count) : 0.0;
  }

  void update(const TrainBatch& batch) {
    ForwardMode mode{true, options_.seed, static_cast<std::uint32_t>(state_.step)};
    const int passes = options_.flag.passes();
    ++state_.step;
    if (batch.present == 0) {  // no labels
      optimizer_.set_updates(state_.step);
      return;
    }
    if (options_.flag.ascents > 0 && batch.graph.size() > 0)
      mode.perturbation = first_perturbation(options_.flag, batch.graph, model_.width, mode);
    for (int pass = 0; pass < passes; ++pass) {
      mode.ascent = static_cast<std::uint32_t>(pass);
      const LossSum loss = add_gradients(model_, options_.loss, batch, mode, passes);
      if (loss.count == 0) break;  // only other processes have labels in this batch
      own_loss_sum_ += loss.sum.item<double>();
      own_loss_count_ += loss.count;
      if (pass + 1 < passes) mode.perturbation = next_perturbation(options_.flag, batch.graph, mode.perturbation);
    }
    optimizer_.sum_gradients(processes_);
    optimizer_.step(learning_rate(options_, state_.step), options_.grad_clip);
    average_.update();
    weights_changed();
  }

  void swap_average() {
    if (model_.device) return model_.device->swap_average();
    average_.swap();
    weights_changed();
  }

  void weights_changed() {
    if (model_.weights_changed) model_.weights_changed();
  }

  void finish_epoch() {
    ++state_.epoch;
    model_.module->eval();
    const double loss = mean_loss();
    std::string valid_text, note;
    swap_average();  // validation and the saved weights use the average
    if (validation_.possible()) {
      const double value = validation_.value(predict_checked());
      if (!std::isfinite(value)) {
        throw RunError("the validation " + validation_.name() + " is not finite after epoch " +
                       std::to_string(state_.epoch) + "; a lower --lr or a --grad-clip may help");
      }
      valid_text = float_text(value);
      if (state_.best_epoch == 0 || validation_.better(value, state_.best_value)) {
        state_.best_epoch = state_.epoch;
        state_.best_value = value;
        save_best();
        note = "  best so far";
      }
    }
    const bool last = state_.step >= options_.total_steps || state_.epoch >= options_.epochs;
    if (last && !validation_.possible()) save_best();
    swap_average();
    const double lr = learning_rate(options_, state_.step);
    state_.metrics_csv += std::to_string(state_.epoch) + "," + std::to_string(state_.step) + "," + float_text(lr) +
                          "," + float_text(loss) + (validation_.by_loss() ? ",," : ",") + valid_text + "\n";
    write_metrics();
    control_.note(text("epoch %3lld  step %6lld  lr %.2e  train loss %9s", static_cast<long long>(state_.epoch),
                       static_cast<long long>(state_.step), lr, sensible_number(loss).c_str()) +
                  (valid_text.empty() ? ""
                                      : text("  valid %s %9s", validation_.name().c_str(),
                                             sensible_number(std::stod(valid_text)).c_str())) +
                  note);
    state_.batch = 0;
    state_.loss_sum = 0;
    state_.loss_count = 0;
    state_.stopped_early =
        options_.patience > 0 && state_.best_epoch > 0 && state_.epoch - state_.best_epoch >= options_.patience;
    state_.finished = last || state_.stopped_early;
    checkpoint();
  }

  void save_best() {
    if (model_.device) model_.device->fetch(tensors());
    if (processes_.first()) model_.save(best_path_);
  }

  /// Each process predicts its part of the validation set. If a signal arrives, the checkpoint has the state before the
  /// end of the epoch.
  std::vector<double> predict_checked() {
    const std::span<const std::int64_t> part = processes_.part(std::span<const std::int64_t>(split_.valid));
    const std::vector<std::int64_t> molecules(part.begin(), part.end());
    std::vector<double> predictions;
    double stop_requests = 0;
    int signal = SIGTERM;
    try {
      predictions = model_.device ? model_.device->predict(molecules)
                                  : predict_molecules(model_.run, model_.pack, set_, molecules, control_);
    } catch (const Stopped& stopped) {
      stop_requests = 1;
      signal = stopped.signal;
    }
    processes_.sum(std::span(&stop_requests, 1));
    if (stop_requests > 0) {
      swap_average();
      --state_.epoch;
      stop(signal);
    }
    const auto outputs = static_cast<std::size_t>(set_.task.num_outputs());
    std::vector<double> all(split_.valid.size() * outputs);
    std::copy(predictions.begin(), predictions.end(),
              all.begin() + (part.data() - split_.valid.data()) * static_cast<std::ptrdiff_t>(outputs));
    processes_.sum(std::span(all));
    return all;
  }

  const Trainable& model_;
  const MoleculeSet& set_;
  const Split& split_;
  const TrainerOptions& options_;
  Processes& processes_;
  const RunControl& control_;
  Optimizer optimizer_;
  WeightAverage average_;
  Validation validation_;
  TrainerState state_;
  double own_loss_sum_ = 0;  ///< this process's sum, not yet in state_
  std::int64_t own_loss_count_ = 0;
  std::int64_t first_step_ = 0;  ///< step at which this process started or resumed
  std::string last_path_, best_path_;
  Clock::time_point last_checkpoint_ = Clock::now();
};

}  // namespace

double learning_rate(const TrainerOptions& o, std::int64_t step) {
  const auto s = static_cast<double>(step), warmup = static_cast<double>(o.warmup_steps);
  const auto total = static_cast<double>(o.total_steps);
  if (step <= o.warmup_steps) return o.lr * s / warmup;
  const double left = (total - s) / (total - warmup);
  const double share = o.schedule == Schedule::linear ? left : 0.5 * (1.0 - std::cos(std::numbers::pi * left));
  return o.end_lr + (o.lr - o.end_lr) * share;
}

TrainerResult train(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options,
                    bool resume) {
  assert(!split.train.empty());
  if (options.processes->first()) std::filesystem::create_directories(options.folder + "/checkpoints");
  Loop loop(model, set, split, options);
  if (resume) loop.resume();
  return loop.run();
}

namespace {

/// Updates with a learning rate of zero change no weights. The next begin() discards their moments.
double measure_device_step(DeviceTraining& device, std::span<const std::int64_t> molecules, std::int64_t present,
                           const TrainerOptions& options) {
  constexpr int kWarm = 3, kMeasured = 10;
  device.begin(options, {}, 0);
  for (int k = 0; k < kWarm; ++k) device.step(molecules, present, 0, 0.0);
  (void)device.take_losses();
  const auto start = Clock::now();
  for (int k = 0; k < kMeasured; ++k) device.step(molecules, present, 0, 0.0);
  (void)device.take_losses();
  return std::chrono::duration<double>(Clock::now() - start).count() / kMeasured;
}

}  // namespace

double measure_step(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options) {
  std::vector<std::int64_t> order = split.train;
  shuffle(order, options.seed, ShuffleStream::epoch);
  const auto first_batch =
      std::span<const std::int64_t>(order).first(std::min(static_cast<std::size_t>(options.batch_size), order.size()));
  const auto part = options.processes->part(first_batch);
  model.module->train();
  if (model.device) return measure_device_step(*model.device, part, count_present(set, first_batch), options);
  const TrainBatch batch = make_batch(set, part, model.pack, options.weights);
  double seconds = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first repeat warms up caches and threads
    const auto start = Clock::now();
    if (model.weights_changed) model.weights_changed();  // as after every update
    add_gradients(model, options.loss, batch, {true, options.seed, 0}, 1);
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  for (auto& parameter : model.module->parameters()) parameter.mutable_grad() = torch::Tensor();
  return seconds * options.flag.passes();
}

}  // namespace molgraph

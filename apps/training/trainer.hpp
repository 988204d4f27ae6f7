// The training loop. It takes a module and a run function and knows no model class.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/training/adversarial.hpp"
#include "apps/training/device_training.hpp"
#include "apps/training/evaluate.hpp"
#include "apps/training/label_weights.hpp"
#include "apps/training/loss.hpp"
#include "apps/training/metrics.hpp"
#include "apps/training/processes.hpp"
#include "apps/training/run_control.hpp"
#include "apps/training/schedule.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// One pass in training mode: the raw outputs [B, outputs]; `slope` is the loss's derivative by them. Gradients are
/// added to the parameters' grad() and, if there is one, to that of the mode's perturbation.
using GradientFunction = std::function<torch::Tensor(const GraphBatch&, const ForwardMode&, const LossSlope& slope)>;

/// What is trained.
struct Trainable {
  std::shared_ptr<torch::nn::Module> module;
  PredictFunction run;                     ///< predictions; without `gradients` also for training, by autograd
  GradientFunction gradients;              ///< an engine's own way to the gradients; may be empty
  std::function<void()> weights_changed;   ///< called after every change of the weights; may be empty
  std::shared_ptr<DeviceTraining> device;  ///< does the updates, and holds the weights while it does; may be null
  PackOptions pack;
  int width = 0;                             ///< C of the node input
  torch::Tensor target_shift, target_scale;  ///< [outputs] float64, the model's scaling of regression targets
  std::function<bool(const std::string&)> decay_exempt;  ///< by parameter name
  std::function<void(const std::string&)> save;          ///< writes the weights as a model file
};

struct TrainerOptions {
  Losses loss = Loss::l1;
  Metric metric = Metric::mae;
  std::int64_t batch_size = 32;
  std::int64_t epochs = 1;
  std::int64_t epoch_parts = 1;   ///< an epoch is a share of so many of a pass over the training molecules
  std::int64_t total_steps = 1;   ///< S; training ends here even inside an epoch
  std::int64_t warmup_steps = 0;  ///< W
  double lr = 5e-4;               ///< peak
  double end_lr = 0;
  Schedule schedule = Schedule::linear;
  double weight_decay = 0.01;
  double grad_clip = 5.0;     ///< 0 = off
  std::int64_t patience = 0;  ///< epochs without a better validation, 0 = never stop early
  double ema = 0;             ///< 0 = off
  LabelWeights weights;       ///< of the labels in the loss
  FlagOptions flag;
  std::uint64_t seed = 0;
  std::string folder;    ///< the run directory: metrics.csv and checkpoints/ are written there
  std::string identity;  ///< what the run is; a checkpoint of another identity is refused
  std::shared_ptr<Processes> processes =
      std::make_shared<Processes>();  ///< who trains together; the first of them writes
  RunControl control;                 ///< may stop the training, and hears of it
};

/// Learning rate of update s = 1..S: linear up to the peak at W, then down to end_lr at S by the schedule.
double learning_rate(const TrainerOptions& options, std::int64_t step);

struct TrainerResult {
  std::int64_t epochs = 0, steps = 0;
  std::int64_t best_epoch = 0;  ///< 0 = no validation: the last weights count
  double best_value = 0;        ///< validation metric there, or loss where the metric cannot be computed
  bool stopped_early = false;
};

/// Trains until the steps or the patience are used up, going on from folder/checkpoints/last.safetensors if `resume`
/// and that file exists. checkpoints/best.safetensors ends as the model with the best validation (the last one without
/// any). Where the validation part cannot give the metric (one class only), its loss chooses the epoch, with a warning.
/// When the run control of any of the processes asks to stop, it writes a checkpoint and throws Stopped in all of them.
/// Throws RunError when the loss or a prediction is not finite, DataError if the processes' data or options differ.
TrainerResult train(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options,
                    bool resume);

/// Seconds one update takes, measured on the first training molecules without changing the weights.
double measure_step(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options);

}  // namespace molgraph

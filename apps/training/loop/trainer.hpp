// The training loop. It works with a module and a predict function and does not depend on model classes.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/training/loop/adversarial.hpp"
#include "apps/training/loop/device_training.hpp"
#include "apps/training/loop/evaluate.hpp"
#include "apps/training/loop/label_weights.hpp"
#include "apps/training/loop/loss.hpp"
#include "apps/training/loop/metrics.hpp"
#include "apps/training/loop/processes.hpp"
#include "apps/training/loop/run_control.hpp"
#include "apps/training/loop/schedule.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// One forward and backward pass in training mode. Returns the raw outputs [B, outputs]; `slope` is the derivative of
/// the loss with respect to them. Adds the gradients to grad() of the parameters and, if there is one, of the mode's
/// perturbation.
using GradientFunction = std::function<torch::Tensor(const GraphBatch&, const ForwardMode&, const LossSlope& slope)>;

/// The model to train.
struct Trainable {
  std::shared_ptr<torch::nn::Module> module;
  PredictFunction run;                     ///< predictions; without `gradients` also training, with autograd
  GradientFunction gradients;              ///< gradients of an engine; may be empty
  std::function<void()> weights_changed;   ///< called whenever the weights change; may be empty
  std::shared_ptr<DeviceTraining> device;  ///< does the updates and owns the weights meanwhile; may be null
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
  std::int64_t epoch_parts = 1;   ///< an epoch is 1/epoch_parts of a pass over the training set
  std::int64_t total_steps = 1;   ///< S; training ends here even in the middle of an epoch
  std::int64_t warmup_steps = 0;  ///< W
  double lr = 5e-4;               ///< peak
  double end_lr = 0;
  Schedule schedule = Schedule::linear;
  double weight_decay = 0.01;
  double grad_clip = 5.0;     ///< 0 = off
  std::int64_t patience = 0;  ///< epochs without improvement, 0 = no early stopping
  double ema = 0;             ///< 0 = off
  LabelWeights weights;       ///< label weights in the loss
  FlagOptions flag;
  std::uint64_t seed = 0;
  std::string folder;    ///< run directory for metrics.csv and checkpoints/
  std::string identity;  ///< identifies the run; a checkpoint with another identity is an error
  std::shared_ptr<Processes> processes =
      std::make_shared<Processes>();  ///< processes of this training; the first one writes files
  RunControl control;                 ///< can stop training; receives log and progress
};

/// Learning rate of update s = 1..S: linear increase to the peak at W, then decay to end_lr at S by the schedule.
double learning_rate(const TrainerOptions& options, std::int64_t step);

struct TrainerResult {
  std::int64_t epochs = 0, steps = 0;
  std::int64_t best_epoch = 0;  ///< 0 = no validation, the last weights are used
  double best_value = 0;        ///< validation metric of that epoch, or loss if the metric is undefined
  bool stopped_early = false;
};

/// Trains until all steps are done or early stopping ends training. With `resume`, continues from
/// folder/checkpoints/last.safetensors if it exists. Writes the model of the best validation epoch (without validation
/// the last model) to checkpoints/best.safetensors. If the metric is undefined on the validation set (one class only),
/// the validation loss selects the epoch, with a warning. If the run control of any process asks to stop, writes a
/// checkpoint and throws Stopped in all processes. Throws RunError if the loss or a prediction is not finite, DataError
/// if the data or options of the processes differ.
TrainerResult train(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options,
                    bool resume);

/// Duration of one update in seconds, measured on the first training molecules. Does not change the weights.
double measure_step(const Trainable& model, const MoleculeSet& set, const Split& split, const TrainerOptions& options);

}  // namespace molgraph

// The part of a device model that does not depend on the type of the products' factors: parameters, batches,
// predictions, and updates on resident molecules. model.cu contains the computation.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include "attention/cuda/border.hpp"
#include "attention/cuda/kernels/loss.cuh"
#include "attention/cuda/kernels/optimizer.cuh"
#include "attention/cuda/molecules.hpp"
#include "attention/cuda/parameters.hpp"
#include "attention/cuda/profile.hpp"
#include "attention/spec/plan_check.hpp"

namespace molgraph::cuda {

// Gradients are summed in this many slices; in fewer if there are many parameters.
inline constexpr int kSlices = 8;
inline constexpr std::int64_t kSliceFloats = std::int64_t{1} << 23;
// Training batches are rounded up to multiples of these, so a few recordings serve all batches.
inline constexpr FillUp kTrainingFill{.rows = 128, .relations = 512, .pairs = 8192, .molecules = 32};

inline const ModelPlan& checked(const ModelPlan& plan) {
  check_plan(plan);
  return plan;
}

/// Base class that does not depend on the type of the products' factors.
class DeviceModel : public Engine, public ResidentTraining {
 public:
  DeviceModel(const ModelPlan& plan, int number) : plan_(checked(plan)), parameters_(plan), number_(number) {
    if (const std::string reason = why_unusable(number); !reason.empty()) throw DeviceError(reason);
    use_device(number);
    stream_ = make_stream();
    const auto size = static_cast<std::size_t>(parameters_.size());
    clear(weights_.sized(size), size * sizeof(float), stream_);
    slices_ = static_cast<int>(std::clamp<std::int64_t>(kSliceFloats / parameters_.size(), 1, kSlices));
  }
  ~DeviceModel() override { destroy_stream(stream_); }

  DeviceModel(const DeviceModel&) = delete;
  DeviceModel& operator=(const DeviceModel&) = delete;

  /// Computes what depends on the weights alone: rounded copies, tables of paths and classes.
  virtual void derive() = 0;
  /// Returns the molecules' predictions [B, outputs] on the device.
  virtual const float* forward(const ResidentMolecules& set, const BatchPlaces& batch, const DrawKey* draws,
                               const float* perturbation, bool keep) = 0;
  virtual const float* states(int layer) const = 0;
  /// Computes the partial gradients from dscaled [B, outputs]. Returns the gradient of the node input [rows, C].
  virtual const float* backward(const float* dscaled) = 0;

  std::size_t outputs() const override { return static_cast<std::size_t>(plan_.outputs); }
  PackOptions pack_options() const override {
    PackOptions options = plan_.pack;
    options.paths = false;  // the device computes paths itself
    return options;
  }
  std::int64_t pairs_per_call() const override { return std::int64_t{1} << 20; }
  ResidentTraining* resident() override { return this; }

  /// Prediction and training need the same data.
  void assign(const TensorLookup& tensors, bool) override {
    check_tensors(parameters_, tensors);
    copy_in(tensors, weights_.data());
    assigned_ = true;
    derived_ = false;
  }
  void read(const GradientLookup& tensors) const override { copy_out(weights_.data(), tensors); }
  /// Copies tensors by name to or from a flat array.
  void copy_in(const TensorLookup& tensors, float* to) const {
    use_device(number_);
    for (const Parameters::Placed& t : parameters_)
      if (const float* from = tensors(t.spec->name); from != nullptr)
        copy_to_device(to + t.offset, from, static_cast<std::size_t>(t.size) * sizeof(float), stream_);
    synchronize(stream_);
  }
  void copy_out(const float* from, const GradientLookup& tensors) const {
    use_device(number_);
    for (const Parameters::Placed& t : parameters_)
      if (float* to = tensors(t.spec->name); to != nullptr)
        copy_to_host(to, from + t.offset, static_cast<std::size_t>(t.size) * sizeof(float), stream_);
  }

  void refresh() {
    if (!assigned_) throw std::invalid_argument("the engine has no weights");
    use_device(number_);  // the current device is a property of the thread
    if (!derived_) derive();
    derived_ = true;
  }
  MoleculeArrays arrays_of(const GraphBatch& batch) const {
    check_batch(batch, plan_, false);
    MoleculeArrays arrays;
    arrays.append(batch, plan_);
    return arrays;
  }
  void load(const MoleculeArrays& arrays, const RandomMode& random) {
    refresh();
    transient_.upload(arrays, plan_, stream_);
    std::vector<std::int64_t> numbers(arrays.entries.size());
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    places_.upload(transient_, numbers, {}, {.draws = key_of(random)}, stream_);
  }
  static DrawKey key_of(const RandomMode& random) { return draw_key(random.seed, random.step, random.ascent); }
  std::size_t tokens() const {
    std::size_t sum = 0;
    for (const MoleculeArrays::Entry& e : transient_.entries()) sum += static_cast<std::size_t>(e.tokens);
    return sum;
  }

  void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept) override {
    for (const KeptStates& k : kept) check_layer(k.layer, plan_);
    if (batch.size() == 0) return;
    const MoleculeArrays arrays = arrays_of(batch);  // without the lock: threads do the host's work in parallel
    const std::lock_guard lock(turn_);
    load(arrays, {});
    const bool inner = std::any_of(kept.begin(), kept.end(), [](const KeptStates& k) { return k.layer > 0; });
    const float* out = forward(transient_, places_, nullptr, nullptr, inner);
    copy_to_host(scaled, out, static_cast<std::size_t>(batch.size()) * outputs() * sizeof(float), stream_);
    for (const KeptStates& k : kept)
      copy_to_host(k.states, states(k.layer), tokens() * static_cast<std::size_t>(plan_.encoder.width) * sizeof(float),
                   stream_);
  }

  void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                 const GradientLookup& gradients, const float* perturbation, float* dinput) override {
    load(arrays_of(batch), random);
    if (batch.size() == 0) return;
    const auto molecules = static_cast<std::size_t>(batch.size());
    const std::size_t input_bytes = tokens() * static_cast<std::size_t>(plan_.encoder.width) * sizeof(float);
    if (perturbation != nullptr)
      copy_to_device(perturbation_.sized(input_bytes / sizeof(float)), perturbation, input_bytes, stream_);
    const float* out = forward(transient_, places_, random.training ? &places_.step->draws : nullptr,
                               perturbation == nullptr ? nullptr : perturbation_.data(), true);
    copy_to_host(scaled, out, molecules * outputs() * sizeof(float), stream_);
    std::vector<float> slope(molecules * outputs());
    for (std::size_t b = 0; b < molecules; ++b) loss(b, scaled + b * outputs(), slope.data() + b * outputs());
    dscaled_.upload(slope, stream_);
    const float* dx = backward(dscaled_.data());
    if (dinput != nullptr) copy_to_host(dinput, dx, input_bytes, stream_);
    sum_slices(nullptr, nullptr);
    std::vector<float> flat(static_cast<std::size_t>(parameters_.size()));
    copy_to_host(flat.data(), gradient_.data(), flat.size() * sizeof(float), stream_);
    for (const Parameters::Placed& t : parameters_)
      if (float* to = gradients(t.spec->name); to != nullptr)
        for (std::int64_t i = 0; i < t.size; ++i) to[i] += flat[static_cast<std::size_t>(t.offset + i)];
  }

  void predict_resident(std::span<const std::int64_t> numbers, float* scaled) override {
    if (numbers.empty()) return;
    refresh();
    place(numbers, {});
    const float* out = forward(set_, places_, nullptr, nullptr, false);
    copy_to_host(scaled, out, numbers.size() * outputs() * sizeof(float), stream_);
  }

  void add_molecules(const GraphBatch& batch) override {
    check_batch(batch, plan_, false);
    waiting_.append(batch, plan_);
  }
  bool upload_molecules(std::size_t most_bytes) override {
    use_device(number_);
    uploaded_ = static_cast<std::int64_t>(waiting_.entries.size());
    streams_ = waiting_.bytes() > (most_bytes > 0 ? most_bytes : free_memory() / 2);
    if (streams_) {
      set_.begin_stream(waiting_, plan_);
      return false;
    }
    set_.upload(waiting_, plan_, stream_);
    synchronize(stream_);
    waiting_ = {};
    return true;
  }
  void place(std::span<const std::int64_t> numbers, const StepNumbers& of_step) {
    check_numbers(numbers, uploaded_);
    if (streams_) set_.stream_in(waiting_, numbers, stream_);
    places_.upload(set_, numbers, kTrainingFill, of_step, stream_);
  }
  void start_training(const UpdateOptions& options, std::int64_t updates, const UpdateStateSource& state) override;
  void step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate,
            std::int64_t targets) override;
  std::vector<KernelTime> profile_step(std::span<const std::int64_t> numbers) override {
    prepare_step(numbers, 0, 0.0, 0);
    derived_ = false;
    return profile(stream_, [this] { update_on_device(); });
  }
  LossTotal take_losses() override;
  void read_state(const UpdateState& to) const override {
    if (to.mean) copy_out(mean_.data(), to.mean);
    if (to.square) copy_out(square_.data(), to.square);
    if (to.average && options_.average > 0) copy_out(average_.data(), to.average);
  }
  void swap_average() override {
    if (options_.average == 0) return;
    std::swap(weights_, average_);
    recordings_.clear();  // they contain the pointers
    derived_ = false;
  }

  std::int64_t blocks() const { return blocks_for(parameters_.size(), kUpdateBlock); }
  Update update_of(const std::uint8_t* kind, double* squares) {
    const auto size = static_cast<std::size_t>(parameters_.size());
    return {.size = parameters_.size(),
            .slices = slices_,
            .partial = partial_.data(),
            .gradient = gradient_.sized(size),
            .weight = weights_.data(),
            .mean = mean_.data(),
            .square = square_.data(),
            .average = options_.average > 0 ? average_.data() : nullptr,
            .kind = kind,
            .squares = squares,
            .numbers = places_.step,
            .targets = present_.data()};
  }
  void sum_slices(const std::uint8_t* kind, double* squares) {
    launch(stream_, sum_slices_kernel, static_cast<unsigned>(blocks()), kUpdateThreads, kUpdateThreads * sizeof(double),
           update_of(kind, squares));
  }
  void prepare_step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate,
                    std::int64_t targets);
  void gradients_on_device();
  void weights_on_device();
  void update_on_device() {
    gradients_on_device();
    weights_on_device();
  }

  ModelPlan plan_;
  Parameters parameters_;
  int number_;  ///< of the GPU
  Stream stream_ = nullptr;
  std::mutex turn_;  ///< locked by the thread in predict()
  int slices_ = 1;
  bool assigned_ = false;
  bool derived_ = false;  ///< true: derive() was called after the last change of the weights
  Array<float> weights_, partial_, gradient_, perturbation_, dscaled_;
  ResidentMolecules transient_, set_;
  BatchPlaces places_;
  MoleculeArrays waiting_;     ///< for upload_molecules(), or for streaming
  bool streams_ = false;       ///< the molecules stay on the host
  std::int64_t uploaded_ = 0;  ///< number of molecules

  // training
  /// All values except pointers that the arguments of an update's launches depend on.
  using RecordingKey = std::tuple<int, int, std::int64_t, std::int64_t, std::vector<BatchPlaces::Class>>;
  UpdateOptions options_;
  std::int64_t updates_ = 0;
  Array<float> mean_, square_, average_, target_, shift_, scale_, slope_;
  Array<std::uint8_t> kind_;
  Array<std::int8_t> bound_;
  Array<float> weight_;
  Array<Loss> losses_;
  bool has_losses_ = false, has_bounds_ = false, has_weights_ = false;
  Array<double> squares_, total_, present_;
  std::map<RecordingKey, std::unique_ptr<Recording>> recordings_;
  std::map<RecordingKey, int> seen_;
  std::uint64_t recorded_allocations_ = 0;
};

// --- training on resident molecules ---

inline void DeviceModel::start_training(const UpdateOptions& options, std::int64_t updates,
                                        const UpdateStateSource& state) {
  use_device(number_);
  check_training(options, outputs(), uploaded_);
  recordings_.clear();  // they contain the previous training's loss, targets and average
  seen_.clear();
  options_ = options;
  options_.target.clear();  // from here on, they are on the device
  options_.bound.clear();
  options_.weight.clear();
  options_.losses.clear();
  has_losses_ = !options.losses.empty();
  has_bounds_ = !options.bound.empty();
  has_weights_ = !options.weight.empty();
  options_.frozen = options_.decay_exempt = nullptr;
  updates_ = updates;
  const auto size = static_cast<std::size_t>(parameters_.size());
  std::vector<std::uint8_t> kind(size, 0);
  for (const Parameters::Placed& t : parameters_) {
    const bool frozen = options.frozen && options.frozen(t.spec->name),
               exempt = options.decay_exempt && options.decay_exempt(t.spec->name);
    std::fill_n(kind.begin() + t.offset, t.size, static_cast<std::uint8_t>(frozen ? 0 : exempt ? 1 : 2));
  }
  kind_.upload(kind, stream_);
  for (auto& [array, source] : {std::pair{&mean_, &state.mean}, std::pair{&square_, &state.square}}) {
    clear(array->sized(size), size * sizeof(float), stream_);
    if (*source) copy_in(*source, array->data());
  }
  if (options.average > 0) {
    copy_on_device(average_.sized(size), weights_.data(), size * sizeof(float), stream_);
    if (state.average) copy_in(state.average, average_.data());
  }
  target_.upload(options.target, stream_);
  if (has_losses_) losses_.upload(options.losses, stream_);
  if (has_bounds_) bound_.upload(options.bound, stream_);
  if (has_weights_) weight_.upload(options.weight, stream_);
  shift_.upload(options.shift, stream_);
  scale_.upload(options.scale, stream_);
  (void)present_.sized(1);
  (void)squares_.sized(static_cast<std::size_t>(blocks()) + 1);
  clear(total_.sized(2), 2 * sizeof(double), stream_);
  synchronize(stream_);
}

inline void DeviceModel::gradients_on_device() {
  derive();
  const bool any = places_.molecules > 0;  // a process may have no molecules of a batch
  const float* scaled = any ? forward(set_, places_, &places_.step->draws, nullptr, true) : nullptr;
  const auto values = static_cast<std::size_t>(places_.molecules) * outputs();
  launch(stream_, loss_kernel, 1u, kLossThreads, kLossThreads * sizeof(double),
         LossTask{.loss = options_.loss,
                  .losses = has_losses_ ? losses_.data() : nullptr,
                  .molecules = places_.molecules,
                  .targets = options_.targets,
                  .outputs = plan_.outputs,
                  .scaled = scaled,
                  .target = target_.data(),
                  .shift = shift_.data(),
                  .scale = scale_.data(),
                  .weight = has_weights_ ? weight_.data() : nullptr,
                  .bound = has_bounds_ ? bound_.data() : nullptr,
                  .chosen = places_.number,
                  .slope = slope_.sized(values),
                  .total = total_.data(),
                  .present = present_.data(),
                  .numbers = places_.step});
  if (any) {
    backward(slope_.data());
    sum_slices(kind_.data(), squares_.data());
  } else {
    clear(gradient_.sized(static_cast<std::size_t>(parameters_.size())),
          static_cast<std::size_t>(parameters_.size()) * sizeof(float), stream_);
  }
}

inline void DeviceModel::weights_on_device() {
  const Update update = update_of(kind_.data(), squares_.data());
  const int count = static_cast<int>(blocks());
  launch(stream_, clip_kernel, 1u, kUpdateThreads, kUpdateThreads * sizeof(double), update, count);
  launch(stream_, adamw_kernel, static_cast<unsigned>(count), kUpdateThreads, 0, update, count);
}

inline void DeviceModel::prepare_step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate,
                                      std::int64_t targets) {
  if (kind_.data() == nullptr) throw std::logic_error("start_training() must be called first");
  use_device(number_);
  ++updates_;
  const StepNumbers of{.draws = draw_key(options_.seed, update, 0),
                       .adam = adam_step(learning_rate, updates_),
                       .keep = adam_keep(learning_rate, options_.weight_decay),
                       .clip = options_.clip,
                       .average = static_cast<float>(1 - options_.average),
                       .targets = static_cast<double>(targets)};
  place(numbers, of);
}

inline void DeviceModel::step(std::span<const std::int64_t> numbers, std::uint32_t update, double learning_rate,
                              std::int64_t targets) {
  prepare_step(numbers, update, learning_rate, targets);
  // The first batch of a kind runs directly and allocates the memory that it needs. The second is recorded.
  const RecordingKey key{places_.molecules, places_.rows, places_.relations, places_.pairs, places_.classes};
  if (recorded_allocations_ != allocations) {
    recordings_.clear();
    seen_.clear();
    recorded_allocations_ = allocations;
  }
  auto& recording = recordings_[key];
  const bool alone = !options_.sum_over_processes;
  const auto work = [&] { alone ? update_on_device() : gradients_on_device(); };
  if (!recording && seen_[key]++ > 0) recording = std::make_unique<Recording>(stream_, work);
  recording ? recording->run() : work();
  if (!alone) {
    options_.sum_over_processes(gradient_.data(), static_cast<std::size_t>(parameters_.size()), stream_);
    Update sums = update_of(kind_.data(), squares_.data());  // the norm of the sum; one slice: gradient_
    sums.partial = gradient_.data();
    sums.slices = 1;
    launch(stream_, sum_slices_kernel, static_cast<unsigned>(blocks()), kUpdateThreads, kUpdateThreads * sizeof(double),
           sums);
    weights_on_device();
  }
  derived_ = false;
}

inline LossTotal DeviceModel::take_losses() {
  use_device(number_);
  double total[2] = {};
  copy_to_host(total, total_.data(), sizeof total, stream_);
  clear(total_.data(), sizeof total, stream_);
  return {total[0], total[1]};
}

}  // namespace molgraph::cuda

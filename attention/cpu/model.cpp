#include "attention/cpu/model.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <stdexcept>

#include "attention/cpu/encoder.hpp"
#include "attention/cpu/head.hpp"
#include "attention/cpu/kernels/aligned.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/node_input.hpp"
#include "attention/cpu/pair_terms.hpp"
#include "attention/cpu/parallel.hpp"
#include "attention/spec/parameters.hpp"
#include "attention/spec/plan_check.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {
namespace {

// A pack's activations should stay in a core's second-level cache. In wide models, products need many rows instead.
constexpr std::size_t kNarrow = 128;
constexpr std::size_t kNarrowTokens = 56;
constexpr std::size_t kWideTokens = 512;
// Number of gradient buffers. Each sums its own packs in order, and then the buffers are summed in order, so the result
// does not depend on the assignment to threads. Fewer if a buffer is large; a power of two, which divides evenly.
constexpr std::size_t kSlots = 8;
constexpr std::size_t kSlotBytes = std::size_t{1} << 30;
// A few packs: small enough to keep all of a caller's threads busy to the end.
constexpr std::int64_t kPairsPerCall = 16'384;

const ModelPlan& checked(const ModelPlan& plan) {
  check_plan(plan);
  return plan;
}

/// The passes that the current weights allow.
enum class Ready : std::uint8_t { nothing, prediction, training };

/// Flat gradient buffers of all parts.
struct Slot {
  AlignedVector<float> encoder;
  std::vector<float> node, head;
  std::vector<std::vector<float>> terms;
  /// All buffers except the encoder's, which is large.
  std::vector<std::vector<float>*> small_buffers() {
    std::vector<std::vector<float>*> parts{&node, &head};
    for (auto& part : terms) parts.push_back(&part);
    return parts;
  }
};

/// Workspace of one thread.
struct Worker {
  explicit Worker(const EncoderShape& shape) : encoder(shape) {}
  Pack pack;
  Encoder encoder;
  NodeInput::Trace trace;
  PairTerms::Work terms;
  std::vector<float> graph, dgraph, log_degree;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(const ModelPlan& plan, int threads, Precision precision)
      : plan_(checked(plan)), parameters_(parameters_of(plan_)), shape_(plan_, precision),
        weights_(shape_, parameters_), node_(plan_, shape_, parameters_), head_(parameters_, plan_),
        terms_(plan_, parameters_), threads_(threads) {}

  std::size_t outputs() const override { return static_cast<std::size_t>(plan_.outputs); }
  PackOptions pack_options() const override { return plan_.pack; }
  std::int64_t pairs_per_call() const override { return kPairsPerCall; }
  void assign(const TensorLookup& tensors, bool training) override;
  void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept) override;
  void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                 const GradientLookup& gradients, const float* perturbation, float* dinput) override;

 private:
  /// Arguments of a training pass.
  struct Training {
    const GraphBatch& batch;
    const RandomMode& random;
    const LossSlope& loss;
    const float* perturbation;
    float *scaled, *dinput;
    bool parameters;  ///< true if the gradient of at least one parameter is needed
  };

  HeadInput head_input(const GraphBatch& batch, std::size_t molecule, const float* graph) const {
    return {graph, batch.inputs.data() + molecule * static_cast<std::size_t>(plan_.head.inputs)};
  }
  std::size_t pack_tokens() const { return shape_.width <= kNarrow ? kNarrowTokens : kWideTokens; }
  std::size_t slot_count() const {
    return std::bit_floor(std::clamp<std::size_t>(kSlotBytes / (weights_.layout().size() * sizeof(float)), 2, kSlots));
  }
  void clear(Slot& slot) const;
  template <class Work>
  void with_workers(std::size_t count, Work work);
  void forward(const GraphBatch& batch, std::size_t first, std::size_t last, const RandomMode& random,
               const float* perturbation, const std::vector<KeptStates>& kept, bool keep_activations, Worker& w) const;
  void forward_and_back(const Training& pass, std::size_t first, std::size_t last, Worker& w, Slot& slot) const;
  void sum_slots(std::size_t slots);

  ModelPlan plan_;
  ParameterList parameters_;
  EncoderShape shape_;
  EncoderWeights weights_;
  NodeInput node_;
  Head head_;
  PairTerms terms_;
  int threads_;
  Ready ready_ = Ready::nothing;
  std::mutex mutex_;  ///< protects `idle_`: predict() is thread-safe
  std::vector<std::unique_ptr<Worker>> idle_;
  std::vector<Slot> slots_;
};

void CpuEngine::assign(const TensorLookup& tensors, bool training) {
  for (const ParameterSpec& spec : parameters_)  // the parts do not check this
    if (tensors(spec.name) == nullptr) throw std::invalid_argument("invalid engine input: missing tensor " + spec.name);
  ready_ = Ready::nothing;
  weights_.assign(tensors, training, threads_);
  node_.assign(tensors);
  head_.assign(tensors);
  terms_.assign(tensors);
  ready_ = training ? Ready::training : Ready::prediction;
}

/// Calls work(worker, k) for k in [0, count) on the engine's threads. Workers are reused because their memory is large.
template <class Work>
void CpuEngine::with_workers(std::size_t count, Work work) {
  on_threads(threads_, count, [&](const auto& next) {
    std::unique_ptr<Worker> worker;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        worker = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!worker) worker = std::make_unique<Worker>(shape_);
    for (std::size_t k = next(); k < count; k = next()) work(*worker, k);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  });
}

// Runs node input and encoder on molecules [first, last). The result is the worker's `graph`.
void CpuEngine::forward(const GraphBatch& batch, std::size_t first, std::size_t last, const RandomMode& random,
                        const float* perturbation, const std::vector<KeptStates>& kept, bool keep_activations,
                        Worker& w) const {
  w.pack.load(batch, first, last, shape_, plan_.classes);
  w.terms.places.load(batch, w.pack);
  const auto token = static_cast<std::size_t>(batch.token_offset[first]);
  node_.forward(w.terms.places, random, perturbation == nullptr ? nullptr : perturbation + token * shape_.width,
                w.trace, w.encoder.input(w.pack.tokens));
  std::vector<KeptLayer> requested;
  for (const KeptStates& k : kept) requested.push_back({k.layer, k.states + token * shape_.width});
  w.graph.resize(w.pack.size() * shape_.stride);
  PackInput input{.pack = &w.pack,
                  .row = batch.row.data() + first,
                  .pairs = terms_.values(w.terms),
                  .random = random,
                  .keep_activations = keep_activations};
  if (shape_.options.degree_scaler) {
    w.log_degree.assign(w.pack.tokens, 0.0f);
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t atom = w.pack.molecules[b - first].first_token + 1;
      for (std::int64_t a = batch.atom_offset[b]; a < batch.atom_offset[b + 1]; ++a)
        w.log_degree[atom + static_cast<std::size_t>(a - batch.atom_offset[b])] =
            static_cast<float>(log_degree(batch.degree[static_cast<std::size_t>(a)]));
    }
    input.log_degree = w.log_degree.data();
  }
  if (shape_.steps + shape_.pair_vector > 0)
    input.walks = w.terms.places.pair_walks(shape_.options.pair_vector()).data();
  w.encoder.forward(weights_, input, requested, w.graph.data());
}

void CpuEngine::predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept) {
  if (ready_ == Ready::nothing) throw std::invalid_argument("the engine has no weights");
  check_batch(batch, plan_, needs_paths(plan_));
  for (const KeptStates& k : kept) check_layer(k.layer, plan_);
  const std::vector<std::size_t> packs =
      split_into_packs(batch, pack_tokens(), static_cast<std::size_t>(std::max(threads_, 1)));
  with_workers(packs.size() - 1, [&](Worker& w, std::size_t p) {
    forward(batch, packs[p], packs[p + 1], {}, nullptr, kept, false, w);
    for (std::size_t b = packs[p]; b < packs[p + 1]; ++b)
      head_.forward(head_input(batch, b, w.graph.data() + (b - packs[p]) * shape_.stride), scaled + b * outputs());
  });
}

// --- gradients ---

void CpuEngine::clear(Slot& slot) const {
  slot.encoder.assign(weights_.layout().size(), 0.0f);
  slot.node.assign(node_.gradient_size(), 0.0f);
  slot.head.assign(head_.gradient_size(), 0.0f);
  slot.terms.resize(terms_.size());
  for (std::size_t t = 0; t < terms_.size(); ++t) slot.terms[t].assign(terms_.gradient_size(t), 0.0f);
}

// Forward and backward pass of one pack, molecules [first, last).
void CpuEngine::forward_and_back(const Training& pass, std::size_t first, std::size_t last, Worker& w,
                                 Slot& slot) const {
  forward(pass.batch, first, last, pass.random, pass.perturbation, {}, true, w);
  w.dgraph.assign(w.graph.size(), 0.0f);
  for (std::size_t b = first; b < last; ++b) {
    const std::size_t at = (b - first) * shape_.stride;
    head_.gradient(
        head_input(pass.batch, b, w.graph.data() + at), pass.random, pass.batch.row[b],
        [&](const float* y, float* dy) { pass.loss(b, y, dy); }, pass.scaled + b * outputs(), w.dgraph.data() + at,
        slot.head.data());
  }
  const PackGradient gradient{slot.encoder.data(), terms_.gradients(w.pack, w.terms), pass.parameters};
  const float* dx = w.encoder.backward(weights_, w.dgraph.data(), gradient);
  terms_.add_gradient(w.terms, slot.terms);
  const auto token = static_cast<std::size_t>(pass.batch.token_offset[first]);
  node_.gradient(pass.batch, w.pack, dx, w.trace, slot.node.data(),
                 pass.dinput == nullptr ? nullptr : pass.dinput + token * shape_.width);
}

// Sums all slots into the first one.
void CpuEngine::sum_slots(std::size_t slots) {
  Slot& total = slots_[0];
  constexpr std::size_t kPiece = 16384;
  const std::size_t pieces = (total.encoder.size() + kPiece - 1) / kPiece;
  for_each_on_threads(threads_, pieces, [&](std::size_t piece) {
    for (std::size_t k = 1; k < slots; ++k)
      for (std::size_t i = piece * kPiece; i < std::min((piece + 1) * kPiece, total.encoder.size()); ++i)
        total.encoder[i] += slots_[k].encoder[i];
  });
  const std::vector<std::vector<float>*> sums = total.small_buffers();
  for (std::size_t k = 1; k < slots; ++k) {
    const std::vector<std::vector<float>*> others = slots_[k].small_buffers();
    for (std::size_t p = 0; p < sums.size(); ++p)
      for (std::size_t i = 0; i < sums[p]->size(); ++i) (*sums[p])[i] += (*others[p])[i];
  }
}

void CpuEngine::gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                          const GradientLookup& gradients, const float* perturbation, float* dinput) {
  if (ready_ != Ready::training) throw std::invalid_argument("the engine has no weights for training");
  check_batch(batch, plan_, needs_paths(plan_));
  const bool needs_parameters =
      std::ranges::any_of(parameters_, [&](const ParameterSpec& spec) { return gradients(spec.name) != nullptr; });
  const Training pass{batch, random, loss, perturbation, scaled, dinput, needs_parameters};
  const std::vector<std::size_t> packs = split_into_packs(batch, pack_tokens(), slot_count());
  const std::size_t count = packs.size() - 1, slots = std::min(slot_count(), std::max<std::size_t>(count, 1));
  slots_.resize(slots);
  with_workers(slots, [&](Worker& w, std::size_t k) {
    if (needs_parameters || slots_[k].encoder.empty()) clear(slots_[k]);
    for (std::size_t p = k * count / slots; p < (k + 1) * count / slots; ++p)
      forward_and_back(pass, packs[p], packs[p + 1], w, slots_[k]);
  });
  if (!needs_parameters) return;
  sum_slots(slots);
  Slot& total = slots_[0];
  weights_.add_gradients(total.encoder.data(), gradients, threads_);
  node_.add_gradients(total.node.data(), gradients);
  head_.add_gradients(total.head.data(), gradients);
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_.add_gradients(t, total.terms[t].data(), gradients);
}

}  // namespace

std::string why_unusable(Precision precision) {
  if (precision == Precision::tf32) return "tf32 is for GPUs";
  if (precision == Precision::bf16 && !has_bf16()) return "this processor has no bfloat16 products (AVX512_BF16)";
  return {};
}

UsedPrecision used_precision(Precision requested, Bf16Products products) {
  if (requested != Precision::bf16) return {.precision = requested};
  switch (products) {
    case Bf16Products::tiles: return {.precision = requested, .instructions = "AMX"};
    case Bf16Products::fast: return {.precision = requested, .instructions = "AVX512_BF16"};
    case Bf16Products::slow:
      return {.note =
                  "bf16: this processor's bfloat16 products (AVX512_BF16 of Intel) are no faster than float32's; "
                  "fp32 is used"};
    case Bf16Products::none: break;
  }
  return {.note = "bf16: this processor has no bfloat16 products (AVX512_BF16); fp32 is used"};
}

}  // namespace molgraph::cpu

namespace molgraph {

std::unique_ptr<Engine> make_cpu_engine(const ModelPlan& plan, int threads, Precision precision) {
  if (const std::string reason = cpu::why_unusable(precision); !reason.empty()) throw std::invalid_argument(reason);
  return std::make_unique<cpu::CpuEngine>(plan, threads, precision);
}

}  // namespace molgraph

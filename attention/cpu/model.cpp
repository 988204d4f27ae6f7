#include "attention/cpu/model.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <stdexcept>

#include "attention/cpu/encoder.hpp"
#include "attention/cpu/head.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/node_input.hpp"
#include "attention/cpu/pair_terms.hpp"
#include "attention/cpu/parallel.hpp"
#include "attention/spec/parameters.hpp"
#include "attention/spec/plan_check.hpp"

namespace molgraph::cpu {
namespace {

// A pack's activations should stay in a core's second-level cache; a wide model's products want many rows instead.
constexpr std::size_t kNarrow = 128;
constexpr std::size_t kNarrowTokens = 56;
constexpr std::size_t kWideTokens = 512;
// Gradients are summed in so many buffers, each over its own packs in their order, and then in the buffers' order: the sum
// does not depend on who computed what. Fewer where a buffer is large; a power of two, which threads share evenly.
constexpr std::size_t kSlots = 8;
constexpr std::size_t kSlotBytes = std::size_t{1} << 30;
// A few packs, and few enough calls in flight that all of a caller's threads have work to the end.
constexpr std::int64_t kPairsPerCall = 16'384;

const ModelPlan& checked(const ModelPlan& plan) {
  check_plan(plan);
  return plan;
}

/// What the weights in use serve.
enum class Ready : std::uint8_t { nothing, prediction, training };

/// Gradients of all parts, flat.
struct Slot {
  std::vector<float> encoder, node, head;
  std::vector<std::vector<float>> terms;
  /// All but the encoder's, which is large.
  std::vector<std::vector<float>*> small() {
    std::vector<std::vector<float>*> parts{&node, &head};
    for (auto& part : terms) parts.push_back(&part);
    return parts;
  }
};

/// What one thread needs.
struct Worker {
  explicit Worker(const EncoderShape& shape) : encoder(shape) {}
  Pack pack;
  Encoder encoder;
  NodeInput::Trace trace;
  PairTerms::Work terms;
  std::vector<float> graph, dgraph;
};

/// The parts of one model.
struct State {
  explicit State(const ModelPlan& given)
      : plan(checked(given)),
        parameters(parameters_of(plan)),
        shape(plan),
        weights(shape, parameters),
        node(plan, shape, parameters),
        head(parameters),
        terms(plan, parameters) {}

  std::size_t pack_tokens() const { return shape.width <= kNarrow ? kNarrowTokens : kWideTokens; }
  std::size_t slot_count() const {
    return std::bit_floor(std::clamp<std::size_t>(kSlotBytes / (weights.layout().size() * sizeof(float)), 2, kSlots));
  }

  void clear(Slot& slot) const {
    slot.encoder.assign(weights.layout().size(), 0.0f);
    slot.node.assign(node.gradient_size(), 0.0f);
    slot.head.assign(head.gradient_size(), 0.0f);
    slot.terms.resize(terms.size());
    for (std::size_t t = 0; t < terms.size(); ++t) slot.terms[t].assign(terms.gradient_size(t), 0.0f);
  }

  /// Node input and encoder of molecules [first, last); `graph` of the worker is the result.
  void forward(const GraphBatch& batch, std::size_t first, std::size_t last, const RandomMode& random,
                    const float* perturbation, const std::vector<KeptStates>& kept, bool keep_activations, Worker& w) const {
    w.pack.load(batch, first, last, shape, plan.classes);
    const auto token = static_cast<std::size_t>(batch.token_offset[first]);
    node.forward(batch, w.pack, random, perturbation == nullptr ? nullptr : perturbation + token * shape.width, w.trace,
                 w.encoder.input(w.pack.tokens));
    std::vector<KeptLayer> wanted;
    for (const KeptStates& k : kept) wanted.push_back({k.layer, k.states + token * shape.width});
    w.graph.resize(w.pack.size() * shape.stride);
    const PackInput input{&w.pack, batch.row.data() + first, terms.values(batch, w.pack, w.terms), random, keep_activations};
    w.encoder.forward(weights, input, wanted, w.graph.data());
  }

  /// Calls work(worker, k) for k in [0, count) on up to `threads` threads. Workers are kept: their memory is large.
  template <class Work>
  void with_workers(int threads, std::size_t count, Work work) const {
    on_threads(threads, count, [&](const auto& next) {
      std::unique_ptr<Worker> worker;
      {
        const std::lock_guard lock(mutex);
        if (!idle.empty()) {
          worker = std::move(idle.back());
          idle.pop_back();
        }
      }
      if (!worker) worker = std::make_unique<Worker>(shape);
      for (std::size_t k = next(); k < count; k = next()) work(*worker, k);
      const std::lock_guard lock(mutex);
      idle.push_back(std::move(worker));
    });
  }

  ModelPlan plan;
  ParameterList parameters;
  EncoderShape shape;
  EncoderWeights weights;
  NodeInput node;
  Head head;
  PairTerms terms;
  Ready ready = Ready::nothing;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Worker>> idle;
  mutable std::vector<Slot> slots;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(const ModelPlan& plan, int threads, Precision precision) : state_(plan), threads_(threads), precision_(precision) {}

  std::size_t outputs() const override { return static_cast<std::size_t>(state_.plan.outputs); }
  PackOptions pack_options() const override { return state_.plan.pack; }
  std::int64_t pairs_per_call() const override { return kPairsPerCall; }
  void assign(const TensorLookup& tensors, bool training) override;
  void predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept) override;
  void gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                 const GradientLookup& gradients, const float* perturbation, float* dinput) override;

 private:
  State state_;
  int threads_;
  Precision precision_;
};

void CpuEngine::assign(const TensorLookup& tensors, bool training) {
  State& s = state_;
  for (const ParameterSpec& spec : s.parameters)
    if (tensors(spec.name) == nullptr) throw std::invalid_argument("the engine was given no tensor " + spec.name);
  s.ready = Ready::nothing;
  s.weights.assign(tensors, training, threads_, precision_);
  s.node.assign(tensors);
  s.head.assign(tensors);
  s.terms.assign(tensors);
  s.ready = training ? Ready::training : Ready::prediction;
}

void CpuEngine::predict(const GraphBatch& batch, float* scaled, const std::vector<KeptStates>& kept) {
  const State& s = state_;
  if (s.ready == Ready::nothing) throw std::invalid_argument("the engine was given no weights");
  check_batch(batch, s.plan, needs_paths(s.plan));
  for (const KeptStates& k : kept) check_layer(k.layer, s.plan);
  const std::vector<std::size_t> packs = split_into_packs(batch, s.pack_tokens(), static_cast<std::size_t>(std::max(threads_, 1)));
  s.with_workers(threads_, packs.size() - 1, [&](Worker& w, std::size_t p) {
    s.forward(batch, packs[p], packs[p + 1], {}, nullptr, kept, false, w);
    for (std::size_t b = packs[p]; b < packs[p + 1]; ++b)
      s.head.forward(w.graph.data() + (b - packs[p]) * s.shape.stride, scaled + b * outputs());
  });
}

void CpuEngine::gradients(const GraphBatch& batch, const RandomMode& random, const LossSlope& loss, float* scaled,
                          const GradientLookup& gradients, const float* perturbation, float* dinput) {
  const State& s = state_;
  if (s.ready != Ready::training) throw std::invalid_argument("the engine was given no weights to train");
  check_batch(batch, s.plan, needs_paths(s.plan));
  const std::vector<std::size_t> packs = split_into_packs(batch, s.pack_tokens(), s.slot_count());
  const std::size_t count = packs.size() - 1, slots = std::min(s.slot_count(), std::max<std::size_t>(count, 1));
  s.slots.resize(slots);
  const auto run_pack = [&](Worker& w, Slot& slot, std::size_t first, std::size_t last) {
    s.forward(batch, first, last, random, perturbation, {}, true, w);
    w.dgraph.assign(w.graph.size(), 0.0f);
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t at = (b - first) * s.shape.stride;
      s.head.gradient(w.graph.data() + at, [&](const float* y, float* dy) { loss(b, y, dy); }, scaled + b * outputs(),
                      w.dgraph.data() + at, slot.head.data());
    }
    const PackGradient gradient{slot.encoder.data(), s.terms.gradients(w.pack, w.terms)};
    const float* dx = w.encoder.backward(s.weights, w.dgraph.data(), gradient);
    s.terms.add_gradient(w.terms, slot.terms);
    const auto token = static_cast<std::size_t>(batch.token_offset[first]);
    s.node.gradient(batch, w.pack, dx, w.trace, slot.node.data(), dinput == nullptr ? nullptr : dinput + token * s.shape.width);
  };
  s.with_workers(threads_, slots, [&](Worker& w, std::size_t k) {
    Slot& slot = s.slots[k];
    s.clear(slot);
    for (std::size_t p = k * count / slots; p < (k + 1) * count / slots; ++p)
      run_pack(w, slot, packs[p], packs[p + 1]);
  });

  Slot& total = s.slots[0];
  constexpr std::size_t kPiece = 16384;
  const std::size_t pieces = (total.encoder.size() + kPiece - 1) / kPiece;
  for_each_on_threads(threads_, pieces, [&](std::size_t piece) {
    for (std::size_t k = 1; k < slots; ++k)
      for (std::size_t i = piece * kPiece; i < std::min((piece + 1) * kPiece, total.encoder.size()); ++i)
        total.encoder[i] += s.slots[k].encoder[i];
  });
  const std::vector<std::vector<float>*> small = total.small();
  for (std::size_t k = 1; k < slots; ++k) {
    const std::vector<std::vector<float>*> others = s.slots[k].small();
    for (std::size_t p = 0; p < small.size(); ++p)
      for (std::size_t i = 0; i < small[p]->size(); ++i) (*small[p])[i] += (*others[p])[i];
  }
  s.weights.add_gradients(total.encoder.data(), gradients, threads_);
  s.node.add_gradients(total.node.data(), gradients);
  s.head.add_gradients(total.head.data(), gradients);
  for (std::size_t t = 0; t < s.terms.size(); ++t) s.terms.add_gradients(t, total.terms[t].data(), gradients);
}

}  // namespace

std::string why_unusable(Precision precision) {
  if (precision == Precision::tf32) return "tf32 is for GPUs";
  if (precision == Precision::bf16 && !has_bf16()) return "this processor has no bfloat16 products (AVX512_BF16)";
  return {};
}

}  // namespace molgraph::cpu

namespace molgraph {

std::unique_ptr<Engine> make_cpu_engine(const ModelPlan& plan, int threads, Precision precision) {
  if (const std::string reason = cpu::why_unusable(precision); !reason.empty()) throw std::invalid_argument(reason);
  return std::make_unique<cpu::CpuEngine>(plan, threads, precision);
}

}  // namespace molgraph

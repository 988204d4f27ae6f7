#include "attention/cpu/model.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "attention/cpu/absolute.hpp"
#include "attention/cpu/head.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/node_input.hpp"
#include "attention/cpu/parallel.hpp"
#include "attention/cpu/path.hpp"
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

TensorLookup within(const TensorLookup& tensors, const std::string& prefix) {
  return [&tensors, prefix](const std::string& name) { return tensors(prefix + name); };
}
GradientLookup within(const GradientLookup& gradients, const std::string& prefix) {
  return [&gradients, prefix](const std::string& name) { return gradients(prefix + name); };
}

const ModelPlan& checked(const ModelPlan& plan) {
  check_plan(plan);
  return plan;
}

/// What the weights in use serve.
enum class Ready : std::uint8_t { nothing, prediction, training };

/// Gradients of all parts, flat.
struct Slot {
  std::vector<float> encoder, node, head, path;
  std::vector<std::vector<float>> gate_path, absolute;
  std::vector<std::vector<float>*> all() {
    std::vector<std::vector<float>*> parts{&encoder, &node, &head, &path};
    for (auto& part : gate_path) parts.push_back(&part);
    for (auto& part : absolute) parts.push_back(&part);
    return parts;
  }
};

/// What one thread needs.
struct Worker {
  explicit Worker(const EncoderShape& shape) : encoder(shape) {}
  Pack pack;
  Encoder encoder;
  NodeInput::Trace trace;
  std::vector<LevelPart> levels;
  std::vector<float> graph, dgraph, walks, path, dpath;
  std::vector<std::vector<float>> bias, gate, dbias, dgate;   ///< by layer, or one for all
};

struct State {
  explicit State(const ModelPlan& given)
      : plan(checked(given)),
        parameters(parameters_of(plan)),
        shape(plan.encoder, plan.classes.topology.count(), plan.classes.edge.count()),
        weights(shape),
        node(plan, shape),
        head(shape.width, static_cast<std::size_t>(plan.outputs), plan.head) {
    const EncoderOptions& o = plan.encoder;
    const auto heads = static_cast<std::size_t>(o.heads);
    if (plan.path_hops > 0) path.emplace(plan.features, heads, static_cast<std::size_t>(plan.path_hops));
    if (o.gate.enabled && o.gate.path_hops > 0)
      gate_path.assign(o.gate.per_layer ? static_cast<std::size_t>(o.layers) : 1,
                       HopTable(plan.features, heads, static_cast<std::size_t>(o.gate.path_hops)));
    if (o.terms.absolute_bias)
      absolute.assign(o.share_encodings ? 1 : static_cast<std::size_t>(o.layers),
                      AbsoluteBias(heads, static_cast<std::size_t>(o.position_dim)));
  }

  /// Where set k of the gate's path term, or of the absolute bias, has its parameters.
  std::string gate_owner(std::size_t k) const { return owner_of(plan.encoder.gate.per_layer, k); }
  std::string absolute_owner(std::size_t k) const { return owner_of(!plan.encoder.share_encodings, k); }
  static std::string owner_of(bool per_layer, std::size_t k) {
    return per_layer ? "encoder.layers." + std::to_string(k) + "." : "encoder.";
  }

  std::size_t pack_tokens() const { return shape.width <= kNarrow ? kNarrowTokens : kWideTokens; }
  std::size_t slot_count() const {
    return std::bit_floor(std::clamp<std::size_t>(kSlotBytes / (weights.layout().size() * sizeof(float)), 2, kSlots));
  }

  void clear(Slot& slot) const {
    slot.encoder.assign(weights.layout().size(), 0.0f);
    slot.node.assign(node.gradient_size(), 0.0f);
    slot.head.assign(head.gradient_size(), 0.0f);
    slot.path.assign(path ? path->size() : 0, 0.0f);
    slot.gate_path.resize(gate_path.size());
    for (std::size_t k = 0; k < gate_path.size(); ++k) slot.gate_path[k].assign(gate_path[k].size(), 0.0f);
    slot.absolute.resize(absolute.size());
    for (std::size_t k = 0; k < absolute.size(); ++k) slot.absolute[k].assign(absolute[k].gradient_size(), 0.0f);
  }

  PairInputs pair_inputs(const GraphBatch& batch, Worker& w) const {
    PairInputs inputs;
    const std::size_t floats = w.pack.pairs * shape.heads;
    if (path || !gate_path.empty()) w.levels = level_parts(batch, w.pack);
    if (path) {
      w.path.resize(floats);
      path->values(batch, w.pack, w.levels, w.path.data());
    }
    if (absolute.empty() && path) inputs.bias.push_back(w.path.data());
    if (!absolute.empty()) pack_positions(batch, w.pack, NodePosition::random_walk, plan.encoder.position_dim, {}, w.walks);
    w.bias.resize(absolute.size());
    for (std::size_t k = 0; k < absolute.size(); ++k) {
      if (path) w.bias[k] = w.path;
      else w.bias[k].assign(floats, 0.0f);
      absolute[k].add_bias(batch, w.pack, w.walks.data(), w.bias[k].data());
      inputs.bias.push_back(w.bias[k].data());
    }
    w.gate.resize(gate_path.size());
    for (std::size_t k = 0; k < gate_path.size(); ++k) {
      w.gate[k].resize(floats);
      gate_path[k].values(batch, w.pack, w.levels, w.gate[k].data());
      inputs.gate.push_back(w.gate[k].data());
    }
    return inputs;
  }

  PairGradients pair_gradients(const PairInputs& inputs, Worker& w) const {
    const auto zeros = [&](std::vector<std::vector<float>>& arrays, std::size_t count) {
      std::vector<float*> pointers;
      arrays.resize(count);
      for (auto& array : arrays) {
        array.assign(w.pack.pairs * shape.heads, 0.0f);
        pointers.push_back(array.data());
      }
      return pointers;
    };
    return {zeros(w.dbias, inputs.bias.size()), zeros(w.dgate, inputs.gate.size())};
  }

  void pair_back(const GraphBatch& batch, Worker& w, Slot& slot) const {
    for (std::size_t k = 0; k < absolute.size(); ++k)
      absolute[k].gradient(batch, w.pack, w.walks.data(), w.dbias[k].data(), slot.absolute[k].data());
    if (path) {
      w.dpath = w.dbias[0];
      for (std::size_t k = 1; k < w.dbias.size(); ++k)
        for (std::size_t i = 0; i < w.dpath.size(); ++i) w.dpath[i] += w.dbias[k][i];
      path->values_gradient(batch, w.pack, w.levels, w.dpath.data(), slot.path.data());
    }
    for (std::size_t k = 0; k < gate_path.size(); ++k)
      gate_path[k].values_gradient(batch, w.pack, w.levels, w.dgate[k].data(), slot.gate_path[k].data());
  }

  /// Node input and encoder of molecules [first, last); `graph` of the worker is the result.
  PackInput forward(const GraphBatch& batch, std::size_t first, std::size_t last, const RandomMode& random,
                    const float* perturbation, const std::vector<KeptStates>& kept, bool keep_activations, Worker& w) const {
    w.pack.load(batch, first, last, shape, plan.classes);
    const auto token = static_cast<std::size_t>(batch.token_offset[first]);
    node.forward(batch, w.pack, random, perturbation == nullptr ? nullptr : perturbation + token * shape.width, w.trace,
                 w.encoder.input(w.pack.tokens));
    std::vector<KeptLayer> wanted;
    for (const KeptStates& k : kept) wanted.push_back({k.layer, k.states + token * shape.width});
    w.graph.resize(w.pack.size() * shape.stride);
    PackInput input{&w.pack, batch.row.data() + first, pair_inputs(batch, w), random, keep_activations};
    w.encoder.forward(weights, input, wanted, w.graph.data());
    return input;
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
  std::optional<HopTable> path;
  std::vector<HopTable> gate_path;        ///< one, or one per layer
  std::vector<AbsoluteBias> absolute;     ///< one, or one per layer
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
  s.weights.assign(within(tensors, "encoder."), training, threads_, precision_);
  s.node.assign(tensors);
  s.head.assign(within(tensors, "head."));
  const auto assign_hops = [&](HopTable& table, const std::string& prefix) {
    table.assign(tensors(prefix + "bond"), tensors(prefix + "hop_weight"));
  };
  if (s.path) assign_hops(*s.path, "path.");
  for (std::size_t k = 0; k < s.gate_path.size(); ++k) assign_hops(s.gate_path[k], s.gate_owner(k) + "gate_path.");
  for (std::size_t k = 0; k < s.absolute.size(); ++k) s.absolute[k].assign(within(tensors, s.absolute_owner(k) + "absolute."));
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
    const PackInput input = s.forward(batch, first, last, random, perturbation, {}, true, w);
    w.dgraph.assign(w.graph.size(), 0.0f);
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t at = (b - first) * s.shape.stride;
      s.head.gradient(w.graph.data() + at, [&](const float* y, float* dy) { loss(b, y, dy); }, scaled + b * outputs(),
                      w.dgraph.data() + at, slot.head.data());
    }
    const PackGradient gradient{slot.encoder.data(), s.pair_gradients(input.pairs, w)};
    const float* dx = w.encoder.backward(s.weights, w.dgraph.data(), gradient);
    s.pair_back(batch, w, slot);
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
  const std::vector<std::vector<float>*> parts = total.all();
  constexpr std::size_t kPiece = 16384;
  const std::size_t pieces = (total.encoder.size() + kPiece - 1) / kPiece;
  for_each_on_threads(threads_, pieces, [&](std::size_t piece) {
    for (std::size_t k = 1; k < slots; ++k)
      for (std::size_t i = piece * kPiece; i < std::min((piece + 1) * kPiece, total.encoder.size()); ++i)
        total.encoder[i] += s.slots[k].encoder[i];
  });
  for (std::size_t k = 1; k < slots; ++k) {
    const std::vector<std::vector<float>*> others = s.slots[k].all();
    for (std::size_t p = 1; p < parts.size(); ++p)
      for (std::size_t i = 0; i < parts[p]->size(); ++i) (*parts[p])[i] += (*others[p])[i];
  }
  s.weights.add_gradients(total.encoder.data(), within(gradients, "encoder."), threads_);
  s.node.add_gradients(total.node.data(), gradients);
  s.head.add_gradients(total.head.data(), within(gradients, "head."));
  const auto hops_back = [&](const HopTable& table, const std::vector<float>& slope, const std::string& prefix) {
    table.add_gradients(slope.data(), gradients(prefix + "bond"), gradients(prefix + "hop_weight"));
  };
  if (s.path) hops_back(*s.path, total.path, "path.");
  for (std::size_t k = 0; k < s.gate_path.size(); ++k) hops_back(s.gate_path[k], total.gate_path[k], s.gate_owner(k) + "gate_path.");
  for (std::size_t k = 0; k < s.absolute.size(); ++k)
    s.absolute[k].add_gradients(total.absolute[k].data(), within(gradients, s.absolute_owner(k) + "absolute."));
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

#include "apps/scoring/path_integral.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "apps/scoring/explanation_file.hpp"
#include "apps/scoring/model_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Pairs of tokens in one call of an engine: large enough to make the cost per call (clearing the gradients of all
/// weights) negligible, small enough to limit memory.
constexpr std::int64_t kPairsPerCall = 131'072;

std::int64_t pairs_of(const GraphView& graph) {
  const std::int64_t tokens = graph.num_atoms + 1;
  return tokens * tokens;
}

TensorLookup lookup_in(const SafetensorsFile& file) {
  return
      [&file](const std::string& name) { return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data()); };
}

}  // namespace

Quadrature gauss_legendre(int count) {
  Quadrature rule{std::vector<double>(static_cast<std::size_t>(count)),
                  std::vector<double>(static_cast<std::size_t>(count))};
  for (int k = 0; k < count; ++k) {
    double x = std::cos(std::numbers::pi * (k + 0.75) / (count + 0.5)), slope = 0;  // start of Newton's method
    for (int step = 0; step < 100; ++step) {
      double previous = 1, value = x;  // P_0, P_1 and the recurrence
      for (int n = 2; n <= count; ++n)
        previous = std::exchange(value, ((2 * n - 1) * x * value - (n - 1) * previous) / n);
      slope = count * (x * value - previous) / (x * x - 1);
      const double correction = value / slope;
      x -= correction;
      if (std::abs(correction) < 1e-15) break;
    }
    const auto at = static_cast<std::size_t>(count - 1 - k);
    rule.node[at] = (1 + x) / 2;
    rule.weight[at] = 1 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

/// An engine for one thread, returned by the destructor.
class PathIntegral::BorrowedEngine {
 public:
  explicit BorrowedEngine(const PathIntegral& owner) : owner_(owner) {
    {
      const std::lock_guard lock(owner.mutex_);
      if (!owner.idle_.empty()) {
        engine_ = std::move(owner.idle_.back());
        owner.idle_.pop_back();
      }
    }
    if (!engine_) engine_ = owner.new_engine();
  }
  ~BorrowedEngine() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.idle_.push_back(std::move(engine_));
  }
  BorrowedEngine(const BorrowedEngine&) = delete;
  BorrowedEngine& operator=(const BorrowedEngine&) = delete;
  Engine& operator*() const { return *engine_; }

 private:
  const PathIntegral& owner_;
  std::unique_ptr<Engine> engine_;
};

PathIntegral::PathIntegral(const std::string& weights)
    : file_(explanation_file_of(weights)), weights_(read_model_file(weights)) {
  if (file_.empty())
    throw UsageError(
        weights + " cannot be explained: its folder does not contain " + kExplanationFile +
        ". The run is pre-trained or imported, or the file was removed (resuming the finished run writes it again)");
  const ModelConfig config = read_model_config(weights_, weights);
  plan_ = model_plan(config);
  rows_ = std::make_unique<const NodeRows>(plan_, lookup_in(weights_));
  mean_ = read_node_mean(file_, config).row;
}

std::unique_ptr<Engine> PathIntegral::new_engine() const {
  std::unique_ptr<Engine> engine = make_engine(plan_);
  engine->assign(lookup_in(weights_), true);
  return engine;
}

std::vector<std::vector<double>> PathIntegral::differences(std::span<const GraphView> graphs) const {
  const std::vector<std::int64_t> numbers(graphs.size());
  PackOptions options;
  options.inputs = plan_.head.inputs;
  const GraphBatch batch = pack(graphs, numbers, options);
  std::vector<std::vector<double>> all;
  for (std::size_t m = 0; m < graphs.size(); ++m) {
    all.push_back(rows_->of(batch, m));
    for (std::size_t i = 0; i < all.back().size(); ++i) all.back()[i] -= mean_[i % mean_.size()];
  }
  return all;
}

void PathIntegral::run(const MoleculeGroup& group, std::span<const PathTask> tasks, std::span<const Copy> copies,
                       Engine& engine, std::vector<PathPart>& parts) const {
  std::vector<GraphView> graphs;
  for (const Copy& copy : copies) graphs.push_back(group.graphs[tasks[copy.task].molecule]);
  GraphBatch batch = pack(graphs, std::vector<std::int64_t>(graphs.size()), engine.pack_options());
  std::fill(batch.inputs.begin(), batch.inputs.end(), 0.0f);
  const std::size_t width = mean_.size(), outputs = engine.outputs();
  const auto rows_of = [&](const Copy& copy) -> const std::vector<double>& {
    return group.rows[tasks[copy.task].molecule];
  };
  const auto first_row = [&](std::size_t k) { return static_cast<std::size_t>(batch.token_offset[k] + 1) * width; };
  std::vector<float> moved(static_cast<std::size_t>(batch.num_tokens()) * width), slopes(moved.size()),
      scaled(copies.size() * outputs);
  for (std::size_t k = 0; k < copies.size(); ++k) {
    const std::vector<double>& x = rows_of(copies[k]);
    for (std::size_t i = 0; i < x.size(); ++i) moved[first_row(k) + i] = static_cast<float>((copies[k].a - 1) * x[i]);
  }
  const LossSlope slope = [&](std::size_t k, const float*, float* to) {
    std::ranges::copy(tasks[copies[k].task].slope, to);
  };
  const GradientLookup no_gradients = [](const std::string&) { return nullptr; };
  engine.gradients(batch, {}, slope, scaled.data(), no_gradients, moved.data(), slopes.data());
  for (std::size_t k = 0; k < copies.size(); ++k) {
    PathPart& part = parts[copies[k].task];
    if (copies[k].weight == 0) part.end.assign(&scaled[k * outputs], &scaled[k * outputs] + outputs);
    const std::vector<double>& x = rows_of(copies[k]);
    for (std::size_t i = 0; i < x.size(); ++i)
      part.atoms[i / width] += copies[k].weight * x[i] * static_cast<double>(slopes[first_row(k) + i]);
  }
}

std::vector<PathPart> PathIntegral::integrate(const MoleculeGroup& group, std::span<const PathTask> tasks) const {
  static const Quadrature rule = gauss_legendre(kPathNodes);
  std::vector<PathPart> parts(tasks.size());
  std::vector<Copy> copies;
  std::int64_t pairs = 0;
  const BorrowedEngine engine(*this);
  const auto flush = [&] {
    if (!copies.empty()) run(group, tasks, copies, *engine, parts);
    copies.clear();
    pairs = 0;
  };
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const PathTask& task = tasks[t];
    const double length = task.to - task.from;
    parts[t].atoms.resize(static_cast<std::size_t>(group.graphs[task.molecule].num_atoms));
    for (std::size_t k = 0; k < rule.node.size() && length > 0; ++k)
      copies.push_back({t, task.from + length * rule.node[k], length * rule.weight[k]});
    copies.push_back({t, task.to, 0});
    pairs += pairs_of(group.graphs[task.molecule]) * (kPathNodes + 1);
    if (pairs >= kPairsPerCall) flush();
  }
  flush();
  return parts;
}

}  // namespace molgraph

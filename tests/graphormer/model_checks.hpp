// Checks that hold for every model of the toolkit. The tests of Graphormer, GRPE and all models use them.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "attention/reference/graph_model.hpp"
#include "tests/featurize/small_graphs.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {

inline constexpr double kExact = 1e-10;  // float64 sums in a different order

/// `rows` [B]: the molecules' row numbers, which are the keys of their random numbers; 0, 1, ... if empty.
inline GraphBatch batch_for(const GraphModel& model, const std::vector<MolecularGraph>& graphs,
                            std::vector<std::int64_t> rows = {}) {
  std::vector<GraphView> views;
  std::vector<std::vector<float>> inputs;
  for (const MolecularGraph& graph : graphs) {  // the head's extra inputs depend on the size of the molecule
    inputs.push_back(input_numbers(model.pack_options().inputs, static_cast<std::size_t>(graph.num_atoms())));
    views.push_back(graph.view());
    views.back().num_inputs = model.pack_options().inputs;
    views.back().inputs = inputs.back().data();
  }
  if (rows.empty()) {
    rows.resize(graphs.size());
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
  }
  return pack(views, rows, model.pack_options());
}

/// [B] predictions.
inline torch::Tensor predict(GraphModel& model, const std::vector<MolecularGraph>& graphs, const ForwardMode& mode = {},
                             const std::vector<std::int64_t>& rows = {}) {
  torch::NoGradGuard no_grad;
  return model.run(batch_for(model, graphs, rows), mode).values.select(1, 0);
}

/// Float64 with random parameters N(0, scale), LayerNorms and gates around one. In fresh models, terms that start at
/// zero would not be tested.
inline void randomise(GraphModel& model, double scale = 0.3) {
  model.to(torch::kFloat64);
  torch::manual_seed(20220613);
  torch::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    item->normal_(0.0, scale);
    if (item.key().ends_with("_norm.weight") || model.specs().at(item.key()).is_gate()) item->add_(1.0);
  }
}

inline double largest(const torch::Tensor& x) { return x.abs().max().item<double>(); }

/// A connected graph with rings, different atoms and tied paths, and a second fragment of two atoms.
inline MolecularGraph random_graph(int atoms, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<int, int>> bonds;
  for (int a = 1; a < atoms - 2; ++a) bonds.emplace_back(static_cast<int>(random() % static_cast<unsigned>(a)), a);
  bonds.emplace_back(atoms - 2, atoms - 1);
  for (int k = 0; k < atoms / 2; ++k) {
    const int a = static_cast<int>(random() % static_cast<unsigned>(atoms - 2)), b = (a + 3) % (atoms - 2);
    const std::pair<int, int> bond{std::min(a, b), std::max(a, b)};
    if (a != b && std::find(bonds.begin(), bonds.end(), bond) == bonds.end()) bonds.push_back(bond);
  }
  return graph_of(atoms, bonds);
}

inline MolecularGraph salt() { return graph_of(5, {{0, 1}, {1, 2}, {2, 0}}); }  // a ring and two isolated atoms

inline std::vector<MolecularGraph> assorted() {
  return {graph_of(1, {}), cubane(), salt(), cyclobutane(), chain_of(40), random_graph(17, 1), chain_of(2)};
}

/// Predictions must not depend on the numbering of the atoms or on the order of the bonds. Returns the largest relative
/// difference.
inline double expect_renumbering_invariance(GraphModel& model, double tolerance = kExact) {
  double seen = 0;
  std::mt19937 random(5);
  for (const MolecularGraph& graph : {cubane(), cyclobutane(), salt(), random_graph(12, 2), random_graph(25, 3)}) {
    std::vector<int> order(static_cast<std::size_t>(graph.num_atoms()));
    std::iota(order.begin(), order.end(), 0);
    const torch::Tensor expected = predict(model, {graph});
    for (int k = 0; k < 5; ++k) {
      std::shuffle(order.begin(), order.end(), random);
      const double difference =
          largest(predict(model, {renumbered(graph, order)}) - expected) / std::max(1.0, largest(expected));
      EXPECT_LT(difference, tolerance) << graph.num_atoms() << " atoms";
      seen = std::max(seen, difference);
    }
  }
  return seen;
}

/// A molecule must have the same prediction alone and in a batch, also in training: random numbers depend on its row.
inline void expect_batch_independence(GraphModel& model, double tolerance = kExact) {
  const std::vector<MolecularGraph> graphs = assorted();
  const std::vector<std::int64_t> rows{100, 7, 3, 42, 8, 5, 6};
  torch::Tensor evaluated;
  for (const bool training : {false, true}) {
    const ForwardMode mode{.training = training, .seed = 9, .step = 4, .keep_layers = {}};
    const torch::Tensor together = predict(model, graphs, mode, rows);
    for (std::size_t k = 0; k < graphs.size(); ++k) {
      const torch::Tensor alone = predict(model, {graphs[k]}, mode, {rows[k]});
      EXPECT_LT(largest(alone[0] - together[static_cast<std::int64_t>(k)]), tolerance) << "molecule " << k;
    }
    if (training) {
      EXPECT_GT(largest(together - evaluated), 1e-3);  // dropout is on
      EXPECT_GT(largest(predict(model, graphs, {.training = true, .seed = 9, .step = 5}, rows) - together), 1e-3);
      EXPECT_GT(largest(predict(model, graphs, mode) - together), 1e-3);  // other rows have other random numbers
    }
    evaluated = together;
  }
}

/// One atom, isolated atoms, 100 and 300 atoms: predictions and gradients must be finite and predictions different.
inline void expect_unusual_molecules(GraphModel& model) {
  std::vector<double> seen;
  for (const MolecularGraph& graph : {graph_of(1, {}), graph_of(2, {}), salt(), chain_of(100), random_graph(300, 4)}) {
    model.zero_grad();
    const torch::Tensor value = model.run(batch_for(model, {graph}), {}).values;
    value.sum().backward();
    EXPECT_TRUE(value.isfinite().all().item<bool>()) << graph.num_atoms();
    for (const torch::Tensor& parameter : model.parameters()) {
      if (!parameter.grad().defined()) continue;
      EXPECT_TRUE(parameter.grad().isfinite().all().item<bool>()) << graph.num_atoms();
    }
    seen.push_back(value.item<double>());
  }
  std::sort(seen.begin(), seen.end());
  for (std::size_t k = 1; k < seen.size(); ++k) EXPECT_GT(seen[k] - seen[k - 1], 1e-6);
}

/// True for tables over atom pairs of the last layer. Only the virtual node of that layer is read, so that terms
/// between two atoms have no effect.
inline bool is_unread_pair_table(const GraphModel& model, const std::string& name) {
  static const std::regex pair_table(
      R"(.*\.layers\.(\d+)\.(gate_path|spatial|resistance|absolute\.query_walk|walk|gate_walk|walk_(query|key|value))\b.*)");
  std::smatch found;
  if (!std::regex_match(name, found, pair_table)) return false;
  const std::string next_layer = ".layers." + std::to_string(std::stoi(found[1]) + 1) + ".";
  const std::vector<std::string> names = model.named_parameters().keys();
  return std::none_of(names.begin(), names.end(),
                      [&](const std::string& other) { return other.find(next_layer) != std::string::npos; });
}

/// Compares every parameter's gradient along a random direction with central differences, in training mode (fixed
/// random numbers).
inline void expect_gradients(GraphModel& model) {
  const std::vector<MolecularGraph> graphs{cyclobutane(), salt(), chain_of(6)};
  const GraphBatch batch = batch_for(model, graphs);
  const ForwardMode mode{.training = true, .seed = 1, .step = 2, .keep_layers = {}};
  const auto loss = [&] { return model.run(batch, mode).values.sin().sum(); };
  model.zero_grad();
  loss().backward();
  for (auto& item : model.named_parameters()) {
    ASSERT_TRUE(item->grad().defined()) << item.key();
    torch::NoGradGuard no_grad;
    const torch::Tensor direction = torch::randn_like(*item);
    const double expected = (item->grad() * direction).sum().item<double>(), step = 1e-5;
    item->add_(direction, step);
    const double above = loss().item<double>();
    item->sub_(direction, 2 * step);
    const double below = loss().item<double>();
    item->add_(direction, step);
    EXPECT_NEAR((above - below) / (2 * step), expected, 1e-6 * (1 + std::abs(expected))) << item.key();
    // A key bias adds the same number to all scores of a row, unless a relation term is multiplied with keys.
    if (item.key().ends_with("key.bias") || is_unread_pair_table(model, item.key())) continue;
    EXPECT_GT(largest(item->grad()), 1e-8) << item.key() << " has no effect";
  }
}

/// `values` must be the head's output in the unit of the target.
inline void expect_target_scaling(GraphModel& model) {
  const torch::Tensor raw = predict(model, assorted());
  model.set_target_scaling(torch::tensor({3.0}, torch::kFloat64), torch::tensor({-0.5}, torch::kFloat64));
  EXPECT_LT(largest(predict(model, assorted()) - (3.0 - 0.5 * raw)), kExact);
}

/// Number of parameters of a model with `layers` blocks, extrapolated from one and two blocks to avoid the allocation
/// of large models.
template <class Make>
std::int64_t count_parameters(int layers, Make make) {
  const auto count = [&](int layer_count) {
    std::int64_t total = 0;
    for (const torch::Tensor& parameter : make(layer_count).parameters()) total += parameter.numel();
    return total;
  };
  const std::int64_t one = count(1);
  return one + (layers - 1) * (count(2) - one);
}

}  // namespace molgraph::test

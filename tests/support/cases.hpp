// The molecules, models and numbers for the bench and the tests of every implementation of a model: one table for the
// formula, the reference, the kernels and the engines. Does not use LibTorch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "attention/spec/encodings.hpp"
#include "attention/spec/model_options.hpp"
#include "attention/spec/parameters.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::test {

// --- molecules ---

/// A molecule and the property that it tests.
struct MoleculeCase {
  std::string name;
  MolecularGraph graph;
};

inline void PrintTo(const MoleculeCase& c, std::ostream* out) { *out << c.name; }

using Bonds = std::vector<std::pair<int, int>>;

/// A molecule whose atom and bond columns have many different values.
inline MolecularGraph molecule_of(Features features, int atoms, const Bonds& bonds) {
  const FeatureShape& shape = feature_shape(features);
  MolecularGraph graph;
  graph.features = features;
  for (int a = 0; a < atoms; ++a)
    for (int c = 0; c < shape.atom_columns; ++c)
      graph.atoms.push_back(
          static_cast<std::uint8_t>((5 * a + 3 * c + a * c) % shape.atom_dims[static_cast<std::size_t>(c)]));
  for (std::size_t b = 0; b < bonds.size(); ++b) {
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bonds[b].first));
    graph.bond_atoms.push_back(static_cast<std::uint16_t>(bonds[b].second));
    for (int c = 0; c < shape.bond_columns; ++c)
      graph.bonds.push_back(static_cast<std::uint8_t>(
          (b + static_cast<std::size_t>(c)) % static_cast<std::size_t>(shape.bond_dims[static_cast<std::size_t>(c)])));
  }
  return graph;
}

inline Bonds bonds_of_chain(int atoms) {
  Bonds bonds;
  for (int a = 1; a < atoms; ++a) bonds.emplace_back(a - 1, a);
  return bonds;
}

/// Molecules in increasing size; the largest has 100 atoms.
inline std::vector<MoleculeCase> molecule_cases(Features features = Features::ogb) {
  const auto molecule = [&](const char* name, int atoms, const Bonds& bonds) {
    return MoleculeCase{name, molecule_of(features, atoms, bonds)};
  };
  Bonds cube;
  for (int corner = 0; corner < 8; ++corner)
    for (int bit = 1; bit < 8; bit *= 2)
      if ((corner & bit) == 0) cube.emplace_back(corner, corner | bit);
  return {molecule("one_atom", 1, {}),
          molecule("lone_atoms", 2, {}),                  // two fragments, no bond
          molecule("salt", 5, {{0, 1}, {1, 2}, {2, 0}}),  // a ring and two lone atoms: unreachable pairs
          molecule("two_squares", 6,
                   {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {4, 5}, {5, 3}}),  // ties of two shortest paths
          molecule("cubane", 8, cube),                                         // ties of up to six
          molecule("asymmetric", 11, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {3, 5}, {5, 6}, {6, 7}, {1, 8}, {9, 10}}),
          molecule("hundred_atoms", 100, bonds_of_chain(100))};  // far pairs, long paths
}

/// The `count` numbers of molecule `number` that the head of a model reads: small numbers, some missing (NaN).
inline std::vector<float> input_numbers(int count, std::size_t number) {
  std::vector<float> values;
  for (int d = 0; d < count; ++d) {
    const int k = d + 2 * static_cast<int>(number);
    values.push_back(k % 5 == 4 ? std::nanf("") : static_cast<float>(7 * k % 11 - 5) / 4.0f);
  }
  return values;
}

/// The molecules of a batch; molecule k has row first_row + 3 k.
inline GraphBatch batch_of_cases(const std::vector<MoleculeCase>& molecules, const PackOptions& options = {},
                                 std::int64_t first_row = 0) {
  std::vector<GraphView> views;
  std::vector<std::int64_t> rows;
  std::vector<std::vector<float>> inputs;
  for (const MoleculeCase& molecule : molecules) {
    rows.push_back(first_row + 3 * static_cast<std::int64_t>(views.size()));
    inputs.push_back(input_numbers(options.inputs, views.size()));
    views.push_back(molecule.graph.view());
    views.back().num_inputs = options.inputs;
    views.back().inputs = inputs.back().data();
  }
  return pack(views, rows, options);
}

// --- models ---

/// A model; `model_plan(options)` is its plan.
struct PlanCase {
  std::string name;
  ModelOptions options;
};

inline void PrintTo(const PlanCase& c, std::ostream* out) { *out << c.name; }

/// Ties some rows of both tables, as published models do.
inline ClassMaps tied_classes(Features features, int max_distance) {
  const TopologyClasses topology{max_distance};
  const EdgeClasses edge{feature_shape(features).bond_ids};
  ClassMaps maps;
  for (int t = 0; t < topology.count(); ++t) maps.topology.push_back(t);
  for (int e = 0; e < edge.count(); ++e) maps.edge.push_back(e);
  maps.topology[static_cast<std::size_t>(topology.far())] = max_distance;
  maps.topology[static_cast<std::size_t>(topology.virtual_to_atom())] = topology.atom_to_virtual();
  maps.topology[static_cast<std::size_t>(topology.virtual_self())] = 0;
  maps.edge[static_cast<std::size_t>(edge.self())] = edge.no_edge();
  maps.edge[1] = 0;
  return maps;
}

/// Neither Graphormer nor GRPE. Supports any set of options and has the specification's own initial numbers.
inline const Architecture& case_architecture() {
  static const Architecture architecture{
      .name = "case",
      .title = "case",
      .published_classes = &tied_classes,
      .initial = [](const ParameterSpec&, const EncoderOptions&) { return std::optional<Initialisation>(); }};
  return architecture;
}

/// Two layers, width 12 in three heads, L = 3, two outputs; dropout everywhere.
inline ModelOptions small_model(Features features = Features::ogb) {
  ModelOptions o;
  o.architecture = &case_architecture();
  o.features = features;
  o.encoder = {.layers = 2, .width = 12, .ffn = 10, .heads = 3};
  o.encoder.activation_dropout = o.encoder.input_dropout = 0.1;
  o.max_distance = 3;
  o.outputs = 2;
  return o;
}

/// small_model() with an encoding. Encodings with a path bias have degrees and paths, the others have noise.
inline ModelOptions small_model(const Encoding& encoding, Features features = Features::ogb) {
  ModelOptions o = small_model(features);
  set_encoding(o.encoder, encoding);
  o.encoder.position_dim = std::min(o.encoder.position_dim, 5);
  o.path_bias = encoding.path_bias;
  if (encoding.path_bias) {
    o.path_hops = 4;
    o.max_degree = 2;
  } else {
    o.perturb_noise = 0.2;
  }
  return o;
}

/// Every encoding without a gate, with URPE's gate, with the gate's ReLU and path term and tables per layer, and with
/// gates per layer.
inline std::vector<PlanCase> encoding_cases() {
  std::vector<PlanCase> cases;
  for (const Encoding& encoding : encodings()) {
    std::string name(encoding.name);
    std::replace(name.begin(), name.end(), '-', '_');
    ModelOptions o = small_model(encoding);
    cases.push_back({name, o});
    o.encoder.gate = {.enabled = true, .walk = has_walks(encoding)};
    cases.push_back({name + "_urpe", o});
    o.encoder.gate = {.enabled = true, .relu = true, .path_hops = 3, .walk = has_walks(encoding)};
    o.encoder.share_encodings = false;
    cases.push_back({name + "_urpe_path_relu", o});
    o.encoder.gate = {.enabled = true, .per_layer = true, .path_hops = 2, .walk = has_walks(encoding)};
    o.encoder.share_encodings = true;
    cases.push_back({name + "_urpe_per_layer", o});
  }
  return cases;
}

/// Options that no encoding sets: LayerNorms, heads, key terms, masks, path rules, tied rows, feature sets, odd widths.
inline std::vector<PlanCase> shape_cases() {
  std::vector<PlanCase> cases;
  const auto add = [&](const char* name, const char* encoding, const auto& change, Features features = Features::ogb) {
    ModelOptions o = small_model(encoding_from_string(encoding), features);
    o.encoder.gate.enabled = true;
    change(o);
    cases.push_back({name, o});
  };
  add("post_ln", "graphormer", [](ModelOptions& o) { o.encoder.post_ln = true; });
  add("graphormer_v2", "graphormer", [](ModelOptions& o) {
    o.encoder.post_ln = o.encoder.input_norm = o.head.transform = true;
    o.spatial_pos_max = 4;
  });
  add("no_final_norm", "grpe", [](ModelOptions& o) { o.encoder.final_norm = false; });
  add("last_mlp", "grpe", [](ModelOptions& o) { o.head.last_mlp = 2; });
  add("inputs", "grpe", [](ModelOptions& o) {
    o.head.inputs = 7;
    o.head.mixed = 9;
  });
  add("scaled_inputs", "graphormer", [](ModelOptions& o) {
    o.encoder.post_ln = o.encoder.input_norm = o.head.transform = true;
    o.head.inputs = 3;
    o.head.mixed = 20;
    o.input_scaling = std::make_shared<InputScaling>(InputScaling{{0.5, -1, 0}, {2, 0, 0.25}, 1.5});
  });
  add("key_by_row", "grpe", [](ModelOptions& o) {
    o.encoder.key_term = KeyTerm::row;
    o.published_classes = true;
  });
  add("one_path", "graphormer", [](ModelOptions& o) { o.path_rule = PathRule::single; });
  add("one_hop", "graphormer", [](ModelOptions& o) { o.path_hops = 1; });
  add("neighbours_only", "grpe", [](ModelOptions& o) { o.spatial_pos_max = 2; });
  add("all_terms", "grpe", [](ModelOptions& o) {
    o.encoder.terms = {true, true, true, true, true, true, true, true, true, true};
    o.encoder.key_term = KeyTerm::reverse;
    o.encoder.score_terms = 3;
    o.encoder.position_dim = 3;
    o.path_bias = true;
    o.path_hops = 2;
    o.max_degree = 1;
  });
  add(
      "zinc", "graphormer", [](ModelOptions&) {}, Features::zinc);
  add(
      "molgraph", "graphormer", [](ModelOptions&) {}, Features::molgraph);
  const auto size = [](int layers, int width, int ffn, int heads) {
    return [=](ModelOptions& o) {
      o.encoder.layers = layers;
      o.encoder.width = width;
      o.encoder.ffn = ffn;
      o.encoder.heads = heads;
    };
  };
  add("one_head", "grpe", size(2, 10, 7, 1));
  add("narrow_heads", "grpe", size(2, 6, 3, 6));
  add("wide_head", "graphormer", size(1, 40, 33, 2));
  add("many_heads", "grpe", size(1, 36, 20, 12));
  add("sum_readout", "grpe", [](ModelOptions& o) { o.encoder.readout = Readout::sum; });
  add("mean_readout", "graphormer", [](ModelOptions& o) {
    o.encoder.readout = Readout::mean;
    o.encoder.post_ln = true;
  });
  add("degree_scaler", "grpe", [](ModelOptions& o) { o.encoder.degree_scaler = true; });
  add("walks_alone", "grpe-walk", [](ModelOptions& o) {
    o.encoder.terms = {.walk_query = true, .walk_value = true};
    o.encoder.gate.walk = false;
    o.encoder.position_dim = 11;  // more than the kernels process at once
  });
  add("walks_of_many_heads", "grpe-walk", size(1, 36, 20, 12));
  add("walks_of_narrow_heads", "grpe-walk", size(1, 20, 7, 2));  // of 10 channels: kernels of their own on a GPU
  add("walks_of_wide_heads", "grpe-walk", size(1, 32, 20, 2));
  add("paths_and_rings", "grpe-walk", [](ModelOptions& o) {
    o.encoder.pair_paths = o.encoder.pair_rings = true;
    o.encoder.gate.walk = true;
  });
  add("paths_alone", "graphormer-walk", [](ModelOptions& o) {
    o.encoder.position_dim = 0;
    o.encoder.pair_paths = true;
  });
  return cases;
}

/// Models with pair states, which the CUDA engine does not have.
inline std::vector<PlanCase> pair_state_cases() {
  std::vector<PlanCase> cases;
  const auto add = [&](const char* name, const char* encoding, int width, const auto& change) {
    ModelOptions options = small_model(encoding_from_string(encoding));
    options.encoder.gate.enabled = true;
    options.encoder.pair_state = width;
    change(options);
    cases.push_back({name, options});
  };
  add("pair_states", "grpe-walk", 20, [](ModelOptions& o) { o.encoder.layers = 3; });
  add("pair_states_of_many_heads", "graphormer", 32, [](ModelOptions& o) {
    o.encoder.width = 36;
    o.encoder.heads = 12;
  });
  add("pair_states_alone", "grpe", 5, [](ModelOptions& o) {
    o.encoder.terms = {};
    o.encoder.gate = {};
    o.encoder.readout = Readout::sum;
    o.spatial_pos_max = 3;
  });
  add("pair_states_of_one_layer", "grpe", 16, [](ModelOptions& o) { o.encoder.layers = 1; });
  add("pair_states_post_ln", "graphormer", 24, [](ModelOptions& o) {
    o.encoder.post_ln = true;
    o.encoder.share_encodings = false;
    o.encoder.gate = {.enabled = true, .relu = true, .per_layer = true};
    o.spatial_pos_max = 4;
  });
  return cases;
}

/// encoding_cases() and shape_cases().
inline std::vector<PlanCase> plain_cases() {
  std::vector<PlanCase> cases = encoding_cases();
  for (PlanCase& c : shape_cases()) cases.push_back(std::move(c));
  return cases;
}

/// plain_cases() and pair_state_cases().
inline std::vector<PlanCase> plan_cases() {
  std::vector<PlanCase> cases = plain_cases();
  for (PlanCase& c : pair_state_cases()) cases.push_back(std::move(c));
  return cases;
}

// --- numbers ---

using Numbers = std::map<std::string, std::vector<float>>;

/// A number for every element of every parameter: about normal with standard deviation `scale`. The mean is 1 for
/// LayerNorm's gains and the gates, else 0. The numbers depend only on name, index and seed, and are floats, so that
/// every implementation has the same numbers.
inline Numbers parameter_numbers(const ParameterList& list, double scale = 0.3, std::uint64_t seed = 1) {
  Numbers numbers;
  for (const ParameterSpec& spec : list) {
    std::uint64_t key = seed;
    for (const char letter : spec.name) key = 1099511628211u * (key ^ static_cast<std::uint8_t>(letter));
    std::mt19937_64 random(key);
    const double mean = spec.role == ParameterRole::norm_weight || spec.role == ParameterRole::gate ? 1.0 : 0.0;
    std::vector<float>& values = numbers[spec.name];
    for (std::int64_t k = 0; k < spec.size(); ++k) {
      double sum = 0;  // of twelve uniform numbers: standard deviation 1
      for (int part = 0; part < 12; ++part) sum += std::ldexp(static_cast<double>(random() >> 11), -53);
      values.push_back(static_cast<float>(mean + scale * (sum - 6.0)));
    }
  }
  return numbers;
}

}  // namespace molgraph::test

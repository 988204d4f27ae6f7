// Every preset of --encoding in several variants, with the options that molgraph-train would use.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "attention/reference/graph_model.hpp"
#include "attention/spec/encodings.hpp"
#include "graphormer/architecture.hpp"
#include "grpe/architecture.hpp"

namespace molgraph::test {

struct ModelCase {
  std::string name;
  const Encoding* encoding = nullptr;
  GateOptions gate;
  bool own_tables = false;  ///< each layer has separate tables
};

inline void PrintTo(const ModelCase& c, std::ostream* out) { *out << c.name; }

inline std::vector<ModelCase> every_model() {
  std::vector<ModelCase> cases;
  for (const Encoding& encoding : encodings()) {
    std::string name(encoding.name);
    std::replace(name.begin(), name.end(), '-', '_');
    const bool walk = has_walks(encoding);
    cases.push_back({name, &encoding, {}, !encoding.share});
    cases.push_back({name + "_urpe", &encoding, {.enabled = true, .walk = walk}, !encoding.share});
    cases.push_back(
        {name + "_urpe_path_relu", &encoding, {.enabled = true, .relu = true, .path_hops = 3, .walk = walk}, true});
    cases.push_back({name + "_urpe_per_layer",
                     &encoding,
                     {.enabled = true, .per_layer = true, .path_hops = 2, .walk = walk},
                     false});
  }
  return cases;
}

/// Two layers, width 12 in three heads, L = 3. `change` modifies the encoder options.
template <class Change>
std::unique_ptr<GraphModel> make_model(const ModelCase& c, Change change, Features features = Features::ogb) {
  EncoderOptions e{.layers = 2, .width = 12, .ffn = 10, .heads = 3};
  e.activation_dropout = 0.1, e.input_dropout = 0.1;
  set_encoding(e, *c.encoding);
  e.position_dim = std::min(e.position_dim, 5);
  e.gate = c.gate;
  e.share_encodings = !c.own_tables;
  change(e);
  ModelOptions options = c.encoding->path_bias ? graphormer_architecture().defaults : grpe_architecture().defaults;
  options.features = features;
  options.encoder = e;
  options.max_distance = 3;
  if (c.encoding->path_bias) options.max_degree = 5, options.path_hops = 4;
  else options.perturb_noise = 0.2;
  return std::make_unique<GraphModel>(options);
}

inline std::unique_ptr<GraphModel> make_model(const ModelCase& c) {
  return make_model(c, [](EncoderOptions&) {});
}

}  // namespace molgraph::test

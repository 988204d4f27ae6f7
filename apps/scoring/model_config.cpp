#include "apps/scoring/model_config.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "apps/scoring/architectures.hpp"
#include "apps/scoring/model_limits.hpp"
#include "attention/spec/pair_states.hpp"
#include "attention/spec/terms.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using nlohmann::json;

// Each struct lists its fields once; `Visitor` writes or reads them.
template <class Options, class Visitor>
void visit_encoder(Options& o, Visitor&& field) {
  field("layers", o.layers);
  field("width", o.width);
  field("ffn", o.ffn);
  field("heads", o.heads);
  field("post_ln", o.post_ln);
  field("input_norm", o.input_norm);
  field("final_norm", o.final_norm);
  field("key_term", o.key_term);
  field("score_terms", o.score_terms);
  field("bias", o.terms.bias);
  field("topology_query", o.terms.topology_query);
  field("topology_key", o.terms.topology_key);
  field("topology_value", o.terms.topology_value);
  field("edge_query", o.terms.edge_query);
  field("edge_key", o.terms.edge_key);
  field("edge_value", o.terms.edge_value);
  field("global_bias", o.terms.global_bias);
  field("absolute_bias", o.terms.absolute_bias);
  field("position", o.position);
  field("position_dim", o.position_dim);
  field("share_encodings", o.share_encodings);
  field("gate", o.gate.enabled);
  field("gate_relu", o.gate.relu);
  field("gate_per_layer", o.gate.per_layer);
  field("gate_path_hops", o.gate.path_hops);
  field("dropout", o.dropout);
  field("attention_dropout", o.attention_dropout);
  field("activation_dropout", o.activation_dropout);
  field("input_dropout", o.input_dropout);
  field("untie_virtual", o.untie_virtual);
  field("resistance", o.terms.resistance);
  field("walk_bias", o.terms.walk_bias);
  field("walk_query", o.terms.walk_query);
  field("walk_key", o.terms.walk_key);
  field("walk_value", o.terms.walk_value);
  field("gate_walk", o.gate.walk);
  field("readout", o.readout);
  field("degree_scaler", o.degree_scaler);
  field("pair_paths", o.pair_paths);
  field("pair_rings", o.pair_rings);
  field.later("pair_state", o.pair_state);
}

template <class Options, class Visitor>
void visit_imported(Options& o, Visitor&& field) {
  field("missing_atoms", o.missing.atoms);
  field("missing_bonds", o.missing.bonds);
  field("missing_topology", o.missing.topology);
  field("origin", o.published.origin);
  field("origin_head", o.published.head);
  field("origin_atoms", o.published.atoms);
  field("origin_bonds", o.published.bonds);
  field("origin_degrees", o.published.degrees);
  field("origin_distances", o.published.distances);
  field("origin_hops", o.published.hops);
  field("origin_fused_projection", o.published.fused_projection);
}

/// The fields outside the encoder. Fields that only some architectures have are listed in Architecture.
template <class Options, class Visitor>
void visit_model(Options& o, Visitor&& field) {
  const auto optional_field = [&](const char* key, auto& value) {
    if (o.architecture->has(key)) field(key, value);
  };
  field("max_distance", o.max_distance);
  optional_field("max_degree", o.max_degree);
  optional_field("path_bias", o.path_bias);
  optional_field("path_hops", o.path_hops);
  optional_field("path_rule", o.path_rule);
  optional_field("spatial_pos_max", o.spatial_pos_max);
  field("published_classes", o.published_classes);
  optional_field("head_transform", o.head.transform);
  optional_field("last_mlp", o.head.last_mlp);
  optional_field("perturb_noise", o.perturb_noise);
  visit_imported(o, field);
}

// The names of each enumeration's values, in order.
constexpr std::array kKeyTerms{"column", "row", "reverse"};
constexpr std::array kPathRules{"mean", "single"};
constexpr std::array kNodePositions{"none", "laplacian", "random_walk"};
constexpr std::array kReadouts{"virtual_node", "sum", "mean"};

json to_value(KeyTerm v) { return kKeyTerms[static_cast<std::size_t>(v)]; }
json to_value(PathRule v) { return kPathRules[static_cast<std::size_t>(v)]; }
json to_value(NodePosition v) { return kNodePositions[static_cast<std::size_t>(v)]; }
json to_value(Readout v) { return kReadouts[static_cast<std::size_t>(v)]; }
template <class T>
json to_value(const T& v) {
  return v;
}

struct ObjectWriter {
  json& object;

  template <class T>
  void operator()(const char* key, const T& value) const {
    object[key] = to_value(value);
  }
  /// A field that older versions do not have: written unless it has the default.
  template <class T>
  void later(const char* key, const T& value) const {
    if (value != T()) (*this)(key, value);
  }
};

/// Reads the fields of one JSON object. Every key must be present, except later(), and no other.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string name, std::string where)
      : object_(object), name_(std::move(name)), where_(std::move(where)) {
    if (!object_.is_object()) fail("is not an object");
  }

  template <class T>
  void operator()(const char* key, T& value) {
    seen_.insert(key);
    if (!object_.contains(key)) fail(std::string("lacks '") + key + "'");
    read(key, object_.at(key), value);
  }
  template <class T>
  void later(const char* key, T& value) {
    value = T();
    if (object_.contains(key)) (*this)(key, value);
  }

  void finish() const {
    for (const auto& item : object_.items()) {
      if (!seen_.contains(item.key())) fail("has the unknown key '" + item.key() + "'");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(where_ + ": the model's configuration (" + name_ + ") " + what);
  }

 private:
  template <class T>
  void read(const char* key, const json& value, T& out) const {
    try {
      out = value.get<T>();
    } catch (const json::exception&) {
      fail(std::string("has a value of the wrong type for '") + key + "'");
    }
  }
  void read(const char* key, const json& value, KeyTerm& out) const {
    out = enum_value<KeyTerm>(key, value, kKeyTerms);
  }
  void read(const char* key, const json& value, PathRule& out) const {
    out = enum_value<PathRule>(key, value, kPathRules);
  }
  void read(const char* key, const json& value, NodePosition& out) const {
    out = enum_value<NodePosition>(key, value, kNodePositions);
  }
  void read(const char* key, const json& value, Readout& out) const {
    out = enum_value<Readout>(key, value, kReadouts);
  }
  template <class Enum, std::size_t N>
  Enum enum_value(const char* key, const json& value, const std::array<const char*, N>& names) const {
    std::string allowed;
    for (std::size_t k = 0; k < N; ++k) {
      if (value == names[k]) return static_cast<Enum>(k);
      allowed += std::string(k ? ", " : "") + names[k];
    }
    fail(std::string("'") + key + "' must be one of " + allowed);
  }

  const json& object_;
  std::string name_, where_;
  std::set<std::string> seen_;
};

void check_range(const ObjectReader& reader, const char* key, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    reader.fail(std::string("'") + key + "' is out of range: " + std::to_string(value));
  }
}

void check(const ObjectReader& reader, const ModelOptions& o) {
  const EncoderOptions& e = o.encoder;
  check_range(reader, "layers", e.layers, 1, kMaxLayers);
  check_range(reader, "heads", e.heads, 1, kMaxHeads);
  check_range(reader, "width", e.width, 1, kMaxWidth);
  check_range(reader, "ffn", e.ffn, 1, kMaxFfn);
  if (e.width % e.heads != 0) reader.fail("'width' is not a multiple of 'heads'");
  for (double p : {e.dropout, e.attention_dropout, e.activation_dropout, e.input_dropout}) {
    check_range(reader, "dropout", p, 0.0, kMaxDropout);
  }
  check_range(reader, "score_terms", e.score_terms, 1, 16);
  check_range(reader, "gate_path_hops", e.gate.path_hops, 0, kMaxDistance);
  check_range(reader, "position_dim", e.position_dim, uses_position_dim(e) && !e.pair_paths && !e.pair_rings ? 1 : 0,
              weights_pair_vectors(e) ? kMaxWalkSteps : kMaxPositions);
  check_range(reader, "pair_state", e.pair_state, 0, kMaxPairState);
  if ((e.pair_paths || e.pair_rings) && !uses_pair_vectors(e))
    reader.fail("has 'pair_paths' or 'pair_rings', which no component uses");
  if (e.terms.global_bias && !e.terms.topology_query) reader.fail("has 'global_bias' without 'topology_query'");
  if (e.terms.walk_key && e.key_term != KeyTerm::column)
    reader.fail("has 'walk_key', which requires the 'key_term' column");
  check_range(reader, "max_distance", o.max_distance, 1, kMaxDistance);
  const auto check_optional = [&](const char* key, double value, double low, double high) {
    if (o.architecture->has(key)) check_range(reader, key, value, low, high);
  };
  check_optional("path_hops", o.path_hops, 1, kMaxDistance);
  check_optional("max_degree", o.max_degree, 0, kMaxDistance);
  check_optional("spatial_pos_max", o.spatial_pos_max, 0, kMaxSpatialPos);
  check_optional("last_mlp", o.head.last_mlp, 0, 100);
  check_optional("perturb_noise", o.perturb_noise, 0, kMaxNoise);
}

/// The head's numeric inputs; null without any.
json inputs_json(const ModelConfig& config) {
  if (config.input_names.empty()) return nullptr;
  const InputScaling scaling = config.model.input_scaling ? *config.model.input_scaling : InputScaling{};
  return {{"names", config.input_names},
          {"center", scaling.center},
          {"scale", scaling.scale},
          {"clip", scaling.clip},
          {"mixed", config.model.head.mixed}};
}

void read_inputs(const json& inputs, ModelConfig& config, const std::string& where) {
  InputScaling scaling;
  ObjectReader reader(inputs, "inputs", where);
  reader("names", config.input_names);
  reader("center", scaling.center);
  reader("scale", scaling.scale);
  reader("clip", scaling.clip);
  reader("mixed", config.model.head.mixed);
  reader.finish();
  const std::size_t count = config.input_names.size();
  if (count == 0 || count > kMaxInputs) reader.fail("has no inputs or too many");
  if (scaling.center.size() != count || scaling.scale.size() != count)
    reader.fail("'center' and 'scale' do not match 'names'");
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(scaling.center.begin(), scaling.center.end(), finite) ||
      !std::all_of(scaling.scale.begin(), scaling.scale.end(), [](double s) { return std::isfinite(s) && s >= 0; }))
    reader.fail("has an invalid number in 'center' or 'scale'");
  check_range(reader, "clip", scaling.clip, 0, 1e9);
  check_range(reader, "mixed", config.model.head.mixed, 1, kMaxWidth);
  const auto descriptors = descriptor_names();
  if (config.featurizer.descriptors == DescriptorSet::rdkit &&
      (count < descriptors.size() || !std::equal(descriptors.begin(), descriptors.end(), config.input_names.begin())))
    reader.fail("'names' does not begin with the descriptors of this version");
  config.model.head.inputs = static_cast<int>(count);
  config.model.input_scaling = std::make_shared<const InputScaling>(std::move(scaling));
}

}  // namespace

std::span<const std::string> ModelConfig::input_columns() const {
  const std::size_t computed = featurizer.descriptors == DescriptorSet::rdkit ? descriptor_names().size() : 0;
  return std::span(input_names).subspan(std::min(computed, input_names.size()));
}

std::string to_json(const ModelConfig& config) {
  json encoder, specific;
  visit_encoder(config.model.encoder, ObjectWriter{encoder});
  visit_model(config.model, ObjectWriter{specific});
  json task = {{"kind", to_string(config.task.kind)},
               {"names", config.task.names},
               {"units", config.task.units},
               {"classes", config.task.classes},
               {"class_labels", config.task.class_labels},
               {"kinds", json::array()}};
  for (const TaskKind kind : config.task.kinds) task["kinds"].push_back(to_string(kind));  // mixed tasks only
  if (!config.task.logarithmic.empty()) task["logarithmic"] = config.task.logarithmic;
  return json{
      {"version", 1},        {"model", config.model.architecture->name},         {"encoder", encoder},
      {"options", specific}, {"featurizer", config.featurizer.canonical_text()}, {"inputs", inputs_json(config)},
      {"task", task}}
      .dump();
}

ModelConfig model_config_from_json(const std::string& text, const std::string& where) {
  const json all = json::parse(text, nullptr, false);
  if (all.is_discarded()) throw FileError(where + ": the model's configuration is not JSON");
  ModelConfig config;
  int version = 0;
  std::string model, featurizer, kind;
  json encoder, specific, task, inputs;
  ObjectReader top(all, "top level", where);
  top("version", version);
  if (version != 1) top.fail("has version " + std::to_string(version) + "; this program reads version 1");
  top("model", model);
  top("encoder", encoder);
  top("options", specific);
  top("featurizer", featurizer);
  top("task", task);
  top("inputs", inputs);
  top.finish();
  const Architecture* architecture = find_architecture(model);
  if (architecture == nullptr) top.fail("names the unknown model '" + model + "'");
  config.model = architecture->defaults;
  config.featurizer = FeaturizerOptions::from_canonical_text(featurizer);

  ObjectReader encoder_reader(encoder, "encoder", where);
  visit_encoder(config.model.encoder, encoder_reader);
  encoder_reader.finish();
  ObjectReader specific_reader(specific, model, where);
  visit_model(config.model, specific_reader);
  specific_reader.finish();
  check(encoder_reader, config.model);

  if (!inputs.is_null()) read_inputs(inputs, config, where);
  else if (config.featurizer.descriptors != DescriptorSet::none) top.fail("has descriptors but no inputs");

  ObjectReader task_reader(task, "task", where);
  task_reader("kind", kind);
  task_reader("names", config.task.names);
  task_reader("units", config.task.units);
  task_reader("classes", config.task.classes);
  task_reader("class_labels", config.task.class_labels);
  std::vector<std::string> kinds;
  task_reader("kinds", kinds);
  if (task.contains("logarithmic")) task_reader("logarithmic", config.task.logarithmic);
  task_reader.finish();
  config.task.kind = task_kind_from_string(kind);
  if (config.task.names.empty()) task_reader.fail("has no target");
  if (config.task.units.size() != config.task.names.size()) task_reader.fail("'units' does not match 'names'");
  for (const std::string& one : kinds) {
    if (one != "regression" && one != "binary") task_reader.fail("has a target of unsupported kind '" + one + "'");
    config.task.kinds.push_back(task_kind_from_string(one));
  }
  if (kinds.size() != (config.task.kind == TaskKind::mixed ? config.task.names.size() : 0))
    task_reader.fail("'kinds' does not match 'kind' and 'names'");
  if (const std::size_t size = config.task.logarithmic.size(); size > 0 && size != config.task.names.size())
    task_reader.fail("'logarithmic' does not match 'names'");
  for (std::size_t t = 0; t < config.task.names.size(); ++t)
    if (config.task.is_logarithmic(t) && config.task.kind_of(t) != TaskKind::regression)
      task_reader.fail("has a logarithmic target that is not a regression target");
  if (config.task.kind == TaskKind::multiclass) check_range(task_reader, "classes", config.task.classes, 2, 100000);
  config.model.features = config.featurizer.features;
  config.model.outputs = config.task.num_outputs();
  return config;
}

}  // namespace molgraph

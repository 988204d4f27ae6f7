#include "attention/spec/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "attention/spec/node_positions.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph {
namespace {

using Kind = Initialisation::Kind;
using Shape = std::vector<std::int64_t>;

constexpr double kTableDeviation = 0.02;

std::int64_t sum(const auto& dims) { return std::accumulate(dims.begin(), dims.end(), std::int64_t{0}); }

/// Builds the list in the order of calls.
class ListBuilder {
 public:
  ListBuilder(const EncoderOptions& encoder, Features features, int topology_classes, int edge_classes)
      : o_(encoder), shape_(feature_shape(features)), topology_(topology_classes), edge_(edge_classes) {}

  void add(const std::string& name, Shape shape, ParameterRole role, Initialisation initial) {
    all_.push_back({name, std::move(shape), role, initial});
  }
  void linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias = true) {
    const double root = std::sqrt(static_cast<double>(in));
    const double bound =
        std::sqrt(3.0) * (std::sqrt(2.0 / (1.0 + 5.0)) / root);  // 1/root, rounded as LibTorch's kaiming_uniform_ does
    add(name + ".weight", {out, in}, ParameterRole::linear_weight, {Kind::uniform, bound});
    if (bias) add(name + ".bias", {out}, ParameterRole::linear_bias, {Kind::uniform, 1.0 / root});
  }
  void norm(const std::string& name) {
    add(name + ".weight", {o_.width}, ParameterRole::norm_weight, {Kind::constant, 1});
    add(name + ".bias", {o_.width}, ParameterRole::norm_bias, {});
  }

  void node(int max_degree) {
    add("node.atom", {sum(shape_.atom_dims), o_.width}, ParameterRole::embedding, {Kind::normal, 1});
    add("node.virtual_node", {o_.width}, ParameterRole::embedding, {});
    if (max_degree < 0) return;
    for (const char* name : {"in_degree", "out_degree"})
      add(name, {max_degree + 1, o_.width}, ParameterRole::embedding, {});
  }

  void pair_term(const PairTerm& term) {
    const bool gate = term.fills == TermFills::gate;
    const ParameterRole role = gate ? ParameterRole::gate_term : ParameterRole::pair_term;
    const std::int64_t heads = o_.heads;
    switch (term.kind) {
      case PairTerm::Kind::path:
        add(term.prefix + "bond", {sum(shape_.bond_dims), heads}, role, {Kind::normal, 1});
        // A gate starts at one. If both factors were zero, their gradients would stay zero.
        add(term.prefix + "hop_weight", {term.size, heads, heads}, role, {Kind::normal, gate ? 0.0 : 1.0});
        break;
      case PairTerm::Kind::absolute: {
        const Initialisation initial{
            Kind::normal, 1.0 / std::sqrt(static_cast<double>(kAbsoluteRank))};  // standard deviation of P_Q.P_K: 1/8
        for (const char* part : {"query_row", "key_row"})
          add(term.prefix + part, {kAbsoluteRows, heads * kAbsoluteRank}, role, initial);
        for (const char* part : {"query_walk", "key_walk"})
          add(term.prefix + part, {term.size, heads * kAbsoluteRank}, role, initial);
        break;
      }
      case PairTerm::Kind::resistance:  // as published
        for (const char* part : {"mean", "width"}) add(term.prefix + part, {term.size}, role, {Kind::positive, 3});
        add(term.prefix + "weight", {term.size, heads}, role, {Kind::normal, kTableDeviation});
        break;
      case PairTerm::Kind::walk:  // a gate starts at one
        add(term.prefix + "weight", {term.size, heads}, role, {Kind::normal, gate ? 0.0 : kTableDeviation});
        break;
    }
  }

  /// The tables and terms of one layer or, for layer -1, those that all layers share.
  void encodings(const std::string& prefix, int layer) {
    const std::string owner = owner_prefix(prefix, layer);
    const bool shared = layer < 0;
    const std::vector<PairTerm> terms = encoder_pair_terms(o_, prefix);
    const auto add_terms = [&](TermFills fills) {
      for (const PairTerm& term : terms)
        if (term.layer == layer && term.fills == fills) pair_term(term);
    };
    if (o_.share_encodings == shared)
      for (const RelationTable& table : relation_tables(o_)) this->table(owner, table);
    add_terms(TermFills::bias);
    if (o_.gate.per_layer != shared)
      for (const RelationTable& table : gate_tables(o_)) this->table(owner, table);
    add_terms(TermFills::gate);
  }

  /// The rows that a pair's state begins with.
  void first_pair_states(const std::string& prefix) {
    const auto table = [&](const char* name, std::int64_t rows) {
      add(prefix + "pair_states." + name, {rows, o_.pair_state}, ParameterRole::pair_state, {Kind::normal, 1});
    };
    table("topology", topology_);
    table("edge", edge_);
    if (weights_pair_vectors(o_)) table("vector", o_.pair_vector().size());
  }

  void pair_states_of_layer(const std::string& owner, bool last) {
    const auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns, std::int64_t inputs) {
      add(owner + name, {rows, columns}, ParameterRole::pair_state,
          {Kind::uniform, 1.0 / std::sqrt(static_cast<double>(inputs))});
    };
    matrix("bias", o_.heads, o_.pair_state, o_.pair_state);
    matrix("value", o_.pair_state, o_.width, o_.pair_state);
    if (last) return;
    matrix("update", 2 * o_.heads, o_.pair_state, 2 * o_.heads);
    add(owner + "update_bias", {o_.pair_state}, ParameterRole::pair_state, {});
  }

  void encoder(const std::string& prefix) {
    encodings(prefix, -1);
    if (o_.pair_state > 0) first_pair_states(prefix);
    if (o_.position != NodePosition::none) linear(prefix + "position", o_.pair_vector().size(), o_.width, false);
    if (o_.input_norm) norm(prefix + "input_norm");
    for (int k = 0; k < o_.layers; ++k) {
      const std::string layer = owner_prefix(prefix, k);
      norm(layer + "attention_norm");
      norm(layer + "ffn_norm");
      for (const char* part : {"query", "key", "value", "output"})
        linear(layer + "attention." + part, o_.width, o_.width);
      if (o_.degree_scaler) {
        add(layer + "attention.scale", {o_.width}, ParameterRole::degree_scale, {Kind::constant, 1});
        add(layer + "attention.degree_scale", {o_.width}, ParameterRole::degree_scale, {});
      }
      if (o_.pair_state > 0) pair_states_of_layer(layer + "pair_states.", k + 1 == o_.layers);
      linear(layer + "ffn.linear1", o_.width, o_.ffn);
      linear(layer + "ffn.linear2", o_.ffn, o_.width);
      encodings(prefix, k);
    }
    if (!o_.post_ln && o_.final_norm) norm(prefix + "final_norm");
  }

  void head(const HeadOptions& head, int outputs) {
    for (int k = 0; k < head.last_mlp; ++k) linear("head.last_mlp." + std::to_string(k) + ".0", o_.width, o_.width);
    if (head.transform) {
      linear("head.transform", o_.width, o_.width);
      norm("head.transform_norm");
    }
    if (head.inputs > 0) {
      add("head.stand_in", {head.inputs}, ParameterRole::stand_in, {});
      linear("head.mix", o_.width + head.inputs, head.mixed);
    }
    linear("head.linear", head.inputs > 0 ? head.mixed : o_.width, outputs);
  }

  ParameterList take() { return ParameterList(std::move(all_)); }

 private:
  void table(const std::string& owner, const RelationTable& table) {
    const std::int64_t classes = table.row == RelationTable::Row::edge   ? edge_
                                 : table.row == RelationTable::Row::walk ? o_.pair_vector().size()
                                                                         : topology_;
    switch (table.fills) {
      case TermFills::bias:  // the last three classes (VIRTUAL) may share a row
        add(owner + table.name, {o_.untie_virtual ? classes : classes - 2, o_.heads}, ParameterRole::class_bias, {});
        break;
      case TermFills::gate:
        add(owner + table.name, {classes, o_.heads}, ParameterRole::gate, {Kind::constant, 1});
        break;
      default:
        if (table.row == RelationTable::Row::all) {  // u and v; v becomes a bias by class
          for (const char* name : {"content_bias", "position_bias"})
            add(owner + name, {o_.width}, ParameterRole::shared_query, {});
        } else {
          add(owner + table.name, {classes, o_.width}, ParameterRole::relation_rows, {Kind::normal, kTableDeviation});
        }
    }
  }

  const EncoderOptions& o_;
  const FeatureShape& shape_;
  std::int64_t topology_, edge_;
  std::vector<ParameterSpec> all_;
};

}  // namespace

std::int64_t ParameterSpec::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

ParameterList::ParameterList(std::vector<ParameterSpec> all) : all_(std::move(all)) {
  for (std::size_t k = 0; k < all_.size(); ++k) by_name_.emplace(all_[k].name, k);
}

const ParameterSpec* ParameterList::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

const ParameterSpec& ParameterList::at(std::string_view name) const {
  const ParameterSpec* spec = find(name);
  if (spec == nullptr) throw std::invalid_argument("the model has no parameter " + std::string(name));
  return *spec;
}

std::int64_t ParameterList::numbers() const {
  std::int64_t count = 0;
  for (const ParameterSpec& spec : all_) count += spec.size();
  return count;
}

ParameterList encoder_parameters(const EncoderOptions& options, int topology_classes, int edge_classes,
                                 Features features, const std::string& prefix) {
  ListBuilder builder(options, features, topology_classes, edge_classes);
  builder.encoder(prefix);
  return builder.take();
}

ParameterList parameters_of(const ModelPlan& plan) {
  ListBuilder builder(plan.encoder, plan.features, plan.classes.topology.count(), plan.classes.edge.count());
  builder.node(plan.max_degree);
  for (const PairTerm& term : pair_terms(plan))
    if (!term.prefix.starts_with("encoder.")) builder.pair_term(term);
  builder.encoder("encoder.");
  builder.head(plan.head, plan.outputs);
  return builder.take();
}

}  // namespace molgraph

// The parameters of a model: one list that modules, engines, optimiser, files and imports read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// What a parameter is to the model.
enum class ParameterRole : std::uint8_t {
  linear_weight,  ///< [out, in]
  linear_bias,    ///< [out]
  norm_weight,    ///< LayerNorm's gain [C]
  norm_bias,      ///< [C]
  embedding,      ///< rows added to the node input: atom columns, degrees [rows, C]; the virtual node's [C]
  class_bias,     ///< b by topology class [T, H]
  relation_rows,  ///< PQ, PK, PV [T, C], EQ, EK, EV [E, C]
  shared_query,   ///< u and v in place of a query [C] (Dai et al. 2019)
  gate,           ///< C by topology class [T, H]
  pair_term,      ///< of a term of pair_terms() that is added to the scores' bias
  gate_term,      ///< of a term of pair_terms() that is added to the gate
  degree_scale,   ///< what z is multiplied with: alone, and by the logarithm of the degree [C]
  stand_in,       ///< what a missing input of the head is taken for [D]
};

/// What a parameter starts as, before a model's own rules (graphormer/, grpe/): LibTorch's defaults for Linear and
/// LayerNorm.
struct Initialisation {
  enum class Kind : std::uint8_t {
    constant,  ///< `value`
    normal,    ///< N(0, value)
    uniform,   ///< in (-value, value)
    positive,  ///< uniform in (0, value)
  };
  Kind kind = Kind::constant;
  double value = 0;

  bool operator==(const Initialisation&) const = default;
};

struct ParameterSpec {
  std::string name;                 ///< "encoder.layers.0.attention.query.weight"
  std::vector<std::int64_t> shape;  ///< row-major
  ParameterRole role = ParameterRole::linear_weight;
  Initialisation initial;

  std::int64_t size() const;
  /// AdamW's decay applies to the weights of Linear layers only, unless all parameters are asked for.
  bool decays() const { return role == ParameterRole::linear_weight; }
  /// The gate, or a term of it.
  bool is_gate() const { return role == ParameterRole::gate || role == ParameterRole::gate_term; }
  /// The task head's: what stays when the encoder is frozen.
  bool in_head() const { return name.starts_with("head."); }
};

/// In the order in which a model draws its initial numbers.
class ParameterList {
 public:
  ParameterList() = default;
  explicit ParameterList(std::vector<ParameterSpec> all);

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  /// Null: the model has no such parameter.
  const ParameterSpec* find(std::string_view name) const;
  /// std::invalid_argument instead.
  const ParameterSpec& at(std::string_view name) const;
  /// Numbers in all of them.
  std::int64_t numbers() const;

 private:
  std::vector<ParameterSpec> all_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

/// Of the encoder alone, its names beginning with `prefix`. T and E: `topology_classes`, `edge_classes`.
///     layers.K.attention.{query,key,value,output}.{weight,bias}   [C, C], [C]
///     layers.K.attention.{scale,degree_scale}  [C], [C]
///     layers.K.ffn.linear1.{weight,bias}  [F, C], [F];  layers.K.ffn.linear2.{weight,bias}  [C, F], [C]
///     layers.K.{attention_norm,ffn_norm}.{weight,bias}  [C];  final_norm.{weight,bias}  [C] (pre-LN)
///     spatial [T, H] (or [T - 2, H]: EncoderOptions::untie_virtual), topology_{query,key,value} [T, C],
///     edge_{query,key,value} [E, C]: in layers.K when share_encodings is off
///     content_bias, position_bias  [C];  absolute.*: in layers.K when share_encodings is off
///     resistance.{mean,width} [K], resistance.weight [K, H]: in layers.K when share_encodings is off
///     gate [T, H], gate_path.*: in layers.K when gate.per_layer
///     input_norm.{weight,bias}  [C];  position.weight  [C, pair_vector().size()]
/// Each exists only if its term is on.
ParameterList encoder_parameters(const EncoderOptions& options, int topology_classes, int edge_classes,
                                 Features features, const std::string& prefix = "");

/// Of a whole model:
///     node.atom [sum of atom_dims, C], the tables of all columns one after the other; node.virtual_node [C]
///     in_degree, out_degree [max_degree + 1, C]
///     path.bond [sum of bond_dims, H], path.hop_weight [hops, H, H], hop p at row p - 1, input head first
///     encoder.*
///     head.last_mlp.K.0.{weight,bias}, head.transform.{weight,bias}, head.transform_norm.{weight,bias},
///     head.stand_in [D], head.mix.weight [mixed, C + D], head.mix.bias [mixed], head.linear.{weight,bias}
ParameterList parameters_of(const ModelPlan& plan);

}  // namespace molgraph

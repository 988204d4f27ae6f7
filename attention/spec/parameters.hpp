// The parameters of a model: one list for modules, engines, the optimiser, model files and imports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// The purpose of a parameter.
enum class ParameterRole : std::uint8_t {
  linear_weight,  ///< [out, in]
  linear_bias,    ///< [out]
  norm_weight,    ///< gain of a LayerNorm [C]
  norm_bias,      ///< [C]
  embedding,      ///< rows added to the node input: atom columns, degrees [rows, C]; the virtual node's vector [C]
  class_bias,     ///< b by topology class [T, H]
  relation_rows,  ///< PQ, PK, PV [T, C], EQ, EK, EV [E, C]
  shared_query,   ///< u and v in place of a query [C] (Dai et al. 2019)
  gate,           ///< C by topology class [T, H]
  pair_term,      ///< parameter of a term of pair_terms() that is added to the scores' bias
  gate_term,      ///< parameter of a term of pair_terms() that is added to the gate
  degree_scale,   ///< a and b of EncoderOptions::degree_scaler [C]
  pair_state,     ///< tables and matrices of EncoderOptions::pair_state
  stand_in,       ///< values that replace missing inputs of the head [D]
};

/// The initial values of a parameter, before an architecture's own rules (graphormer/, grpe/): LibTorch's defaults for
/// Linear and LayerNorm.
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
  /// True for weights of Linear layers: by default, AdamW's decay applies only to these.
  bool decays() const { return role == ParameterRole::linear_weight; }
  /// True for the gate and its terms.
  bool is_gate() const { return role == ParameterRole::gate || role == ParameterRole::gate_term; }
  /// True for the task head, which is trained even if the encoder is frozen.
  bool in_head() const { return name.starts_with("head."); }
};

/// Parameters in the order in which a model draws their initial values.
class ParameterList {
 public:
  ParameterList() = default;
  explicit ParameterList(std::vector<ParameterSpec> all);

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  /// Returns null if the model has no such parameter.
  const ParameterSpec* find(std::string_view name) const;
  /// Throws std::invalid_argument if the model has no such parameter.
  const ParameterSpec& at(std::string_view name) const;
  /// Total number of values.
  std::int64_t numbers() const;

 private:
  std::vector<ParameterSpec> all_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

/// The parameters of the encoder; their names begin with `prefix`. T and E are `topology_classes` and `edge_classes`.
///     layers.K.attention.{query,key,value,output}.{weight,bias}   [C, C], [C]
///     layers.K.attention.{scale,degree_scale}  [C], [C]
///     layers.K.ffn.linear1.{weight,bias}  [F, C], [F];  layers.K.ffn.linear2.{weight,bias}  [C, F], [C]
///     layers.K.{attention_norm,ffn_norm}.{weight,bias}  [C];  final_norm.{weight,bias}  [C] (pre-LN)
///     spatial [T, H] (or [T - 2, H]: EncoderOptions::untie_virtual), topology_{query,key,value} [T, C],
///     edge_{query,key,value} [E, C]: in layers.K if share_encodings is off
///     content_bias, position_bias  [C];  absolute.*: in layers.K if share_encodings is off
///     resistance.{mean,width} [K], resistance.weight [K, H]: in layers.K if share_encodings is off
///     gate [T, H], gate_path.*: in layers.K if gate.per_layer
///     pair_states.topology [T, S], pair_states.edge [E, S], pair_states.vector [pair_vector().size(), S];
///     layers.K.pair_states.bias [H, S], value [S, C]; update [2H, S], update_bias [S]: not in the last layer
///     input_norm.{weight,bias}  [C];  position.weight  [C, pair_vector().size()]
/// Each exists only if its term is on.
ParameterList encoder_parameters(const EncoderOptions& options, int topology_classes, int edge_classes,
                                 Features features, const std::string& prefix = "");

/// The parameters of a whole model:
///     node.atom [sum of atom_dims, C], the concatenated tables of all columns; node.virtual_node [C]
///     in_degree, out_degree [max_degree + 1, C]
///     path.bond [sum of bond_dims, H], path.hop_weight [hops, H, H], hop p at row p - 1, input head first
///     encoder.*
///     head.last_mlp.K.0.{weight,bias}, head.transform.{weight,bias}, head.transform_norm.{weight,bias},
///     head.stand_in [D], head.mix.weight [mixed, C + D], head.mix.bias [mixed], head.linear.{weight,bias}
ParameterList parameters_of(const ModelPlan& plan);

}  // namespace molgraph

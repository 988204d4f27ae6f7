// The stack of attention blocks both models share, as LibTorch modules on the clear reference.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "attention/reference/absolute_encodings.hpp"
#include "attention/reference/attention.hpp"
#include "attention/reference/dropout.hpp"
#include "attention/reference/forward_mode.hpp"
#include "attention/reference/layout.hpp"
#include "attention/spec/options.hpp"
#include "attention/reference/path_bias.hpp"

namespace molgraph {

/// Sizes of the tables.
struct ClassCounts {
  int topology = 0;                    ///< T
  int edge = 0;                        ///< E
  Features features = Features::ogb;   ///< whose bonds the gate's edge-path term embeds
};

/// The learned relation terms and the gate, of one layer or of all.
struct Encodings {
  RelationTables tables;
  AbsoluteBias absolute{nullptr};   ///< null unless RelationTerms::absolute_bias
  torch::Tensor gate;               ///< [T, H]; undefined if off
  PathBias gate_path{nullptr};      ///< null unless GateOptions::path_hops
};

/// The four projections around the attention operation: query, key, value, output, Linear C -> C each.
class AttentionProjectionsImpl : public torch::nn::Module {
 public:
  explicit AttentionProjectionsImpl(int width);
  /// [tokens, C] -> [tokens, 3*C], query, key and value in one product
  torch::Tensor project(const torch::Tensor& x) const;

  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};
};
TORCH_MODULE(AttentionProjections);

/// linear1 C -> F, exact GELU, linear2 F -> C.
class FeedForwardImpl : public torch::nn::Module {
 public:
  FeedForwardImpl(int width, int ffn);
  /// `activation_factors` [tokens, F]: dropout behind the GELU; undefined = none
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& activation_factors);

  torch::nn::Linear linear1{nullptr}, linear2{nullptr};
};
TORCH_MODULE(FeedForward);

/// One block; layer `index` counts from 0.
class EncoderBlockImpl : public torch::nn::Module {
 public:
  EncoderBlockImpl(const EncoderOptions& options, const ClassCounts& classes, int index);
  /// x [grouped tokens, C] -> the same
  torch::Tensor forward(torch::Tensor x, const AttentionLayout& layout, const BatchTerms& terms,
                        const std::vector<torch::Tensor>& gates, const DropoutMasks& masks);

  torch::nn::LayerNorm attention_norm{nullptr}, ffn_norm{nullptr};
  AttentionProjections attention{nullptr};
  FeedForward ffn{nullptr};
  Encodings own;   ///< what is not shared

 private:
  EncoderOptions options_;
  int index_;
};
TORCH_MODULE(EncoderBlock);

/// Layers of attention and FFN over packed tokens, with the relation tables and the gate (docs/formula.md section 2).
///
/// Parameters, T and E as given, H heads, C width, F ffn; K = 0 .. layers - 1:
///     layers.K.attention.{query,key,value,output}.{weight,bias}   [C, C], [C]
///     layers.K.ffn.linear1.{weight,bias}  [F, C], [F];  layers.K.ffn.linear2.{weight,bias}  [C, F], [C]
///     layers.K.{attention_norm,ffn_norm}.{weight,bias}  [C];  final_norm.{weight,bias}  [C] (pre-LN)
///     spatial [T, H] (or [T - 2, H]: EncoderOptions::untie_virtual), topology_{query,key,value} [T, C],
///     edge_{query,key,value} [E, C]: in layers.K when share_encodings is off
///     content_bias, position_bias  [C];  absolute.*: in layers.K when share_encodings is off
///     gate [T, H], gate_path.*: in layers.K when gate.per_layer
///     input_norm.{weight,bias}  [C];  position.weight  [C, position_dim]
/// Each exists only if its term is on. As constructed: Linear and LayerNorm as LibTorch makes them, tables N(0, 0.02),
/// `spatial`, `content_bias` and `position_bias` zero, gates one and their path terms zero (gate_path.hop_weight); the
/// models set their published initialisation on top.
class EncoderImpl : public torch::nn::Module {
 public:
  /// `topology_classes` T and `edge_classes` E size the tables; `features` names the bonds of the gate's path term.
  EncoderImpl(const EncoderOptions& options, int topology_classes, int edge_classes, Features features = Features::ogb);

  /// x [tokens, C] -> [tokens, C] after the last block and, with pre-LN, the final LayerNorm (on all token rows).
  /// `pair_bias` [P, H] is added to b (the edge-path bias); undefined = none.
  /// `kept` receives copies as ForwardMode::keep_layers asks, in its order.
  torch::Tensor forward(torch::Tensor x, const GraphBatch& batch, const RelationClasses& classes,
                        const torch::Tensor& pair_bias, const ForwardMode& mode, std::vector<torch::Tensor>* kept);

  const EncoderOptions& options() const { return options_; }

  torch::nn::ModuleList layers{nullptr};
  torch::nn::LayerNorm final_norm{nullptr};   ///< null with post-LN or without EncoderOptions::final_norm
  torch::nn::LayerNorm input_norm{nullptr};   ///< null unless EncoderOptions::input_norm
  torch::nn::Linear position{nullptr};        ///< null unless EncoderOptions::position
  Encodings shared;                           ///< what the layers do not have of their own

 private:
  torch::Tensor add_positions(const torch::Tensor& x, const GraphBatch& batch, const ForwardMode& mode) const;

  EncoderOptions options_;
  ClassCounts classes_;
};
TORCH_MODULE(Encoder);

}  // namespace molgraph

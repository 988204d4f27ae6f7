// The encoder's parameters in the layout of the CPU engine: head-innermost, padded and packed for matrix products; and
// the conversion of gradients back to the parameters' layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/cpu/kernels/aligned.hpp"
#include "attention/cpu/kernels/kernels.hpp"
#include "attention/cpu/kernels/pair_states_bf16.hpp"
#include "attention/engine.hpp"
#include "attention/spec/parameters.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cpu {

/// Sizes of the encoder's arrays. H padded heads, d head width; all strides in floats.
struct EncoderShape {
  explicit EncoderShape(const ModelPlan& plan, Precision products = Precision::fp32);

  EncoderOptions options;
  Precision precision;  ///< of the products
  std::size_t topology_classes, edge_classes;
  bool edges;                 ///< a table has a row per edge class
  std::size_t heads;          ///< H, padded
  std::size_t head_width;     ///< d
  std::size_t inner;          ///< d*H: width of queries, keys and values
  std::size_t inner_stride;   ///< stride of each of the three
  std::size_t width, stride;  ///< C and its padding
  std::size_t ffn, ffn_stride;
  std::size_t steps;        ///< columns of the pairs' vectors that weight walk rows; 0 = no table has walk rows
  std::size_t pair_state;   ///< width of the pairs' states, padded; 0 = none
  const Kernels* kernels;   ///< of this model
  std::size_t pair_group;   ///< G, Kernels::states_at_once()
  bool rounds_pairs;        ///< pair_states_bf16.hpp; else the states' products are float32
  std::size_t pair_vector;  ///< columns of the pairs' vectors that the first states contain
  float scale;              ///< alpha
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A relation table (spec/terms.hpp) in the flat buffer: a row per class, with d*H floats, or H floats for bias and
/// gate.
struct PlacedTable {
  TermFills fills = TermFills::bias;
  RelationTable::Row row = RelationTable::Row::topology;
  std::size_t offset = 0;
};
/// The tables of one layer, or those that all layers share, in the order in which their rows are added up.
struct TableSet {
  std::vector<PlacedTable> tables;
  std::size_t position_bias = kNone;  ///< [d*H] Dai et al.'s v, which becomes a bias by topology class
  std::size_t computed_bias = 0;      ///< size of a bias table that has no parameter, only position_bias
  /// Offset of the first table of this kind, or kNone.
  std::size_t find(TermFills fills, RelationTable::Row row = RelationTable::Row::topology) const;
};
/// y = x W + b, W [in, out] with `out` padded.
struct LinearOffsets {
  std::size_t weight = 0, bias = 0, in = 0, in_stride = 0, out_stride = 0;
};
struct LayerOffsets {
  std::size_t attention_norm = 0, ffn_norm = 0;               ///< weight, then bias, [stride] each
  LinearOffsets qkv, output, linear1, linear2;                ///< qkv: three blocks of inner_stride columns
  std::size_t degree_scaler = kNone;                          ///< a, then b, [inner_stride] each
  std::size_t pair_bias = kNone;                              ///< of pair states [H, S]
  std::size_t pair_value = kNone;                             ///< [S/G, d*H, G]; rounded: [H, d, S]
  std::size_t pair_update = kNone, pair_update_bias = kNone;  ///< [2H, S], [S]; kNone in the last layer
  TableSet own;
};

/// The layout of a flat buffer of weights or gradients.
class FlatLayout {
 public:
  FlatLayout(const EncoderShape& shape, const ParameterList& parameters);

  std::vector<LayerOffsets> layers;
  TableSet shared;
  std::size_t final_norm = kNone;
  std::size_t pair_topology = kNone, pair_edge = kNone,
              pair_vector = kNone;  ///< tables [rows, S]; see first_pair_states()
  std::size_t size() const { return size_; }

  /// Copies the parameters that belong to no layer into `flat` [size()]. Padding is not written, so `flat` must begin
  /// with zeros.
  void import_shared(const TensorLookup& tensors, float* flat) const;
  /// Copies the parameters of a layer.
  void import_layer(std::size_t layer, const TensorLookup& tensors, float* flat) const;
  /// Adds the gradients to those of the parameters.
  void add_to(const float* flat, const GradientLookup& gradients, int threads) const;

 private:
  /// Element (parameter_row[e], c) of the parameter is element offset + row[e] + column[c] of the buffer.
  struct Placement {
    std::string name;
    std::size_t offset = 0;
    std::vector<std::size_t> parameter_row, row, column;
  };
  /// The layout of the channels of one side of a Linear.
  enum class Channels : std::uint8_t { plain, by_head };
  struct ChannelMap {
    std::vector<std::size_t> at;  ///< position of each of the parameter's channels
    std::size_t extent, stride;   ///< end of the last channel; padded size
  };
  struct Source {
    const EncoderShape& shape;
    const ParameterList& parameters;
  };
  void import(std::size_t first, std::size_t last, const TensorLookup& tensors, float* flat) const;
  template <class Visit>
  static void for_each_number(const Placement& placement, Visit visit);
  static ChannelMap channels(const Source& from, Channels kind, std::int64_t count);
  void record(const ParameterSpec& spec, std::size_t offset, std::vector<std::size_t> row,
              std::vector<std::size_t> column);
  std::size_t place(const ParameterSpec& spec, std::size_t size, std::vector<std::size_t> row,
                    std::vector<std::size_t> column);
  LinearOffsets linear(const Source& from, const std::string& name, Channels in, Channels out);
  LinearOffsets query_key_value(const Source& from, const std::string& prefix);
  std::size_t norm(const Source& from, const std::string& name);
  TableSet tables(const Source& from, int layer);
  void first_pair_states(const Source& from);
  void pair_states(const Source& from, const std::string& prefix, LayerOffsets& layer);

  std::vector<Placement> placements_;
  std::vector<std::size_t> first_of_layer_;  ///< first placement of each layer, then the end of the last layer
  std::size_t size_ = 0;
};

/// A matrix [depth, columns] packed for products. Only one of the two arrays is filled.
struct PackedMatrix {
  std::size_t depth = 0, columns = 0;
  AlignedVector<float> fp32;
  AlignedVector<std::uint16_t> bf16;
};
/// One Linear, packed for products.
struct PackedLinear {
  PackedMatrix forward, backward;  ///< W [in, out_stride]; W^T [out_stride, in_stride] for the backward pass
  const float* bias = nullptr;
};
struct PackedLayer {
  PackedLinear qkv, output, linear1, linear2;
  AlignedVector<float> pair_bias, pair_update;  ///< transposed: [S/G, H, G], [S, 2H]
  PairWeights pairs;                            ///< with EncoderShape::rounds_pairs
};

/// All arrays derived from one state of the parameters.
class EncoderWeights {
 public:
  EncoderWeights(const EncoderShape& shape, const ParameterList& parameters);
  /// Reads the parameters. `training` also prepares the backward pass.
  void assign(const TensorLookup& tensors, bool training, int threads);
  /// Adds the sum of gradients in `flat` (layout: FlatLayout) to the parameters' gradients. Modifies `flat`.
  void add_gradients(float* flat, const GradientLookup& gradients, int threads) const;

  const FlatLayout& layout() const { return layout_; }
  const PackedLayer& layer(std::size_t k) const { return layers_[k]; }
  /// Pointer to the weights at `offset`; null for kNone.
  const float* at(std::size_t offset) const { return offset == kNone ? nullptr : flat_.data() + offset; }

 private:
  void add_global_bias(const TableSet& set);
  void global_bias_gradient(const TableSet& set, float* flat) const;

  EncoderShape shape_;
  FlatLayout layout_;
  AlignedVector<float> flat_;
  std::vector<PackedLayer> layers_;
};

}  // namespace molgraph::cpu

// The encoder's parameters as the CPU engine wants them: head-innermost, padded, packed for the products; and the way
// of the gradients back to the parameters' own layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/cpu/kernels/kernels.hpp"
#include "attention/engine.hpp"
#include "attention/spec/parameters.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cpu {

/// Sizes that everything follows from. H padded heads, d head width, all strides in floats.
struct EncoderShape {
  explicit EncoderShape(const ModelPlan& plan);

  EncoderOptions options;
  std::size_t topology_classes, edge_classes;
  bool edges;                 ///< some table has a row per edge class
  std::size_t heads;          ///< H, padded
  std::size_t head_width;     ///< d
  std::size_t inner;          ///< d*H: queries, keys, values
  std::size_t inner_stride;   ///< of one of the three
  std::size_t width, stride;  ///< C and its padding
  std::size_t ffn, ffn_stride;
  std::size_t steps;  ///< columns of the pairs' vectors that weight rows; 0 = no table has such rows
  float scale;        ///< alpha
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A relation table (spec/terms.hpp) in the flat buffer: a row per class, of d*H floats, or of H where it fills bias or
/// gate.
struct PlacedTable {
  TermFills fills = TermFills::bias;
  RelationTable::Row row = RelationTable::Row::topology;
  std::size_t offset = 0;
};
/// Those of one layer, or those that all layers share, in the order in which their rows are added up.
struct TableSet {
  std::vector<PlacedTable> tables;
  std::size_t position_bias = kNone;  ///< [d*H] Dai et al.'s v, which becomes a bias by topology class
  /// Offset of the first table of this kind; kNone = there is none.
  std::size_t find(TermFills fills, RelationTable::Row row = RelationTable::Row::topology) const;
};
/// y = x W + b, W [in, out] with padded out.
struct LinearOffsets {
  std::size_t weight = 0, bias = 0, in = 0, in_stride = 0, out_stride = 0;
};
struct LayerOffsets {
  std::size_t attention_norm = 0, ffn_norm = 0;  ///< weight, then bias, [stride] each
  LinearOffsets qkv, output, linear1, linear2;   ///< qkv: three blocks of inner_stride columns
  std::size_t degree_scaler = kNone;             ///< a, then b, [inner_stride] each
  TableSet own;
};

/// Where everything stands in a flat buffer: weights and gradients share this plan.
class FlatLayout {
 public:
  FlatLayout(const EncoderShape& shape, const ParameterList& parameters);

  std::vector<LayerOffsets> layers;
  TableSet shared;
  std::size_t final_norm = kNone;
  std::size_t size() const { return size_; }

  /// Fills `flat` [size()], padding with zeros.
  void import(const TensorLookup& tensors, float* flat, int threads) const;
  /// Adds the gradients to those of the parameters.
  void add_to(const float* flat, const GradientLookup& gradients, int threads) const;

 private:
  /// Number (parameter_row[e], c) of the parameter is number offset + row[e] + column[c] of the buffer.
  struct Placement {
    std::string name;
    std::size_t offset = 0;
    std::vector<std::size_t> parameter_row, row, column;
  };
  /// How the channels of one side of a Linear are laid out.
  enum class Channels : std::uint8_t { plain, by_head };
  struct ChannelMap {
    std::vector<std::size_t> at;  ///< of each of the parameter's channels
    std::size_t extent, stride;   ///< behind the last one; padded
  };
  struct Source {
    const EncoderShape& shape;
    const ParameterList& parameters;
  };
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

  std::vector<Placement> placements_;
  std::size_t size_ = 0;
};

/// A matrix [depth, columns] as the products read it; of the two arrays one is filled.
struct PackedMatrix {
  std::size_t depth = 0, columns = 0;
  std::vector<float> fp32;
  std::vector<std::uint16_t> bf16;
};
/// One Linear ready for use.
struct PackedLinear {
  PackedMatrix forward, backward;  ///< W [in, out_stride], and W^T [out_stride, in_stride] for the way back
  const float* bias = nullptr;
};
struct PackedLayer {
  PackedLinear qkv, output, linear1, linear2;
};

/// Everything derived from one state of the parameters.
class EncoderWeights {
 public:
  EncoderWeights(const EncoderShape& shape, const ParameterList& parameters);
  /// Reads the parameters; `training` also prepares the way back.
  void assign(const TensorLookup& tensors, bool training, int threads, Precision precision = Precision::fp32);
  /// Adds the sum of gradients in `flat` (as FlatLayout, changed here) to the parameters'.
  void add_gradients(float* flat, const GradientLookup& gradients, int threads) const;

  const FlatLayout& layout() const { return layout_; }
  const PackedLayer& layer(std::size_t k) const { return layers_[k]; }
  /// null where kNone
  const float* at(std::size_t offset) const { return offset == kNone ? nullptr : flat_.data() + offset; }

 private:
  void add_global_bias(const TableSet& set);
  void global_bias_gradient(const TableSet& set, float* flat) const;

  EncoderShape shape_;
  FlatLayout layout_;
  std::vector<float> flat_;
  std::vector<PackedLayer> layers_;
};

}  // namespace molgraph::cpu

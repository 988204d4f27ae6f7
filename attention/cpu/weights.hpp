// The encoder's parameters as the CPU engine wants them: head-innermost, padded, packed for the products; and the way of
// the gradients back to the modules' layout.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attention/cpu/kernels/kernels.hpp"
#include "attention/engine.hpp"
#include "attention/spec/options.hpp"

namespace molgraph::cpu {

/// A parameter that a part of the model reads, in the modules' shape.
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Sizes that everything follows from. H padded heads, d head width, all strides in floats.
struct EncoderShape {
  EncoderShape(const EncoderOptions& options, int topology_classes, int edge_classes);

  EncoderOptions options;
  std::size_t topology_classes, edge_classes;
  std::size_t heads;          ///< H, padded
  std::size_t head_width;     ///< d
  std::size_t inner;          ///< d*H: queries, keys, values
  std::size_t inner_stride;   ///< of one of the three
  std::size_t width, stride;  ///< C and its padding
  std::size_t ffn, ffn_stride;
  float scale;                ///< alpha
  bool spatial() const { return options.terms.bias || options.terms.global_bias; }
};

/// Offsets of one layer's (or the shared) relation tables in the flat buffer; kNone = the term is off.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);
struct TableOffsets {
  std::size_t spatial = kNone;                                                             ///< [T, H]
  std::size_t topology_query = kNone, topology_key = kNone, topology_value = kNone;        ///< [T, d*H]
  std::size_t edge_query = kNone, edge_key = kNone, edge_value = kNone;                    ///< [E, d*H]
  std::size_t content_bias = kNone, position_bias = kNone;                                 ///< [d*H]
  std::size_t gate = kNone;                                                                ///< [T, H]
};
/// y = x W + b, W [in, out] with padded out.
struct LinearOffsets {
  std::size_t weight = 0, bias = 0, in = 0, in_stride = 0, out_stride = 0;
};
struct LayerOffsets {
  std::size_t attention_norm = 0, ffn_norm = 0;   ///< weight, then bias, [stride] each
  LinearOffsets qkv, output, linear1, linear2;    ///< qkv: three blocks of inner_stride columns
  TableOffsets own;
};

/// Where everything stands in a flat buffer: weights and gradients share this plan.
class FlatLayout {
 public:
  explicit FlatLayout(const EncoderShape& shape);

  std::vector<LayerOffsets> layers;
  TableOffsets shared;
  std::size_t final_norm = kNone;
  std::size_t size() const { return size_; }

  /// What import() asks for.
  std::vector<TensorSpec> tensors() const;
  /// Fills `flat` [size()], padding with zeros.
  void import(const TensorLookup& tensors, float* flat, int threads) const;
  /// Adds the gradients to those of the modules.
  void add_to(const float* flat, const GradientLookup& gradients, int threads) const;

 private:
  /// The module's tensor [.., columns]: row module_row[e], column c is number offset + row[e] + column[c] of the buffer.
  struct Placement {
    std::string name;
    std::size_t offset = 0;
    std::vector<std::size_t> module_row, row, column;
    bool vector = false;   ///< the module's tensor is [columns]
  };
  template <class Visit>
  static void for_each_number(const Placement& placement, Visit visit);
  std::size_t place(const std::string& name, std::size_t size, std::vector<std::size_t> row, std::vector<std::size_t> column);
  std::size_t place_vector(const std::string& name, std::size_t size, std::vector<std::size_t> column);
  LinearOffsets linear(const std::string& name, const std::vector<std::size_t>& in, std::size_t in_stride,
                       const std::vector<std::size_t>& out, std::size_t out_stride);
  std::size_t norm(const std::string& name, const EncoderShape& shape);
  TableOffsets tables(const std::string& prefix, const EncoderShape& shape, bool relations, bool gate);

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
  PackedMatrix forward, backward;   ///< W [in, out_stride], and W^T [out_stride, in_stride] for the way back
  const float* bias = nullptr;
};
struct PackedLayer {
  PackedLinear qkv, output, linear1, linear2;
};

/// Everything derived from one state of the parameters.
class EncoderWeights {
 public:
  explicit EncoderWeights(const EncoderShape& shape);
  /// Reads the parameters; `training` also prepares the way back.
  void assign(const TensorLookup& tensors, bool training, int threads, Precision precision = Precision::fp32);
  /// Adds the sum of gradients in `flat` (as FlatLayout, changed here) to the modules'.
  void add_gradients(float* flat, const GradientLookup& gradients, int threads) const;

  const FlatLayout& layout() const { return layout_; }
  const PackedLayer& layer(std::size_t k) const { return layers_[k]; }
  /// null where kNone
  const float* at(std::size_t offset) const { return offset == kNone ? nullptr : flat_.data() + offset; }

 private:
  void add_global_bias(const TableOffsets& tables);
  void global_bias_gradient(const TableOffsets& tables, float* flat) const;

  EncoderShape shape_;
  FlatLayout layout_;
  std::vector<float> flat_;
  std::vector<PackedLayer> layers_;
};

}  // namespace molgraph::cpu

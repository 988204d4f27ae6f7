#include "attention/cpu/weights.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/parallel.hpp"

namespace molgraph::cpu {
namespace {

std::vector<std::size_t> steps(std::size_t count, std::size_t step) {
  std::vector<std::size_t> at(count);
  for (std::size_t i = 0; i < count; ++i) at[i] = i * step;
  return at;
}

// The modules' channel h*d + x -> head-innermost x*H + h.
std::vector<std::size_t> head_innermost(const EncoderShape& shape) {
  const auto heads = static_cast<std::size_t>(shape.options.heads);
  std::vector<std::size_t> at(heads * shape.head_width);
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t x = 0; x < shape.head_width; ++x) at[h * shape.head_width + x] = x * shape.heads + h;
  return at;
}

std::vector<std::size_t> scaled(std::vector<std::size_t> at, std::size_t factor, std::size_t offset = 0) {
  for (std::size_t& x : at) x = x * factor + offset;
  return at;
}

void pack(const float* matrix, std::size_t depth, std::size_t columns, Precision precision, PackedMatrix& packed) {
  packed.depth = depth;
  packed.columns = columns;
  packed.fp32.clear();
  packed.bf16.clear();
  if (precision == Precision::bf16) {
    packed.bf16.resize(bf16_panels_size(depth, columns));
    pack_bf16(matrix, columns, depth, columns, packed.bf16.data());
  } else {
    packed.fp32.resize(depth * columns);
    pack_weights(matrix, depth, columns, packed.fp32.data());
  }
}

void pack(const float* flat, const LinearOffsets& offsets, bool training, Precision precision, PackedLinear& linear) {
  const float* weight = flat + offsets.weight;
  linear.bias = flat + offsets.bias;
  pack(weight, offsets.in, offsets.out_stride, precision, linear.forward);
  if (!training) return;
  std::vector<float> transposed(offsets.out_stride * offsets.in_stride, 0.0f);
  for (std::size_t first = 0; first < offsets.out_stride; first += kBlock)   // a block's lines stay in the cache
    for (std::size_t i = 0; i < offsets.in; ++i)
      for (std::size_t o = first; o < first + kBlock; ++o) transposed[o * offsets.in_stride + i] = weight[i * offsets.out_stride + o];
  pack(transposed.data(), offsets.out_stride, offsets.in_stride, precision, linear.backward);
}

}  // namespace

EncoderShape::EncoderShape(const EncoderOptions& o, int topology, int edge)
    : options(o),
      topology_classes(static_cast<std::size_t>(topology)),
      edge_classes(static_cast<std::size_t>(edge)),
      heads(padded_heads(static_cast<std::size_t>(o.heads))),
      head_width(static_cast<std::size_t>(o.width / o.heads)),
      inner(heads * head_width),
      inner_stride(padded(inner)),
      width(static_cast<std::size_t>(o.width)),
      stride(padded(width)),
      ffn(static_cast<std::size_t>(o.ffn)),
      ffn_stride(padded(ffn)),
      scale(1.0f / std::sqrt(static_cast<float>(o.width / o.heads) * static_cast<float>(o.score_terms))) {}

std::size_t FlatLayout::place(const std::string& name, std::size_t size, std::vector<std::size_t> row,
                              std::vector<std::size_t> column) {
  const std::size_t offset = size_;
  size_ += padded(size);
  placements_.push_back({name, offset, steps(row.size(), 1), std::move(row), std::move(column)});
  return offset;
}

std::size_t FlatLayout::place_vector(const std::string& name, std::size_t size, std::vector<std::size_t> column) {
  const std::size_t offset = place(name, size, {0}, std::move(column));
  placements_.back().vector = true;
  return offset;
}

// A module's weight is [out, in].
LinearOffsets FlatLayout::linear(const std::string& name, const std::vector<std::size_t>& in, std::size_t in_stride,
                                 const std::vector<std::size_t>& out, std::size_t out_stride) {
  const std::size_t depth = *std::max_element(in.begin(), in.end()) + 1;
  LinearOffsets offsets{.in = depth, .in_stride = in_stride, .out_stride = out_stride};
  offsets.weight = place(name + ".weight", depth * out_stride, out, scaled(in, out_stride));
  offsets.bias = place_vector(name + ".bias", out_stride, out);
  return offsets;
}

std::size_t FlatLayout::norm(const std::string& name, const EncoderShape& shape) {
  const std::size_t weight = place_vector(name + ".weight", shape.stride, steps(shape.width, 1));
  place_vector(name + ".bias", shape.stride, steps(shape.width, 1));
  return weight;
}

TableOffsets FlatLayout::tables(const std::string& prefix, const EncoderShape& shape, bool relations, bool gate) {
  const RelationTerms& terms = shape.options.terms;
  const auto heads = static_cast<std::size_t>(shape.options.heads), rows = shape.topology_classes;
  const std::vector<std::size_t> channels = head_innermost(shape), by_head = steps(heads, 1);
  TableOffsets offsets;
  const auto table = [&](const char* name, bool on, std::size_t classes) {
    return on && relations ? place(prefix + name, classes * shape.inner, steps(classes, shape.inner), channels) : kNone;
  };
  if (relations && shape.spatial()) {
    offsets.spatial = place(terms.bias ? prefix + "spatial" : "", rows * shape.heads, steps(rows, shape.heads), by_head);
    if (!shape.options.untie_virtual)   // the last three classes share the module's last row
      for (std::size_t& row : placements_.back().module_row) row = std::min(row, rows - 3);
  }
  offsets.topology_query = table("topology_query", terms.topology_query, rows);
  offsets.topology_key = table("topology_key", terms.topology_key, rows);
  offsets.topology_value = table("topology_value", terms.topology_value, rows);
  offsets.edge_query = table("edge_query", terms.edge_query, shape.edge_classes);
  offsets.edge_key = table("edge_key", terms.edge_key, shape.edge_classes);
  offsets.edge_value = table("edge_value", terms.edge_value, shape.edge_classes);
  if (relations && terms.global_bias) {
    offsets.content_bias = place_vector(prefix + "content_bias", shape.inner, channels);
    offsets.position_bias = place_vector(prefix + "position_bias", shape.inner, channels);
  }
  if (gate) offsets.gate = place(prefix + "gate", rows * shape.heads, steps(rows, shape.heads), by_head);
  return offsets;
}

FlatLayout::FlatLayout(const EncoderShape& shape) {
  const EncoderOptions& o = shape.options;
  const std::vector<std::size_t> inner = head_innermost(shape), width = steps(shape.width, 1), ffn = steps(shape.ffn, 1);
  shared = tables("", shape, o.share_encodings, o.gate.enabled && !o.gate.per_layer);
  for (int k = 0; k < o.layers; ++k) {
    const std::string prefix = "layers." + std::to_string(k) + ".";
    LayerOffsets layer;
    layer.attention_norm = norm(prefix + "attention_norm", shape);
    layer.ffn_norm = norm(prefix + "ffn_norm", shape);
    // One matrix [C, 3 * inner_stride] and one bias; the parts are three modules.
    const std::size_t columns = 3 * shape.inner_stride;
    layer.qkv = {.weight = size_, .bias = size_ + shape.width * columns, .in = shape.width, .in_stride = shape.stride, .out_stride = columns};
    size_ += (shape.width + 1) * columns;
    for (std::size_t part = 0; part < 3; ++part) {
      static constexpr const char* kNames[] = {"query", "key", "value"};
      const std::string name = prefix + "attention." + kNames[part];
      const std::vector<std::size_t> out = scaled(inner, 1, part * shape.inner_stride);
      placements_.push_back({name + ".weight", layer.qkv.weight, steps(out.size(), 1), out, scaled(width, columns)});
      placements_.push_back({name + ".bias", layer.qkv.bias, {0}, {0}, out, true});
    }
    layer.output = linear(prefix + "attention.output", inner, shape.inner_stride, width, shape.stride);
    layer.linear1 = linear(prefix + "ffn.linear1", width, shape.stride, ffn, shape.ffn_stride);
    layer.linear2 = linear(prefix + "ffn.linear2", ffn, shape.ffn_stride, width, shape.stride);
    layer.own = tables(prefix, shape, !o.share_encodings, o.gate.enabled && o.gate.per_layer);
    layers.push_back(layer);
  }
  if (!o.post_ln && o.final_norm) final_norm = norm("final_norm", shape);
}

std::vector<TensorSpec> FlatLayout::tensors() const {
  std::vector<TensorSpec> all;
  for (const Placement& p : placements_) {
    if (p.name.empty()) continue;
    const auto columns = static_cast<std::int64_t>(p.column.size());
    const auto rows = static_cast<std::int64_t>(*std::max_element(p.module_row.begin(), p.module_row.end()) + 1);
    all.push_back({p.name, p.vector ? std::vector<std::int64_t>{columns} : std::vector<std::int64_t>{rows, columns}});
  }
  return all;
}

// Calls visit(index in the module's tensor, index in the flat buffer). One of the two runs across the other's rows, so
// columns go in blocks whose cache lines are still there for the next row.
template <class Visit>
void FlatLayout::for_each_number(const Placement& p, Visit visit) {
  constexpr std::size_t kColumns = 64;
  const std::size_t columns = p.column.size();
  for (std::size_t first = 0; first < columns; first += kColumns)
    for (std::size_t e = 0; e < p.row.size(); ++e)
      for (std::size_t c = first; c < std::min(first + kColumns, columns); ++c)
        visit(p.module_row[e] * columns + c, p.offset + p.row[e] + p.column[c]);
}

void FlatLayout::import(const TensorLookup& tensors, float* flat, int threads) const {
  std::fill_n(flat, size_, 0.0f);
  for_each_on_threads(threads, placements_.size(), [&](std::size_t k) {
    if (placements_[k].name.empty()) return;
    const float* from = tensors(placements_[k].name);
    assert(from != nullptr);
    for_each_number(placements_[k], [&](std::size_t module, std::size_t at) { flat[at] = from[module]; });
  });
}

void FlatLayout::add_to(const float* flat, const GradientLookup& gradients, int threads) const {
  for_each_on_threads(threads, placements_.size(), [&](std::size_t k) {
    float* to = placements_[k].name.empty() ? nullptr : gradients(placements_[k].name);
    if (to == nullptr) return;
    for_each_number(placements_[k], [&](std::size_t module, std::size_t at) { to[module] += flat[at]; });
  });
}

EncoderWeights::EncoderWeights(const EncoderShape& shape)
    : shape_(shape), layout_(shape), flat_(layout_.size()), layers_(layout_.layers.size()) {}

void EncoderWeights::assign(const TensorLookup& tensors, bool training, int threads, Precision precision) {
  layout_.import(tensors, flat_.data(), threads);
  add_global_bias(layout_.shared);
  for_each_on_threads(threads, layers_.size(), [&](std::size_t k) {
    const LayerOffsets& offsets = layout_.layers[k];
    add_global_bias(offsets.own);
    pack(flat_.data(), offsets.qkv, training, precision, layers_[k].qkv);
    pack(flat_.data(), offsets.output, training, precision, layers_[k].output);
    pack(flat_.data(), offsets.linear1, training, precision, layers_[k].linear1);
    pack(flat_.data(), offsets.linear2, training, precision, layers_[k].linear2);
  });
}

// Transformer-XL's alpha v.PQ[t] is a bias by class.
void EncoderWeights::add_global_bias(const TableOffsets& tables) {
  if (tables.position_bias == kNone) return;
  const float *v = at(tables.position_bias), *query = at(tables.topology_query);
  float* spatial = flat_.data() + tables.spatial;
  for (std::size_t t = 0; t < shape_.topology_classes; ++t)
    for (std::size_t c = 0; c < shape_.inner; ++c)
      spatial[t * shape_.heads + c % shape_.heads] += shape_.scale * v[c] * query[t * shape_.inner + c];
}

void EncoderWeights::global_bias_gradient(const TableOffsets& tables, float* flat) const {
  if (tables.position_bias == kNone) return;
  const float *v = at(tables.position_bias), *query = at(tables.topology_query), *dspatial = flat + tables.spatial;
  float *dv = flat + tables.position_bias, *dquery = flat + tables.topology_query;
  for (std::size_t t = 0; t < shape_.topology_classes; ++t)
    for (std::size_t c = 0; c < shape_.inner; ++c) {
      const float slope = shape_.scale * dspatial[t * shape_.heads + c % shape_.heads];
      dv[c] += slope * query[t * shape_.inner + c];
      dquery[t * shape_.inner + c] += slope * v[c];
    }
}

void EncoderWeights::add_gradients(float* flat, const GradientLookup& gradients, int threads) const {
  global_bias_gradient(layout_.shared, flat);
  for (const LayerOffsets& layer : layout_.layers) global_bias_gradient(layer.own, flat);
  layout_.add_to(flat, gradients, threads);
}

}  // namespace molgraph::cpu

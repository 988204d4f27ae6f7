#include "attention/cpu/weights.hpp"

#include <algorithm>

#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/parallel.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {
namespace {

std::vector<std::size_t> steps(std::size_t count, std::size_t step) {
  std::vector<std::size_t> at(count);
  for (std::size_t i = 0; i < count; ++i) at[i] = i * step;
  return at;
}

// A parameter's channel h*d + x -> head-innermost x*H + h.
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
  // resize() clears only a new array; packing then writes all of it.
  if (precision == Precision::bf16) {
    packed.fp32.clear();
    packed.bf16.resize(bf16_panels_size(depth, columns));
    pack_bf16(matrix, columns, depth, columns, packed.bf16.data());
  } else {
    packed.bf16.clear();
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
  for (std::size_t first = 0; first < offsets.out_stride; first += kBlock)  // blocks stay in the cache
    for (std::size_t i = 0; i < offsets.in; ++i)
      for (std::size_t o = first; o < first + kBlock; ++o)
        transposed[o * offsets.in_stride + i] = weight[i * offsets.out_stride + o];
  pack(transposed.data(), offsets.out_stride, offsets.in_stride, precision, linear.backward);
}

// [rows, columns] -> [columns/group, rows, group].
void transpose(const float* matrix, std::size_t rows, std::size_t columns, std::size_t group,
               AlignedVector<float>& transposed) {
  transposed.resize(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      transposed[(c / group * rows + r) * group + c % group] = matrix[r * columns + c];
}

}  // namespace

EncoderShape::EncoderShape(const ModelPlan& plan, Precision products)
    : options(plan.encoder), precision(products),
      topology_classes(static_cast<std::size_t>(plan.classes.topology.count())),
      edge_classes(static_cast<std::size_t>(plan.classes.edge.count())),
      heads(padded_heads(static_cast<std::size_t>(options.heads))),
      head_width(static_cast<std::size_t>(options.width / options.heads)), inner(heads * head_width),
      inner_stride(padded(inner)), width(static_cast<std::size_t>(options.width)), stride(padded(width)),
      ffn(static_cast<std::size_t>(options.ffn)), ffn_stride(padded(ffn)),
      steps(has_walk_rows(options.terms) ? static_cast<std::size_t>(options.pair_vector().size()) : 0),
      pair_state(padded(static_cast<std::size_t>(options.pair_state))), kernels(&cpu::kernels()),
      pair_group(kernels->states_at_once(heads)),
      rounds_pairs(pair_state > 0 && heads == kPairHeads && products == Precision::bf16 &&
                   bf16_products() == Bf16Products::fast),
      pair_vector(
          pair_state > 0 && weights_pair_vectors(options) ? static_cast<std::size_t>(options.pair_vector().size()) : 0),
      scale(score_scale<float>(static_cast<int>(head_width), options.score_terms)) {
  const std::vector<RelationTable> tables = relation_tables(options);
  edges = pair_state > 0 || std::any_of(tables.begin(), tables.end(), [](const RelationTable& table) {
            return table.row == RelationTable::Row::edge;
          });
}

std::size_t TableSet::find(TermFills fills, RelationTable::Row row) const {
  for (const PlacedTable& table : tables)
    if (table.fills == fills && table.row == row) return table.offset;
  return kNone;
}

FlatLayout::ChannelMap FlatLayout::channels(const Source& from, Channels kind, std::int64_t count) {
  if (kind == Channels::by_head) return {head_innermost(from.shape), from.shape.inner, from.shape.inner_stride};
  const auto width = static_cast<std::size_t>(count);
  return {steps(width, 1), width, padded(width)};
}

// Rows beyond the parameter's last row share that row.
void FlatLayout::record(const ParameterSpec& spec, std::size_t offset, std::vector<std::size_t> row,
                        std::vector<std::size_t> column) {
  const std::size_t last = spec.shape.size() > 1 ? static_cast<std::size_t>(spec.shape[0]) - 1 : 0;
  std::vector<std::size_t> parameter_row = steps(row.size(), 1);
  for (std::size_t& e : parameter_row) e = std::min(e, last);
  placements_.push_back({spec.name, offset, std::move(parameter_row), std::move(row), std::move(column)});
}

std::size_t FlatLayout::place(const ParameterSpec& spec, std::size_t size, std::vector<std::size_t> row,
                              std::vector<std::size_t> column) {
  const std::size_t offset = size_;
  size_ += padded(size);
  record(spec, offset, std::move(row), std::move(column));
  return offset;
}

// The weight of a Linear is [out, in].
LinearOffsets FlatLayout::linear(const Source& from, const std::string& name, Channels in, Channels out) {
  const ParameterSpec& weight = from.parameters.at(name + ".weight");
  const ChannelMap out_map = channels(from, out, weight.shape[0]), in_map = channels(from, in, weight.shape[1]);
  LinearOffsets offsets{.in = in_map.extent, .in_stride = in_map.stride, .out_stride = out_map.stride};
  offsets.weight = place(weight, in_map.extent * out_map.stride, out_map.at, scaled(in_map.at, out_map.stride));
  offsets.bias = place(from.parameters.at(name + ".bias"), out_map.stride, {0}, out_map.at);
  return offsets;
}

// Merges the three Linears into one matrix [C, 3 * inner_stride] and one bias.
LinearOffsets FlatLayout::query_key_value(const Source& from, const std::string& prefix) {
  const EncoderShape& shape = from.shape;
  const std::size_t columns = 3 * shape.inner_stride;
  const LinearOffsets offsets{.weight = size_,
                              .bias = size_ + shape.width * columns,
                              .in = shape.width,
                              .in_stride = shape.stride,
                              .out_stride = columns};
  size_ += (shape.width + 1) * columns;
  std::size_t first = 0;
  for (const char* part : {"query", "key", "value"}) {
    const std::vector<std::size_t> out = scaled(head_innermost(shape), 1, first);
    record(from.parameters.at(prefix + part + ".weight"), offsets.weight, out, scaled(steps(shape.width, 1), columns));
    record(from.parameters.at(prefix + part + ".bias"), offsets.bias, {0}, out);
    first += shape.inner_stride;
  }
  return offsets;
}

std::size_t FlatLayout::norm(const Source& from, const std::string& name) {
  const ParameterSpec& gain = from.parameters.at(name + ".weight");
  const ChannelMap map = channels(from, Channels::plain, gain.shape[0]);
  const std::size_t weight = place(gain, map.stride, {0}, map.at);
  place(from.parameters.at(name + ".bias"), map.stride, {0}, map.at);
  return weight;
}

TableSet FlatLayout::tables(const Source& from, int layer) {
  const EncoderShape& shape = from.shape;
  const std::string owner = owner_prefix("encoder.", layer);
  const std::vector<std::size_t> channels = head_innermost(shape),
                                 heads = steps(static_cast<std::size_t>(shape.options.heads), 1);
  TableSet set;
  const auto add = [&](const RelationTable& table) {
    const ParameterSpec* spec = from.parameters.find(owner + table.name);
    if (spec == nullptr) return;  // the table has another owner
    const bool per_head = table.fills == TermFills::bias || table.fills == TermFills::gate;
    const std::size_t width = per_head ? shape.heads : shape.inner;
    const std::size_t rows = table.row == RelationTable::Row::topology ? shape.topology_classes
                             : table.row == RelationTable::Row::edge   ? shape.edge_classes
                             : table.row == RelationTable::Row::walk   ? shape.steps
                                                                       : 1;
    set.tables.push_back(
        {table.fills, table.row, place(*spec, rows * width, steps(rows, width), per_head ? heads : channels)});
  };
  for (const RelationTable& table : relation_tables(shape.options)) add(table);
  for (const RelationTable& table : gate_tables(shape.options)) add(table);
  if (const ParameterSpec* v = from.parameters.find(owner + "position_bias"); v != nullptr) {
    set.position_bias = place(*v, shape.inner, {0}, channels);
    if (set.find(TermFills::bias) == kNone) {  // v is converted to a bias by class, which needs a table
      set.tables.push_back({.offset = size_});
      set.computed_bias = padded(shape.topology_classes * shape.heads);
      size_ += set.computed_bias;
    }
  }
  return set;
}

// The tables of the first states. Rows are padded with zeros, because the kernels read those of the vectors in blocks.
void FlatLayout::first_pair_states(const Source& from) {
  const std::size_t width = from.shape.pair_state;
  if (width == 0) return;
  const auto table = [&](const char* name) {
    const ParameterSpec& spec = from.parameters.at(std::string("encoder.pair_states.") + name);
    const auto rows = static_cast<std::size_t>(spec.shape[0]);
    return place(spec, padded(rows) * width, steps(rows, width), steps(static_cast<std::size_t>(spec.shape[1]), 1));
  };
  pair_topology = table("topology");
  pair_edge = table("edge");
  if (from.shape.pair_vector > 0) pair_vector = table("vector");
}

void FlatLayout::pair_states(const Source& from, const std::string& prefix, LayerOffsets& layer) {
  const EncoderShape& shape = from.shape;
  if (shape.pair_state == 0) return;
  const auto heads = static_cast<std::size_t>(shape.options.heads),
             width = static_cast<std::size_t>(shape.options.pair_state);
  layer.pair_bias = place(from.parameters.at(prefix + "bias"), shape.heads * shape.pair_state,
                          steps(heads, shape.pair_state), steps(width, 1));
  std::vector<std::size_t> states = steps(width, 1), channels = steps(heads * shape.head_width, shape.pair_state);
  if (!shape.rounds_pairs) {
    for (std::size_t s = 0; s < width; ++s)
      states[s] = s / shape.pair_group * shape.pair_group * shape.inner + s % shape.pair_group;
    channels = scaled(head_innermost(shape), shape.pair_group);
  }
  layer.pair_value = place(from.parameters.at(prefix + "value"), shape.pair_state * shape.inner, std::move(states),
                           std::move(channels));
  const ParameterSpec* update = from.parameters.find(prefix + "update");
  if (update == nullptr) return;                    // the last layer
  std::vector<std::size_t> rows = steps(heads, 1);  // scores, then weights, each with padded heads
  for (const std::size_t row : steps(heads, 1)) rows.push_back(shape.heads + row);
  layer.pair_update =
      place(*update, 2 * shape.heads * shape.pair_state, scaled(rows, shape.pair_state), steps(width, 1));
  layer.pair_update_bias = place(from.parameters.at(prefix + "update_bias"), shape.pair_state, {0}, steps(width, 1));
}

FlatLayout::FlatLayout(const EncoderShape& shape, const ParameterList& parameters) {
  const Source from{shape, parameters};
  shared = tables(from, -1);
  first_pair_states(from);
  for (int k = 0; k < shape.options.layers; ++k) {
    const std::string prefix = owner_prefix("encoder.", k);
    first_of_layer_.push_back(placements_.size());
    LayerOffsets layer;
    layer.attention_norm = norm(from, prefix + "attention_norm");
    layer.ffn_norm = norm(from, prefix + "ffn_norm");
    layer.qkv = query_key_value(from, prefix + "attention.");
    layer.output = linear(from, prefix + "attention.output", Channels::by_head, Channels::plain);
    if (shape.options.degree_scaler) {
      const std::vector<std::size_t> channels = head_innermost(shape);
      layer.degree_scaler = place(parameters.at(prefix + "attention.scale"), shape.inner_stride, {0}, channels);
      place(parameters.at(prefix + "attention.degree_scale"), shape.inner_stride, {0}, channels);
    }
    layer.linear1 = linear(from, prefix + "ffn.linear1", Channels::plain, Channels::plain);
    layer.linear2 = linear(from, prefix + "ffn.linear2", Channels::plain, Channels::plain);
    layer.own = tables(from, k);
    pair_states(from, prefix + "pair_states.", layer);
    layers.push_back(std::move(layer));
  }
  first_of_layer_.push_back(placements_.size());
  if (parameters.find("encoder.final_norm.weight") != nullptr) final_norm = norm(from, "encoder.final_norm");
}

// Calls visit(index in the parameter, index in the flat buffer). The two layouts may be transposed, so columns are
// processed in blocks whose cache lines are still in the cache for the next row.
template <class Visit>
void FlatLayout::for_each_number(const Placement& p, Visit visit) {
  constexpr std::size_t kColumns = 64;
  const std::size_t columns = p.column.size();
  for (std::size_t first = 0; first < columns; first += kColumns)
    for (std::size_t e = 0; e < p.row.size(); ++e)
      for (std::size_t c = first; c < std::min(first + kColumns, columns); ++c)
        visit(p.parameter_row[e] * columns + c, p.offset + p.row[e] + p.column[c]);
}

void FlatLayout::import(std::size_t first, std::size_t last, const TensorLookup& tensors, float* flat) const {
  for (std::size_t k = first; k < last; ++k) {
    const float* from = tensors(placements_[k].name);
    for_each_number(placements_[k], [&](std::size_t number, std::size_t at) { flat[at] = from[number]; });
  }
}

void FlatLayout::import_shared(const TensorLookup& tensors, float* flat) const {
  import(0, first_of_layer_.front(), tensors, flat);
  import(first_of_layer_.back(), placements_.size(), tensors, flat);
}

void FlatLayout::import_layer(std::size_t layer, const TensorLookup& tensors, float* flat) const {
  import(first_of_layer_[layer], first_of_layer_[layer + 1], tensors, flat);
}

void FlatLayout::add_to(const float* flat, const GradientLookup& gradients, int threads) const {
  for_each_on_threads(threads, placements_.size(), [&](std::size_t k) {
    float* to = gradients(placements_[k].name);
    if (to == nullptr) return;
    for_each_number(placements_[k], [&](std::size_t number, std::size_t at) { to[number] += flat[at]; });
  });
}

EncoderWeights::EncoderWeights(const EncoderShape& shape, const ParameterList& parameters)
    : shape_(shape), layout_(shape, parameters), flat_(layout_.size()), layers_(layout_.layers.size()) {}

void EncoderWeights::assign(const TensorLookup& tensors, bool training, int threads) {
  const Precision precision = shape_.precision;
  layout_.import_shared(tensors, flat_.data());
  add_global_bias(layout_.shared);
  for_each_on_threads(threads, layers_.size(), [&](std::size_t k) {
    layout_.import_layer(k, tensors, flat_.data());
    const LayerOffsets& offsets = layout_.layers[k];
    add_global_bias(offsets.own);
    pack(flat_.data(), offsets.qkv, training, precision, layers_[k].qkv);
    pack(flat_.data(), offsets.output, training, precision, layers_[k].output);
    pack(flat_.data(), offsets.linear1, training, precision, layers_[k].linear1);
    pack(flat_.data(), offsets.linear2, training, precision, layers_[k].linear2);
    if (offsets.pair_bias != kNone)
      transpose(at(offsets.pair_bias), shape_.heads, shape_.pair_state, shape_.pair_group, layers_[k].pair_bias);
    if (shape_.rounds_pairs)
      round_pair_weights(at(offsets.pair_value), at(offsets.pair_bias), at(offsets.pair_update), shape_.head_width,
                         shape_.pair_state, layers_[k].pairs);
    else if (offsets.pair_update != kNone && training)
      transpose(at(offsets.pair_update), 2 * shape_.heads, shape_.pair_state, 1, layers_[k].pair_update);
  });
}

// The term alpha v.PQ[t] of Dai et al. is a bias by class.
void EncoderWeights::add_global_bias(const TableSet& set) {
  if (set.position_bias == kNone) return;
  const float *v = at(set.position_bias), *query = at(set.find(TermFills::query_rows));
  float* bias = flat_.data() + set.find(TermFills::bias);
  std::fill_n(bias, set.computed_bias, 0.0f);
  for (std::size_t t = 0; t < shape_.topology_classes; ++t)
    for (std::size_t c = 0; c < shape_.inner; ++c)
      bias[t * shape_.heads + c % shape_.heads] += shape_.scale * v[c] * query[t * shape_.inner + c];
}

void EncoderWeights::global_bias_gradient(const TableSet& set, float* flat) const {
  if (set.position_bias == kNone) return;
  const std::size_t query_rows = set.find(TermFills::query_rows);
  const float *v = at(set.position_bias), *query = at(query_rows), *dbias = flat + set.find(TermFills::bias);
  float *dv = flat + set.position_bias, *dquery = flat + query_rows;
  for (std::size_t t = 0; t < shape_.topology_classes; ++t)
    for (std::size_t c = 0; c < shape_.inner; ++c) {
      const float slope = shape_.scale * dbias[t * shape_.heads + c % shape_.heads];
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

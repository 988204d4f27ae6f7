#include "attention/cpu/node_input.hpp"

#include <algorithm>

#include "attention/spec/terms.hpp"

namespace molgraph::cpu {
namespace {

void add(const float* from, float* to, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) to[c] += from[c];
}

// Calls move(index in [columns, rows], index in [rows, columns]) for every element.
template <class Move>
void for_each_transposed(std::size_t rows, std::size_t columns, Move move) {
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) move(c * rows + r, r * columns + c);
}

}  // namespace

NodeInput::NodeInput(const ModelPlan& plan, const EncoderShape& shape, const ParameterList& parameters)
    : plan_(plan), shape_(shape) {
  const auto place = [&](const char* name, std::size_t dimension, std::size_t floats) {
    const ParameterSpec* spec = parameters.find(name);
    if (spec == nullptr) return Rows{};
    const Rows rows{size_, spec->shape.size() > 1 ? static_cast<std::size_t>(spec->shape[dimension]) : 1};
    size_ += rows.count * floats;
    return rows;
  };
  atom_ = place("node.atom", 0, shape.width);
  virtual_node_ = place("node.virtual_node", 0, shape.width);
  degree_ = place("in_degree", 0, shape.width);
  position_ = place("encoder.position.weight", 1, shape.width);
  norm_ = place("encoder.input_norm.weight", 0, 2 * shape.stride);
  flat_.assign(size_, 0.0f);
}

// Both degree tables have the same index, so one table of their sums replaces them.
void NodeInput::assign(const TensorLookup& tensors) {
  const std::size_t width = shape_.width;
  std::copy_n(tensors("node.atom"), atom_.count * width, flat_.data() + atom_.offset);
  std::copy_n(tensors("node.virtual_node"), width, flat_.data() + virtual_node_.offset);
  if (degree_.count > 0) {
    const float *in = tensors("in_degree"), *out = tensors("out_degree");
    for (std::size_t i = 0; i < degree_.count * width; ++i) flat_[degree_.offset + i] = in[i] + out[i];
  }
  if (position_.count > 0) {
    const float* weight = tensors("encoder.position.weight");
    for_each_transposed(position_.count, width,
                        [&](std::size_t from, std::size_t to) { flat_[position_.offset + to] = weight[from]; });
  }
  if (norm_.count > 0) {
    std::copy_n(tensors("encoder.input_norm.weight"), width, flat_.data() + norm_.offset);
    std::copy_n(tensors("encoder.input_norm.bias"), width, flat_.data() + norm_.offset + shape_.stride);
  }
}

void NodeInput::add_gradients(const float* flat, const GradientLookup& gradients) const {
  const std::size_t width = shape_.width;
  const auto add_part = [&](const char* name, std::size_t offset, std::size_t count) {
    if (float* to = gradients(name); to != nullptr) add(flat + offset, to, count);
  };
  add_part("node.atom", atom_.offset, atom_.count * width);
  add_part("node.virtual_node", virtual_node_.offset, width);
  if (degree_.count > 0) {
    for (const char* name : {"in_degree", "out_degree"}) add_part(name, degree_.offset, degree_.count * width);
  }
  if (float* to = position_.count > 0 ? gradients("encoder.position.weight") : nullptr; to != nullptr)
    for_each_transposed(position_.count, width,
                        [&](std::size_t at, std::size_t from) { to[at] += flat[position_.offset + from]; });
  if (norm_.count > 0) {
    add_part("encoder.input_norm.weight", norm_.offset, width);
    add_part("encoder.input_norm.bias", norm_.offset + shape_.stride, width);
  }
}

// Calls visit(token of the pack, offset of a row that is added to its input) for all such rows.
template <class Visit>
void NodeInput::for_each_row(const GraphBatch& batch, const Pack& pack, Visit visit) const {
  const FeatureShape& features = feature_shape(plan_.features);
  const auto columns = static_cast<std::size_t>(features.atom_columns);
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    std::size_t token = pack.molecules[b - pack.first].first_token;
    visit(token++, virtual_node_.offset);
    for (auto a = static_cast<std::size_t>(batch.atom_offset[b]);
         a < static_cast<std::size_t>(batch.atom_offset[b + 1]); ++a, ++token) {
      std::size_t first = 0;
      for (std::size_t c = 0; c < columns; first += static_cast<std::size_t>(features.atom_dims[c++]))
        visit(token, atom_.offset + (first + batch.atoms[a * columns + c]) * shape_.width);
      if (degree_.count > 0)
        visit(token,
              degree_.offset + std::min(static_cast<std::size_t>(batch.degree[a]), degree_.count - 1) * shape_.width);
    }
  }
}

void NodeInput::add_noise(const GraphBatch& batch, const Pack& pack, const RandomMode& random, float* x) const {
  std::vector<std::uint16_t> draws;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    draws.resize(of.tokens * shape_.width);
    random_draws(input_stream(batch, b, random, RandomSite::input_noise), static_cast<std::int64_t>(draws.size()),
                 draws.data());
    for (std::size_t i = 1; i < of.tokens; ++i)  // not the virtual node
      for (std::size_t c = 0; c < shape_.width; ++c)
        x[(of.first_token + i) * shape_.stride + c] +=
            static_cast<float>(noise_from_draw(plan_.perturb_noise, draws[i * shape_.width + c]));
  }
}

void NodeInput::drop(const GraphBatch& batch, const Pack& pack, const RandomMode& random, Trace& trace,
                     float* x) const {
  const std::uint32_t threshold = dropout_threshold(plan_.encoder.input_dropout);
  trace.keep.clear();
  if (!random.training || threshold == 0) return;
  trace.keep.resize(pack.tokens * shape_.stride / 8 + 8);
  std::vector<std::uint16_t> draws;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    draws.resize(of.tokens * shape_.width);
    random_draws(input_stream(batch, b, random, RandomSite::input_dropout), static_cast<std::int64_t>(draws.size()),
                 draws.data());
    kernels().channel_bits(draws.data(), threshold, of.tokens, shape_.width, shape_.stride,
                           trace.keep.data() + of.first_token * shape_.stride / 8);
  }
  kernels().drop(x, x, pack.tokens, shape_.stride, {trace.keep.data(), static_cast<float>(dropout_scale(threshold))});
}

void NodeInput::forward(PackPlaces& places, const RandomMode& random, const float* perturbation, Trace& trace,
                        float* x) const {
  const GraphBatch& batch = places.batch();
  const Pack& pack = places.pack();
  const std::size_t width = shape_.width, stride = shape_.stride;
  std::fill_n(x, pack.tokens * stride, 0.0f);
  for_each_row(batch, pack,
               [&](std::size_t token, std::size_t row) { add(flat_.data() + row, x + token * stride, width); });
  if (random.training && plan_.perturb_noise > 0) add_noise(batch, pack, random, x);
  const std::size_t dim = position_.count;
  if (dim > 0) {
    const EncoderOptions& o = plan_.encoder;
    if (o.position == NodePosition::random_walk && weights_pair_vectors(o))
      places.diagonals(o.pair_vector(), trace.positions);
    else pack_positions(batch, pack, o.position, o.pair_vector(), random, trace.positions);
    for (std::size_t t = 0; t < pack.tokens; ++t)
      for (std::size_t d = 0; d < dim; ++d)
        for (std::size_t c = 0; c < width; ++c)
          x[t * stride + c] += trace.positions[t * dim + d] * flat_[position_.offset + d * width + c];
  }
  if (perturbation != nullptr)
    for (std::size_t t = 0; t < pack.tokens; ++t) add(perturbation + t * width, x + t * stride, width);
  if (norm_.count > 0) {
    trace.before_norm.resize(pack.tokens * stride);
    trace.statistics.resize(2 * pack.tokens);
    kernels().residual_norm({.rows = pack.tokens,
                             .width = width,
                             .stride = stride,
                             .x = x,
                             .weight = flat_.data() + norm_.offset,
                             .bias = flat_.data() + norm_.offset + stride,
                             .sum = trace.before_norm.data(),
                             .normed = x,
                             .statistics = trace.statistics.data()});
  }
  drop(batch, pack, random, trace, x);
}

void NodeInput::gradient(const GraphBatch& batch, const Pack& pack, const float* dx, Trace& trace, float* flat,
                         float* dperturbation) const {
  const std::size_t width = shape_.width, stride = shape_.stride;
  const std::size_t dim = position_.count;
  const auto keep_scale = static_cast<float>(dropout_scale(dropout_threshold(plan_.encoder.input_dropout)));
  if (!trace.keep.empty()) {
    trace.slope.resize(pack.tokens * stride);
    kernels().drop(dx, trace.slope.data(), pack.tokens, stride, {trace.keep.data(), keep_scale});
    dx = trace.slope.data();
  }
  std::vector<float> below;
  if (norm_.count > 0) {
    below.resize(pack.tokens * stride);
    kernels().norm_gradient({.rows = pack.tokens,
                             .width = width,
                             .stride = stride,
                             .sum = trace.before_norm.data(),
                             .statistics = trace.statistics.data(),
                             .dy = dx,
                             .weight = flat_.data() + norm_.offset,
                             .dx = below.data(),
                             .dweight = flat + norm_.offset,
                             .dbias = flat + norm_.offset + stride,
                             .accumulate = false});
    dx = below.data();
  }
  for_each_row(batch, pack, [&](std::size_t token, std::size_t row) { add(dx + token * stride, flat + row, width); });
  for (std::size_t t = 0; t < pack.tokens; ++t) {
    for (std::size_t d = 0; d < dim; ++d)
      for (std::size_t c = 0; c < width; ++c)
        flat[position_.offset + d * width + c] += trace.positions[t * dim + d] * dx[t * stride + c];
    if (dperturbation != nullptr) std::copy_n(dx + t * stride, width, dperturbation + t * width);
  }
}

}  // namespace molgraph::cpu

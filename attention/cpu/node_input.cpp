#include "attention/cpu/node_input.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "attention/spec/node_positions.hpp"

namespace molgraph::cpu {
namespace {

RandomStream stream_of(const GraphBatch& batch, std::size_t molecule, const RandomMode& random, RandomSite site) {
  return {random.seed, random.step, static_cast<std::uint32_t>(batch.row[molecule]), 0, site, random.ascent};
}

void add(const float* from, float* to, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) to[c] += from[c];
}

}  // namespace

void pack_positions(const GraphBatch& batch, const Pack& pack, NodePosition kind, int dim, const RandomMode& random,
                    std::vector<float>& out) {
  const auto width = static_cast<std::size_t>(dim);
  out.assign(pack.tokens * width, 0.0f);
  std::vector<double> rows;
  std::vector<std::uint16_t> draws(width);
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    const std::size_t atoms = of.tokens - 1;
    rows.assign(atoms * width, 0.0);
    const auto molecule = static_cast<std::int64_t>(b);
    if (kind == NodePosition::random_walk) random_walk_positions(batch, molecule, dim, rows.data());
    else laplacian_positions(batch, molecule, dim, rows.data());
    if (kind == NodePosition::laplacian && random.training) {
      random_draws(stream_of(batch, b, random, RandomSite::laplacian_sign), dim, draws.data());
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (draws[i % width] >= 32768) rows[i] = -rows[i];
    }
    std::copy(rows.begin(), rows.end(), out.begin() + static_cast<std::ptrdiff_t>((of.first_token + 1) * width));
  }
}

NodeInput::NodeInput(const ModelPlan& plan, const EncoderShape& shape) : plan_(plan), shape_(shape) {
  const FeatureShape& features = feature_shape(plan.features);
  const std::size_t width = shape.width;
  atom_rows_ = static_cast<std::size_t>(std::accumulate(features.atom_dims.begin(), features.atom_dims.end(), 0));
  degree_rows_ = static_cast<std::size_t>(plan.max_degree + 1);
  position_dim_ = plan.encoder.position == NodePosition::none ? 0 : static_cast<std::size_t>(plan.encoder.position_dim);
  virtual_node_ = atom_rows_ * width;
  degree_ = virtual_node_ + width;
  position_ = degree_ + degree_rows_ * width;
  norm_ = position_ + position_dim_ * width;
  size_ = norm_ + 2 * shape.stride;
  flat_.assign(size_, 0.0f);
}

std::vector<TensorSpec> NodeInput::tensors() const {
  const auto width = static_cast<std::int64_t>(shape_.width), degrees = static_cast<std::int64_t>(degree_rows_);
  std::vector<TensorSpec> all{{"node.atom", {static_cast<std::int64_t>(atom_rows_), width}}, {"node.virtual_node", {width}}};
  if (degrees > 0) all.insert(all.end(), {{"in_degree", {degrees, width}}, {"out_degree", {degrees, width}}});
  if (position_dim_ > 0) all.push_back({"encoder.position.weight", {width, static_cast<std::int64_t>(position_dim_)}});
  if (plan_.encoder.input_norm)
    all.insert(all.end(), {{"encoder.input_norm.weight", {width}}, {"encoder.input_norm.bias", {width}}});
  return all;
}

// The two degree tables have the same index, so one table of their sums serves; the position's weight is transposed.
void NodeInput::assign(const TensorLookup& tensors) {
  const std::size_t width = shape_.width;
  const auto read = [&](const char* name) {
    const float* from = tensors(name);
    assert(from != nullptr);
    return from;
  };
  std::copy_n(read("node.atom"), atom_rows_ * width, flat_.data());
  std::copy_n(read("node.virtual_node"), width, flat_.data() + virtual_node_);
  if (degree_rows_ > 0) {
    const float *in = read("in_degree"), *out = read("out_degree");
    for (std::size_t i = 0; i < degree_rows_ * width; ++i) flat_[degree_ + i] = in[i] + out[i];
  }
  if (position_dim_ > 0) {
    const float* weight = read("encoder.position.weight");
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t d = 0; d < position_dim_; ++d) flat_[position_ + d * width + c] = weight[c * position_dim_ + d];
  }
  if (plan_.encoder.input_norm) {
    std::copy_n(read("encoder.input_norm.weight"), width, flat_.data() + norm_);
    std::copy_n(read("encoder.input_norm.bias"), width, flat_.data() + norm_ + shape_.stride);
  }
}

void NodeInput::add_gradients(const float* flat, const GradientLookup& gradients) const {
  const std::size_t width = shape_.width;
  const auto add_part = [&](const char* name, std::size_t offset, std::size_t count) {
    if (float* to = gradients(name); to != nullptr) add(flat + offset, to, count);
  };
  add_part("node.atom", 0, atom_rows_ * width);
  add_part("node.virtual_node", virtual_node_, width);
  if (degree_rows_ > 0) {
    add_part("in_degree", degree_, degree_rows_ * width);
    add_part("out_degree", degree_, degree_rows_ * width);
  }
  if (float* to = position_dim_ > 0 ? gradients("encoder.position.weight") : nullptr; to != nullptr)
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t d = 0; d < position_dim_; ++d) to[c * position_dim_ + d] += flat[position_ + d * width + c];
  if (plan_.encoder.input_norm) {
    add_part("encoder.input_norm.weight", norm_, width);
    add_part("encoder.input_norm.bias", norm_ + shape_.stride, width);
  }
}

// Calls visit(token of the pack, offset of a row that is added to it).
template <class Visit>
void NodeInput::for_each_row(const GraphBatch& batch, const Pack& pack, Visit visit) const {
  const FeatureShape& features = feature_shape(plan_.features);
  const auto columns = static_cast<std::size_t>(features.atom_columns);
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    std::size_t token = pack.molecules[b - pack.first].first_token;
    visit(token++, virtual_node_);
    for (auto a = static_cast<std::size_t>(batch.atom_offset[b]); a < static_cast<std::size_t>(batch.atom_offset[b + 1]); ++a, ++token) {
      std::size_t first = 0;
      for (std::size_t c = 0; c < columns; first += static_cast<std::size_t>(features.atom_dims[c++]))
        visit(token, (first + batch.atoms[a * columns + c]) * shape_.width);
      if (degree_rows_ > 0)
        visit(token, degree_ + std::min(static_cast<std::size_t>(batch.degree[a]), degree_rows_ - 1) * shape_.width);
    }
  }
}

void NodeInput::add_noise(const GraphBatch& batch, const Pack& pack, const RandomMode& random, float* x) const {
  std::vector<std::uint16_t> draws;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    draws.resize(of.tokens * shape_.width);
    random_draws(stream_of(batch, b, random, RandomSite::input_noise), static_cast<std::int64_t>(draws.size()), draws.data());
    for (std::size_t i = 1; i < of.tokens; ++i)   // not the virtual node
      for (std::size_t c = 0; c < shape_.width; ++c)
        x[(of.first_token + i) * shape_.stride + c] +=
            static_cast<float>(noise_from_draw(plan_.perturb_noise, draws[i * shape_.width + c]));
  }
}

void NodeInput::drop(const GraphBatch& batch, const Pack& pack, const RandomMode& random, Trace& trace, float* x) const {
  const std::uint32_t threshold = dropout_threshold(plan_.encoder.input_dropout);
  trace.keep.clear();
  if (!random.training || threshold == 0) return;
  trace.keep.resize(pack.tokens * shape_.stride / 8 + 8);
  std::vector<std::uint16_t> draws;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    draws.resize(of.tokens * shape_.width);
    random_draws(stream_of(batch, b, random, RandomSite::input_dropout), static_cast<std::int64_t>(draws.size()), draws.data());
    kernels().channel_bits(draws.data(), threshold, of.tokens, shape_.width, shape_.stride,
                           trace.keep.data() + of.first_token * shape_.stride / 8);
  }
  kernels().drop(x, x, pack.tokens, shape_.stride, {trace.keep.data(), static_cast<float>(dropout_scale(threshold))});
}

void NodeInput::forward(const GraphBatch& batch, const Pack& pack, const RandomMode& random, const float* perturbation,
                        Trace& trace, float* x) const {
  const std::size_t width = shape_.width, stride = shape_.stride;
  std::fill_n(x, pack.tokens * stride, 0.0f);
  for_each_row(batch, pack, [&](std::size_t token, std::size_t row) { add(flat_.data() + row, x + token * stride, width); });
  if (random.training && plan_.perturb_noise > 0) add_noise(batch, pack, random, x);
  if (position_dim_ > 0) {
    pack_positions(batch, pack, plan_.encoder.position, plan_.encoder.position_dim, random, trace.positions);
    for (std::size_t t = 0; t < pack.tokens; ++t)
      for (std::size_t d = 0; d < position_dim_; ++d)
        for (std::size_t c = 0; c < width; ++c)
          x[t * stride + c] += trace.positions[t * position_dim_ + d] * flat_[position_ + d * width + c];
  }
  if (perturbation != nullptr)
    for (std::size_t t = 0; t < pack.tokens; ++t) add(perturbation + t * width, x + t * stride, width);
  if (plan_.encoder.input_norm) {
    trace.before_norm.resize(pack.tokens * stride);
    trace.statistics.resize(2 * pack.tokens);
    kernels().residual_norm({.rows = pack.tokens, .width = width, .stride = stride, .x = x, .weight = flat_.data() + norm_,
                             .bias = flat_.data() + norm_ + stride, .sum = trace.before_norm.data(), .normed = x,
                             .statistics = trace.statistics.data()});
  }
  drop(batch, pack, random, trace, x);
}

void NodeInput::gradient(const GraphBatch& batch, const Pack& pack, const float* dx, Trace& trace, float* flat,
                         float* dperturbation) const {
  const std::size_t width = shape_.width, stride = shape_.stride;
  const auto keep_scale = static_cast<float>(dropout_scale(dropout_threshold(plan_.encoder.input_dropout)));
  if (!trace.keep.empty()) {
    trace.slope.resize(pack.tokens * stride);
    kernels().drop(dx, trace.slope.data(), pack.tokens, stride, {trace.keep.data(), keep_scale});
    dx = trace.slope.data();
  }
  std::vector<float> below;
  if (plan_.encoder.input_norm) {
    below.resize(pack.tokens * stride);
    kernels().norm_gradient({.rows = pack.tokens, .width = width, .stride = stride, .sum = trace.before_norm.data(),
                             .statistics = trace.statistics.data(), .dy = dx, .weight = flat_.data() + norm_,
                             .dx = below.data(), .dweight = flat + norm_, .dbias = flat + norm_ + stride, .accumulate = false});
    dx = below.data();
  }
  for_each_row(batch, pack, [&](std::size_t token, std::size_t row) { add(dx + token * stride, flat + row, width); });
  for (std::size_t t = 0; t < pack.tokens; ++t) {
    for (std::size_t d = 0; d < position_dim_; ++d)
      for (std::size_t c = 0; c < width; ++c)
        flat[position_ + d * width + c] += trace.positions[t * position_dim_ + d] * dx[t * stride + c];
    if (dperturbation != nullptr) std::copy_n(dx + t * stride, width, dperturbation + t * width);
  }
}

}  // namespace molgraph::cpu

#include "attention/cpu/pair_states.hpp"

#include <algorithm>

namespace molgraph::cpu {
namespace {

/// Vectors only grow; a smaller pack uses the first elements.
template <class T>
T* sized(AlignedVector<T>& x, std::size_t count) {
  if (x.size() < count) x.resize(count);
  return x.data();
}

float* zeroed(AlignedVector<float>& x, std::size_t count) {
  std::fill_n(sized(x, count), count, 0.0f);
  return x.data();
}

void add(const float* from, float* to, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) to[c] += from[c];
}

}  // namespace

std::size_t PairStates::queries(std::size_t k, std::size_t tokens) const {
  if (k == layers_.size()) return 0;
  return virtual_only_ && k + 1 == layers_.size() ? 1 : tokens;
}

PairStart PairStates::start_of(const EncoderWeights& weights, const Pack& pack, std::size_t molecule,
                               const float* vectors) {
  const MoleculeRelations& of = pack.molecules[molecule];
  PairStart g{.tokens = of.tokens,
              .queries = queries(0, of.tokens),
              .heads = shape_.heads,
              .width = shape_.pair_state,
              .relation = pack.relation.data() + of.first_pair,
              .columns = shape_.pair_vector,
              .e = at(0).e.data() + of.first_pair * shape_.pair_state,
              .bias_weight = weights.layer(0).pair_bias.data(),
              .bias = bias_.data() + of.first_pair * shape_.heads,
              .scratch = sized(scratch_, of.tokens * padded(shape_.pair_vector))};
  if (g.columns > 0) {
    g.vectors = vectors + of.first_pair * g.columns;
    g.vector_weight = weights.at(weights.layout().pair_vector);
  }
  return g;
}

void PairStates::begin(const EncoderWeights& weights, const Pack& pack, const float* vectors, bool keep,
                       bool virtual_only) {
  keep_ = keep, virtual_only_ = virtual_only;
  const FlatLayout& layout = weights.layout();
  const std::size_t width = shape_.pair_state;
  const float *topology = weights.at(layout.pair_topology), *edge = weights.at(layout.pair_edge);
  for (std::size_t k = 0; k < (keep ? layers_.size() : 1); ++k) {
    Layer& layer = at(k);
    sized(states(k), pack.pairs * width);
    sized(layer.scores, pack.pairs * shape_.heads);
    sized(layer.weights, pack.pairs * shape_.heads);
    if (shape_.rounds_pairs) {
      sized(layer.rounded_e, pack.pairs * width);
      sized(layer.rounded_read, pack.tokens * width * shape_.heads);
    } else {
      sized(layer.read, pack.tokens * width * shape_.heads);
    }
  }
  if (shape_.rounds_pairs) sized(later_, pack.pairs * width);
  sized(bias_, pack.pairs * shape_.heads);
  for (std::size_t b = 0; b < pack.size(); ++b) {
    const MoleculeRelations& of = pack.molecules[b];
    float* rows = sized(rows_, of.count() * width);
    for (std::size_t m = 0; m < of.count(); ++m)
      for (std::size_t c = 0; c < width; ++c)
        rows[m * width + c] = topology[of.topology[m] * width + c] + edge[of.edge[m] * width + c];
    PairStart g = start_of(weights, pack, b, vectors);
    g.rows = rows;
    kernels_.pair_start(g);
    if (shape_.rounds_pairs)
      round_states(g.e, g.queries * of.tokens * width, at(0).rounded_e.data() + of.first_pair * width);
  }
}

void PairStates::begin_back(const EncoderWeights& weights, const Pack& pack, const float* vectors, float* flat) {
  const FlatLayout& layout = weights.layout();
  const std::size_t width = shape_.pair_state, bias = layout.layers[0].pair_bias;
  for (std::size_t b = 0; b < pack.size(); ++b) {
    const MoleculeRelations& of = pack.molecules[b];
    const PairStart g = start_of(weights, pack, b, vectors);
    float* drows = zeroed(rows_, of.count() * width);
    kernels_.pair_start_gradient(g, {.dbias = dbias_.data() + of.first_pair * shape_.heads,
                                     .bias_weight = weights.at(bias),
                                     .de = de_.data() + of.first_pair * width,
                                     .drows = drows,
                                     .dvector_weight = g.columns > 0 ? flat + layout.pair_vector : nullptr,
                                     .dbias_weight = flat + bias});
    for (std::size_t m = 0; m < of.count(); ++m) {
      add(drows + m * width, flat + layout.pair_topology + of.topology[m] * width, width);
      add(drows + m * width, flat + layout.pair_edge + of.edge[m] * width, width);
    }
  }
}

void PairStates::fill(const Pack& pack, std::size_t k, std::size_t molecule, const float* term_bias,
                      Attention& attention) {
  const MoleculeRelations& of = pack.molecules[molecule];
  const std::size_t first = of.first_pair * shape_.heads;
  float* bias = bias_.data() + first;
  if (term_bias != nullptr) add(term_bias + first, bias, attention.queries * of.tokens * shape_.heads);
  attention.bias = bias;
  attention.weights = at(k).weights.data() + first;
  if (k + 1 < layers_.size()) attention.scores = at(k).scores.data() + first;
}

PairLayer PairStates::layer_of(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                               const Attention& attention) {
  const MoleculeRelations& of = pack.molecules[molecule];
  const LayerOffsets& offsets = weights.layout().layers[k];
  const std::size_t width = shape_.pair_state, heads = shape_.heads, pair = of.first_pair * heads;
  Layer& layer = at(k);
  PairLayer g{.tokens = of.tokens,
              .queries = attention.queries,
              .heads = heads,
              .head_width = shape_.head_width,
              .next_queries = queries(k + 1, of.tokens),
              .width = width,
              .e = states(k).data() + of.first_pair * width,
              .weights = layer.weights.data() + pair,
              .scores = layer.scores.data() + pair,
              .softmax = attention.softmax,
              .value = weights.at(offsets.pair_value),
              .z = attention.z,
              .z_stride = attention.z_stride};
  if (g.next_queries > 0) {
    g.update = weights.at(offsets.pair_update);
    g.update_bias = weights.at(offsets.pair_update_bias);
    g.next = states(k + 1).data() + of.first_pair * width;
    g.next_bias_weight = weights.layer(k + 1).pair_bias.data();
    g.next_bias = bias_.data() + pair;
  }
  if (!shape_.rounds_pairs) {
    g.read = layer.read.data() + of.first_token * width * heads;
    g.scratch = sized(scratch_, 4 * of.tokens * heads + 2 * width * heads);
  }
  return g;
}

RoundedPairs PairStates::rounded_of(const EncoderWeights& weights, const Pack& pack, std::size_t k,
                                    std::size_t molecule) {
  const MoleculeRelations& of = pack.molecules[molecule];
  const std::size_t width = shape_.pair_state, size = pair_layer_bf16_scratch(of.tokens, shape_.head_width, width);
  RoundedPairs r{.e = at(k).rounded_e.data() + of.first_pair * width,
                 .read = at(k).rounded_read.data() + of.first_token * width * shape_.heads,
                 .weights = &weights.layer(k).pairs,
                 .scratch = sized(rounded_scratch_, size)};
  if (k + 1 < layers_.size()) {
    r.next = at(k + 1).rounded_e.data() + of.first_pair * width;
    r.next_weights = &weights.layer(k + 1).pairs;
  }
  return r;
}

void PairStates::step(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                      const Attention& attention) {
  const PairLayer g = layer_of(weights, pack, k, molecule, attention);
  if (shape_.rounds_pairs) pair_layer_bf16(g, rounded_of(weights, pack, k, molecule));
  else kernels_.pair_layer(g);
}

void PairStates::step_back(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                           const Attention& attention, bool matrices, float* flat, AttentionGradient& gradient) {
  const MoleculeRelations& of = pack.molecules[molecule];
  const std::size_t width = shape_.pair_state, floats = of.tokens * of.tokens * shape_.heads;
  const PairLayer g = layer_of(weights, pack, k, molecule, attention);
  const bool updates = g.next_queries > 0;
  float* dbias = sized(dbias_, pack.pairs * shape_.heads) + of.first_pair * shape_.heads;
  PairLayerGradient d{.dz = gradient.dz,
                      .dz_stride = gradient.dz_stride,
                      .de = sized(de_, pack.pairs * width) + of.first_pair * width,
                      .dnext_bias = dbias,
                      .dweights = sized(dweights_, floats),
                      .dscores = sized(dscores_, floats),
                      .dsoftmax = sized(dsoftmax_, floats),
                      .dvalue = flat + weights.layout().layers[k].pair_value};
  if (updates) {
    const LayerOffsets &offsets = weights.layout().layers[k], &next = weights.layout().layers[k + 1];
    d.next_bias_weight = weights.at(next.pair_bias);
    d.update = weights.layer(k).pair_update.data();
    if (matrices) {
      d.dnext_bias_weight = flat + next.pair_bias;
      d.dupdate = flat + offsets.pair_update;
      d.dupdate_bias = flat + offsets.pair_update_bias;
    }
  }
  if (shape_.rounds_pairs) pair_layer_gradient_bf16(g, d, rounded_of(weights, pack, k, molecule));
  else kernels_.pair_layer_gradient(g, d);
  std::fill_n(dbias, floats, 0.0f);
  gradient.dbias = dbias;
  gradient.dweights = d.dweights;
  if (updates) gradient.dscores = d.dscores, gradient.dsoftmax = d.dsoftmax;
}

void PairStates::finish_back(const Pack& pack, std::size_t molecule, float* dterm_bias) const {
  const MoleculeRelations& of = pack.molecules[molecule];
  const std::size_t first = of.first_pair * shape_.heads;
  if (dterm_bias != nullptr) add(dbias_.data() + first, dterm_bias + first, of.tokens * of.tokens * shape_.heads);
}

}  // namespace molgraph::cpu

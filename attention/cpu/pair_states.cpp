#include "attention/cpu/pair_states.hpp"

#include <algorithm>

namespace molgraph::cpu {
namespace {

/// Vectors only grow; a smaller pack uses the first elements.
float* sized(AlignedVector<float>& x, std::size_t count) {
  if (x.size() < count) x.resize(count);
  return x.data();
}

float* zeroed(AlignedVector<float>& x, std::size_t count) {
  std::fill_n(sized(x, count), count, 0.0f);
  return x.data();
}

void add(const float* from, float* to, std::size_t count, float factor = 1) {
  for (std::size_t c = 0; c < count; ++c) to[c] += factor * from[c];
}

/// Calls visit(pair in the molecule, column of its vector, value) for all elements of the pairs' vectors that are not
/// zero. `vectors` [columns, tokens j, tokens i].
template <class Visit>
void for_each_element(const float* vectors, std::size_t columns, std::size_t tokens, Visit visit) {
  for (std::size_t t = 0; t < columns; ++t)
    for (std::size_t j = 0; j < tokens; ++j)
      for (std::size_t i = 0; i < tokens; ++i, ++vectors)
        if (*vectors != 0) visit(i * tokens + j, t, *vectors);
}

}  // namespace

void PairStates::begin(const EncoderWeights& weights, const Pack& pack, const float* vectors, bool keep) {
  keep_ = keep;
  const FlatLayout& layout = weights.layout();
  const std::size_t width = shape_.pair_state;
  const float *topology = weights.at(layout.pair_topology), *edge = weights.at(layout.pair_edge);
  float* e = sized(at(0).e, pack.pairs * width);
  for (const MoleculeRelations& of : pack.molecules) {
    float* rows = sized(scratch_, of.count() * width);
    for (std::size_t m = 0; m < of.count(); ++m)
      for (std::size_t c = 0; c < width; ++c)
        rows[m * width + c] = topology[of.topology[m] * width + c] + edge[of.edge[m] * width + c];
    float* states = e + of.first_pair * width;
    for (std::size_t p = 0; p < of.tokens * of.tokens; ++p)
      std::copy_n(rows + pack.relation[of.first_pair + p] * width, width, states + p * width);
    if (shape_.pair_vector == 0) continue;
    const float* weight = weights.at(layout.pair_vector);
    for_each_element(
        vectors + of.first_pair * shape_.pair_vector, shape_.pair_vector, of.tokens,
        [&](std::size_t p, std::size_t t, float value) { add(weight + t * width, states + p * width, width, value); });
  }
}

void PairStates::begin_back(const EncoderWeights& weights, const Pack& pack, const float* vectors, float* flat) const {
  const FlatLayout& layout = weights.layout();
  const std::size_t width = shape_.pair_state;
  for (const MoleculeRelations& of : pack.molecules) {
    const float* slopes = de_.data() + of.first_pair * width;
    for (std::size_t p = 0; p < of.tokens * of.tokens; ++p) {
      const std::size_t m = pack.relation[of.first_pair + p];
      add(slopes + p * width, flat + layout.pair_topology + of.topology[m] * width, width);
      add(slopes + p * width, flat + layout.pair_edge + of.edge[m] * width, width);
    }
    if (shape_.pair_vector == 0) continue;
    float* dweight = flat + layout.pair_vector;
    for_each_element(
        vectors + of.first_pair * shape_.pair_vector, shape_.pair_vector, of.tokens,
        [&](std::size_t p, std::size_t t, float value) { add(slopes + p * width, dweight + t * width, width, value); });
  }
}

const float* PairStates::bias(const EncoderWeights& weights, const Pack& pack, std::size_t k, const float* term_bias) {
  const std::size_t floats = pack.pairs * shape_.heads;
  float* bias = sized(bias_, floats);
  if (term_bias != nullptr) std::copy_n(term_bias, floats, bias);
  else std::fill_n(bias, floats, 0.0f);
  kernels_.pair_bias(at(k).e.data(), pack.pairs, shape_.pair_state, weights.at(weights.layout().layers[k].pair_bias),
                     shape_.heads, bias);
  sized(at(k).scores, floats);
  sized(at(k).weights, floats);
  return bias;
}

void PairStates::bias_back(const EncoderWeights& weights, const Pack& pack, std::size_t k, float* flat,
                           float* dterm_bias) {
  const std::size_t offset = weights.layout().layers[k].pair_bias;
  if (dterm_bias != nullptr) add(dbias_.data(), dterm_bias, pack.pairs * shape_.heads);
  kernels_.pair_bias_gradient(at(k).e.data(), pack.pairs, shape_.pair_state, weights.at(offset), shape_.heads,
                              dbias_.data(), sized(scratch_, shape_.pair_state * shape_.heads), de_.data(),
                              flat + offset);
}

PairRead PairStates::read_of(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                             bool virtual_only) {
  const MoleculeRelations& of = pack.molecules[molecule];
  Layer& layer = at(k);
  return {.tokens = of.tokens,
          .queries = virtual_only ? 1 : of.tokens,
          .heads = shape_.heads,
          .head_width = shape_.head_width,
          .width = shape_.pair_state,
          .e = layer.e.data() + of.first_pair * shape_.pair_state,
          .weights = layer.weights.data() + of.first_pair * shape_.heads,
          .value = weights.at(weights.layout().layers[k].pair_value),
          .read = sized(layer.read, pack.tokens * shape_.pair_state * shape_.heads) +
                  of.first_token * shape_.pair_state * shape_.heads};
}

void PairStates::read(const EncoderWeights& weights, const Pack& pack, std::size_t k, bool virtual_only, float* z) {
  for (std::size_t b = 0; b < pack.size(); ++b) {
    PairRead g = read_of(weights, pack, k, b, virtual_only);
    g.z = z + (virtual_only ? b : pack.molecules[b].first_token) * shape_.inner_stride;
    g.z_stride = shape_.inner_stride;
    kernels_.pair_values(g);
  }
}

void PairStates::update(const EncoderWeights& weights, const Pack& pack, std::size_t k, const float* softmax) {
  const PackedLinear& linear = weights.layer(k).pair_update;
  const std::size_t width = shape_.pair_state, inputs = 2 * shape_.heads;
  float* features = sized(features_, pack.pairs * inputs);
  kernels_.pair_features(at(k).scores.data(), softmax, pack.pairs, shape_.heads, features);
  const float* e = at(k).e.data();
  float* next = sized(at(k + 1).e, pack.pairs * width);
  for (std::size_t p = 0; p < pack.pairs; ++p)
    for (std::size_t c = 0; c < width; ++c) next[p * width + c] = e[p * width + c] + linear.bias[c];
  kernels_.gemm({.a = features,
                 .a_stride = inputs,
                 .rows = pack.pairs,
                 .depth = inputs,
                 .weights = linear.forward.fp32.data(),
                 .columns = width,
                 .y = next,
                 .y_stride = width,
                 .accumulate = true});
}

PairStates::Slopes PairStates::read_back(const EncoderWeights& weights, const Pack& pack, std::size_t k,
                                         bool virtual_only, const float* dz, const float* softmax, bool matrices,
                                         float* flat) {
  const LayerOffsets& offsets = weights.layout().layers[k];
  const std::size_t width = shape_.pair_state, inputs = 2 * shape_.heads, floats = pack.pairs * shape_.heads;
  Slopes slopes{nullptr, nullptr, nullptr, zeroed(dbias_, floats)};
  if (k + 1 == static_cast<std::size_t>(shape_.options.layers)) {
    zeroed(de_, pack.pairs * width);
  } else {
    const PackedLinear& linear = weights.layer(k).pair_update;
    float* dfeatures = sized(dfeatures_, pack.pairs * inputs);
    if (matrices) {
      float* features = sized(features_, pack.pairs * inputs);
      kernels_.pair_features(at(k).scores.data(), softmax, pack.pairs, shape_.heads, features);
      kernels_.weight_gradient({.a = features,
                                .a_stride = inputs,
                                .rows = pack.pairs,
                                .depth = inputs,
                                .y = de_.data(),
                                .y_stride = width,
                                .columns = width,
                                .weights = flat + offsets.pair_update.weight});
      kernels_.column_sums(de_.data(), pack.pairs, width, width, flat + offsets.pair_update.bias);
    }
    kernels_.gemm({.a = de_.data(),
                   .a_stride = width,
                   .rows = pack.pairs,
                   .depth = width,
                   .weights = linear.backward.fp32.data(),
                   .columns = inputs,
                   .y = dfeatures,
                   .y_stride = inputs});
    slopes.scores = sized(dscores_, floats);
    slopes.softmax = sized(dsoftmax_, floats);
    kernels_.pair_features_gradient(at(k).scores.data(), dfeatures, pack.pairs, shape_.heads, dscores_.data(),
                                    dsoftmax_.data());
  }
  slopes.weights = sized(dweights_, floats);
  for (std::size_t b = 0; b < pack.size(); ++b) {
    const MoleculeRelations& of = pack.molecules[b];
    kernels_.pair_values_gradient(read_of(weights, pack, k, b, virtual_only),
                                  {.dz = dz + (virtual_only ? b : of.first_token) * shape_.inner_stride,
                                   .dz_stride = shape_.inner_stride,
                                   .dweights = dweights_.data() + of.first_pair * shape_.heads,
                                   .de = de_.data() + of.first_pair * width,
                                   .dvalue = flat + offsets.pair_value,
                                   .scratch = sized(scratch_, 2 * width * shape_.heads)});
  }
  return slopes;
}

}  // namespace molgraph::cpu

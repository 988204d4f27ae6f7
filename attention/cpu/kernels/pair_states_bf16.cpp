#include "attention/cpu/kernels/pair_states_bf16.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#if defined(__x86_64__)
#include "attention/cpu/kernels/pair_steps_bf16.hpp"
#endif

namespace molgraph::cpu {

#if defined(__x86_64__)

namespace {

using namespace pair_steps;

/// The parts of the scratch memory. Each begins at a multiple of 32 elements.
struct Scratch {
  Scratch(Bits* memory, std::size_t tokens, std::size_t head_width, std::size_t width) {
    const std::size_t even = 2 * halved(tokens);
    const auto part = [&](std::size_t count) {
      Bits* at = memory == nullptr ? nullptr : memory + size;
      size += (count + 31) / 32 * 32;
      return at;
    };
    states = part(even * width), states_by_pair = part(even * width);
    heads = part(even * kPairHeads), heads_by_pair = part(even * kPairHeads);
    features = part(even * kFeatures);
    channels = part(2 * halved(head_width) * kPairHeads);
    dz = part(even * padded(kPairHeads * head_width));
    read = part(even * kPairHeads * width);
  }
  Bits *states, *states_by_pair;  ///< of one query
  Bits *heads, *heads_by_pair;    ///< numbers per head of one query's pairs
  Bits *features, *channels;
  Bits *dz, *read;  ///< of all queries
  std::size_t size = 0;
};

}  // namespace

std::size_t pair_layer_bf16_scratch(std::size_t tokens, std::size_t head_width, std::size_t width) {
  return Scratch(nullptr, tokens, head_width, width).size;
}

MOLGRAPH_BF16 void round_states(const float* x, std::size_t count, std::uint16_t* out) {
  for (std::size_t c = 0; c < count; c += kBlock)
    store_half((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + c)), out + c);
}

MOLGRAPH_BF16 void round_pair_weights(const float* value, const float* bias, const float* update,
                                      std::size_t head_width, std::size_t width, PairWeights& to) {
  const auto round = [&](const float* x, std::size_t rows, Rounded& by_row) {
    by_row.resize(rows * width);
    round_states(x, rows * width, by_row.data());
  };
  Rounded by_row;
  const std::size_t d = padded(head_width);
  round(value, kPairHeads * head_width, by_row);
  to.value.assign(kPairHeads * width * d, 0);
  to.value_back.resize(kPairHeads * 2 * halved(head_width) * width);
  for (std::size_t h = 0; h < kPairHeads; ++h) {
    const Bits* from = by_row.data() + h * head_width * width;
    for (std::size_t u = 0; u < head_width; ++u)
      for (std::size_t s = 0; s < width; ++s) to.value[((h * width + s) / 2 * d + u) * 2 + s % 2] = from[u * width + s];
    interleave_rows(from, head_width, width, to.value_back.data() + h * 2 * halved(head_width) * width);
  }
  round(bias, kPairHeads, by_row);
  to.bias.resize(kPairHeads * width), to.bias_back.resize(kPairHeads * width);
  in_fours(by_row.data(), width, to.bias.data());
  interleave_rows(by_row.data(), kPairHeads, width, to.bias_back.data());
  if (update == nullptr) return;
  round(update, kFeatures, by_row);
  to.update.resize(kFeatures * width), to.update_back.resize(kFeatures * width);
  for (std::size_t f = 0; f < kFeatures; ++f)
    for (std::size_t s = 0; s < width; ++s) {
      const Bits w = by_row[f * width + s];
      to.update[(f % kPairHeads * width + s) * 2 + f / kPairHeads] = w;
      to.update_back[(s / 2 * kFeatures + f) * 2 + s % 2] = w;
    }
}

MOLGRAPH_BF16 void pair_layer_bf16(const PairLayer& g, const RoundedPairs& r) {
  assert(g.heads == kPairHeads && g.width % kBlock == 0 && g.width <= kMaxPairState);
  const std::size_t n = g.tokens, width = g.width;
  const Scratch scratch(r.scratch, n, g.head_width, width);
  alignas(kCacheLine) float sums[kPairHeads * kMaxPairState];
  for (std::size_t i = 0; i < g.queries; ++i) {
    const std::size_t state = i * n * width, pair = i * n * kPairHeads;
    std::uint16_t* read = r.read + i * kPairHeads * width;
    interleave_rows(r.e + state, n, width, scratch.states_by_pair);
    round_heads(g.weights + pair, n, scratch.heads, scratch.heads_by_pair);
    std::fill_n(sums, kPairHeads * width, 0.0f);
    add_outer({scratch.heads_by_pair, kPairHeads, kPairHeads}, scratch.states_by_pair, width, width, halved(n), sums);
    round_states(sums, kPairHeads * width, read);
    for (std::size_t u = 0; u < g.head_width; u += kBlock)
      add_values(read, width, r.weights->value.data(), g.head_width, u, g.z + i * g.z_stride);
    if (i >= g.next_queries) continue;
    pair_features(g.scores + pair, g.softmax + pair, n, scratch.features, nullptr);
    add_product<kPairHeads>({.rows = n,
                             .width = width,
                             .x = scratch.features,
                             .w = r.weights->update.data(),
                             .from = g.e + state,
                             .offset = g.update_bias,
                             .y = g.next + state,
                             .by_row = r.next + state});
    to_heads(r.next + state, n, width, r.next_weights->bias.data(), g.next_bias + pair);
  }
}

MOLGRAPH_BF16 void pair_layer_gradient_bf16(const PairLayer& g, const PairLayerGradient& d, const RoundedPairs& r) {
  assert(g.heads == kPairHeads && g.width % kBlock == 0 && g.width <= kMaxPairState);
  const std::size_t n = g.tokens, width = g.width;
  const Scratch scratch(r.scratch, n, g.head_width, width);
  alignas(kCacheLine) Bits dread[kPairHeads * kMaxPairState], dread_by_head[kPairHeads * kMaxPairState],
      dread_by_pair[kPairHeads * kMaxPairState];
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t state = i * n * width, pair = i * n * kPairHeads;
    float* de = d.de + state;
    if (i < g.next_queries) {
      round_heads(d.dnext_bias + pair, n, scratch.heads, scratch.heads_by_pair);
      add_product<kPairHeads / 2>({.rows = n,
                                   .width = width,
                                   .x = scratch.heads,
                                   .w = r.next_weights->bias_back.data(),
                                   .from = de,
                                   .y = de,
                                   .by_row = scratch.states,
                                   .by_pair = scratch.states_by_pair,
                                   .sums = d.dupdate_bias});
      if (d.dupdate != nullptr) {
        pair_features(g.scores + pair, g.softmax + pair, n, nullptr, scratch.features);
        add_outer({scratch.features, kFeatures, kFeatures}, scratch.states_by_pair, width, width, halved(n), d.dupdate);
        interleave_rows(r.next + state, n, width, scratch.states_by_pair);
        add_outer({scratch.heads_by_pair, kPairHeads, kPairHeads}, scratch.states_by_pair, width, width, halved(n),
                  d.dnext_bias_weight);
      }
      features_back(scratch.states, n, width, r.weights->update_back.data(), g.scores + pair, d.dscores + pair,
                    d.dsoftmax + pair);
    } else {
      std::fill_n(de, n * width, 0.0f);
      if (g.next_queries > 0) {
        std::fill_n(d.dscores + pair, n * kPairHeads, 0.0f);
        std::fill_n(d.dsoftmax + pair, n * kPairHeads, 0.0f);
      }
    }
    if (i >= g.queries) continue;
    read_gradient(d.dz + i * d.dz_stride, g.head_width, r.weights->value_back.data(), width, scratch.channels, dread);
    in_fours(dread, width, dread_by_head);
    to_heads(r.e + state, n, width, dread_by_head, d.dweights + pair);
    round_heads(g.weights + pair, n, scratch.heads, scratch.heads_by_pair);
    interleave_rows(dread, kPairHeads, width, dread_by_pair);
    add_product<kPairHeads / 2>(
        {.rows = n, .width = width, .x = scratch.heads, .w = dread_by_pair, .from = de, .y = de});
  }
  const std::size_t channels = kPairHeads * g.head_width;
  round_rows(d.dz, d.dz_stride, g.queries, channels, scratch.dz);
  interleave_rows(r.read, g.queries, kPairHeads * width, scratch.read);
  for (std::size_t h = 0; h < kPairHeads; ++h)
    add_outer({scratch.dz + 2 * h, g.head_width, padded(channels), kPairHeads}, scratch.read + 2 * h * width,
              kPairHeads * width, width, halved(g.queries), d.dvalue + h * g.head_width * width);
}

#else

std::size_t pair_layer_bf16_scratch(std::size_t, std::size_t, std::size_t) { std::abort(); }
void round_states(const float*, std::size_t, std::uint16_t*) { std::abort(); }
void round_pair_weights(const float*, const float*, const float*, std::size_t, std::size_t, PairWeights&) {
  std::abort();
}
void pair_layer_bf16(const PairLayer&, const RoundedPairs&) { std::abort(); }
void pair_layer_gradient_bf16(const PairLayer&, const PairLayerGradient&, const RoundedPairs&) { std::abort(); }

#endif

}  // namespace molgraph::cpu

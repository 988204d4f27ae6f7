// The states of pairs with bfloat16 factors and float32 sums, for 8 heads, only for x86 with AVX512_BF16 (see
// gemm_bf16.hpp). The states themselves stay float32: what is rounded is what enters a product. The backward pass needs
// only rounded states.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/cpu/kernels/aligned.hpp"
#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph::cpu {

using Rounded = AlignedVector<std::uint16_t>;  ///< bfloat16

inline constexpr std::size_t kPairHeads = 8;

/// One layer's weights of the states, rounded. Two numbers that one instruction adds up are next to each other.
struct PairWeights {
  Rounded value;        ///< [8, S/2, padded d, 2]: pairs of states
  Rounded value_back;   ///< [8, (d+1)/2, S, 2]: pairs of channels
  Rounded bias;         ///< [S/4, 8, 4]
  Rounded bias_back;    ///< [4, S, 2]: pairs of heads
  Rounded update;       ///< [8, S, 2]: score and weight of a head
  Rounded update_back;  ///< [S/2, 16, 2]: pairs of states
};
/// Rounds `value` [8, d, S], `bias` [8, S] and `update` [16, S] (null in the last layer); S is a multiple of kBlock.
void round_pair_weights(const float* value, const float* bias, const float* update, std::size_t head_width,
                        std::size_t width, PairWeights& to);

/// The arrays that replace those of PairLayer.
struct RoundedPairs {
  const std::uint16_t* e = nullptr;  ///< [n*n, S] PairLayer::e, rounded
  std::uint16_t* next = nullptr;     ///< [n*n, S] PairLayer::next, rounded; may be e in the forward pass
  std::uint16_t* read = nullptr;     ///< [queries, 8, S] PairLayer::read, rounded
  const PairWeights* weights = nullptr;
  const PairWeights* next_weights = nullptr;  ///< of the next layer
  std::uint16_t* scratch = nullptr;           ///< pair_layer_bf16_scratch() elements
};

/// out [count], rounded; count is a multiple of kBlock.
void round_states(const float* x, std::size_t count, std::uint16_t* out);
/// Same as Kernels::pair_layer. Of `g`, the weights value, update and next_bias_weight, `read` and `scratch` are not
/// used, and `next` may be null if `next_queries` is 0.
void pair_layer_bf16(const PairLayer& g, const RoundedPairs& r);
/// Same as Kernels::pair_layer_gradient, with `dvalue` [8, d, S]. Of `g`, e and next are not used either, and of `d`
/// neither are the weights.
void pair_layer_gradient_bf16(const PairLayer& g, const PairLayerGradient& d, const RoundedPairs& r);
std::size_t pair_layer_bf16_scratch(std::size_t tokens, std::size_t head_width, std::size_t width);

}  // namespace molgraph::cpu

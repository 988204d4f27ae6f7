// The kernels of the CPU engine as plain functions on raw pointers, with one table of functions per instruction set.
//
// Layouts. A token row is padded to a multiple of kBlock floats, its `stride`; channels beyond the real width are zero.
// Queries, keys, values and all per-head values are "head-innermost": channel d*H + h, where H is the number of heads
// padded to padded_heads(), so that a vector contains the same element of many heads, for every head width. Per-pair
// arrays are [n*n, H], query-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace molgraph::cpu {

inline constexpr std::size_t kBlock = 16;  ///< floats: the widest vector of any instruction set

inline std::size_t padded(std::size_t width) { return (width + kBlock - 1) / kBlock * kBlock; }
/// 8 or a multiple of 16.
inline std::size_t padded_heads(std::size_t heads) { return heads <= 8 ? 8 : padded(heads); }

/// Data to prefetch into the second-level cache during a product. Null = none.
struct PrefetchRange {
  const float* data = nullptr;
  std::size_t floats = 0;
};

/// y[rows, columns] (+)= a[rows, depth] * weights + bias.
struct Gemm {
  const float* a = nullptr;
  std::size_t a_stride = 0, rows = 0, depth = 0;
  const float* weights = nullptr;  ///< [depth, columns] in the layout of pack_weights()
  std::size_t columns = 0;         ///< a multiple of kBlock
  const float* bias = nullptr;     ///< [columns]; null = none
  float* y = nullptr;
  std::size_t y_stride = 0;
  bool accumulate = false;  ///< adds to y, without bias
  PrefetchRange prefetch;
};

/// weights[depth, columns] += a[rows, depth]^T * y[rows, columns]; all row-major, `columns` a multiple of kBlock.
struct WeightGradient {
  const float* a = nullptr;
  std::size_t a_stride = 0, rows = 0, depth = 0;
  const float* y = nullptr;
  std::size_t y_stride = 0, columns = 0;
  float* weights = nullptr;
  PrefetchRange prefetch;
};

/// Bits of the elements that dropout keeps, one per channel (or head); null = no dropout.
struct Keep {
  const std::uint8_t* bits = nullptr;
  float scale = 1;  ///< factor of kept elements
};

/// sum = x + drop(y); normed = LayerNorm(sum). y and normed may be null (no addition; no norm).
struct ResidualNorm {
  std::size_t rows = 0, width = 0, stride = 0;
  const float *x = nullptr, *y = nullptr;
  Keep keep;                                       ///< bits [rows, stride/8]
  const float *weight = nullptr, *bias = nullptr;  ///< [stride]
  float *sum = nullptr, *normed = nullptr;
  float* statistics = nullptr;  ///< [rows, 2] mean and 1/(standard deviation); may be null
};

/// Backward pass of the LayerNorm: dx (+)= gradient of `sum`; adds to the gradients of weight and bias.
struct NormGradient {
  std::size_t rows = 0, width = 0, stride = 0;
  const float *sum = nullptr, *statistics = nullptr, *dy = nullptr, *weight = nullptr;
  float *dx = nullptr, *dweight = nullptr, *dbias = nullptr;
  bool accumulate = true;
};

/// Attention of one molecule, all heads.
struct Attention {
  std::size_t tokens = 0, heads = 0, head_width = 0;  ///< n, padded H, d
  std::size_t queries = 0;                            ///< the first `queries` tokens are queries; z has this many rows
  float scale = 1;                                    ///< alpha
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  std::size_t stride = 0;                        ///< of the rows of q, k and v
  const float *bias = nullptr, *gate = nullptr;  ///< [n*n, H]; null = none. Forbidden pairs: kForbidden
  Keep keep;                                     ///< bits [n*n, H/8]
  std::size_t relations = 0;                     ///< M distinct (topology class, edge class) in this molecule
  const std::uint16_t* relation = nullptr;       ///< [n*n]
  const std::uint16_t* key_relation = nullptr;   ///< [n*n] of the key term
  /// tables [M, d*H]; null = term off
  const float *query_rows = nullptr, *key_rows = nullptr, *value_rows = nullptr;
  bool key_by_row = false;  ///< the key term multiplies k_i instead of k_j
  std::size_t steps = 0;    ///< K, columns of r_ij; 0 = no walk rows
  /// r_ij by query and by key, in the layout of Kernels::arrange_walks()
  const float *walks = nullptr, *walks_by_key = nullptr;
  const float *walk_query = nullptr, *walk_key = nullptr, *walk_value = nullptr;  ///< [K, d*H]; null = term off
  float* softmax = nullptr;                                                       ///< [n*n, H] a_ij; null = not kept
  float *scores = nullptr, *weights = nullptr;  ///< [n*n, H] s_ij, w_ij; null = not kept
  float* z = nullptr;
  std::size_t z_stride = 0;
  float* scratch = nullptr;  ///< Kernels::attention_scratch() floats
};
inline constexpr float kForbidden = -1e30f;

/// Gradients of Attention. dq [queries], dk and dv [tokens] (stride as q) are overwritten; all others are added to.
struct AttentionGradient {
  const float* dz = nullptr;
  std::size_t dz_stride = 0;
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;
  float *dbias = nullptr, *dgate = nullptr;  ///< [n*n, H]; null = not needed
  /// [n*n, H] gradients of w_ij, a_ij and s_ij from elsewhere; null = none
  const float *dweights = nullptr, *dsoftmax = nullptr, *dscores = nullptr;
  float *dquery_rows = nullptr, *dkey_rows = nullptr, *dvalue_rows = nullptr;  ///< [M, d*H]
  float *dwalk_query = nullptr, *dwalk_key = nullptr, *dwalk_value = nullptr;  ///< [K, d*H]
};

/// The states of one molecule's pairs (spec/pair_states.hpp) before the first layer, e_ij = rows[m] + sum over t of
/// r_ij[t] vector_weight[t], and their part of the first layer's bias.
struct PairStart {
  std::size_t tokens = 0, queries = 0, heads = 0;            ///< as in Attention of the first layer
  std::size_t width = 0;                                     ///< S, a multiple of kBlock
  const std::uint16_t* relation = nullptr;                   ///< [n*n]
  const float* rows = nullptr;                               ///< [M, S]
  std::size_t columns = 0;                                   ///< K, columns of r_ij
  const float *vectors = nullptr, *vector_weight = nullptr;  ///< [K, n j, n i], [padded K, S]
  float* e = nullptr;                                        ///< [n*n, S]; the rows of the queries are overwritten
  const float* bias_weight = nullptr;                        ///< [S/G, H, G]
  float* bias = nullptr;                                     ///< [n*n, H]; as e
  float* scratch = nullptr;                                  ///< [n, padded K]
};
/// `de` is the gradient of e without the part of the bias, which is added to it. All other gradients are added to.
struct PairStartGradient {
  const float* dbias = nullptr;                                                ///< [n*n, H]
  const float* bias_weight = nullptr;                                          ///< [H, S]
  float* de = nullptr;                                                         ///< [n*n, S]
  float *drows = nullptr, *dvector_weight = nullptr, *dbias_weight = nullptr;  ///< [M, S], [padded K, S], [H, S]
};

/// What a layer reads from the states of one molecule's pairs after its attention, the states of the next layer, and
/// the part of the next layer's bias that comes from them, with features_ij = (bounded(s_ij), kPairWeight a_ij):
///     z_i += sum over s of (sum_j w_ij e_ij[s]) value[s]
///     next_ij = e_ij + features_ij update + update_bias,  next_bias_ij = next_ij next_bias_weight
/// Arrays [S/G, ..., G] contain G = Kernels::states_at_once(H) states next to each other.
struct PairLayer {
  std::size_t tokens = 0, queries = 0, heads = 0, head_width = 0;  ///< as in Attention
  std::size_t next_queries = 0;                                    ///< of the next layer; 0 = this is the last layer
  std::size_t width = 0;                                           ///< S, a multiple of kBlock
  const float* e = nullptr;                                        ///< [n*n, S]
  const float *weights = nullptr, *scores = nullptr, *softmax = nullptr;  ///< [n*n, H] w_ij, s_ij, a_ij
  const float* value = nullptr;                                           ///< [S/G, d*H, G]
  float* read = nullptr;  ///< [queries, S/G, H, G] sum_j w_ij e_ij: output of pair_layer, input of its gradient
  float* z = nullptr;
  std::size_t z_stride = 0;
  const float *update = nullptr, *update_bias = nullptr;  ///< [2H, S], [S]
  float* next = nullptr;                                  ///< [n*n, S]; may be e in the forward pass
  const float* next_bias_weight = nullptr;                ///< [S/G, H, G]
  float* next_bias = nullptr;                             ///< [n*n, H]
  float* scratch = nullptr;                               ///< [n, 2H]; for the backward pass 2 [n, 2H] + 2 [S, H]
};
/// Gradients of PairLayer. The kernel adds to dvalue, dnext_bias_weight, dupdate and dupdate_bias; the last three are
/// null if they are not needed.
struct PairLayerGradient {
  const float* dz = nullptr;
  std::size_t dz_stride = 0;
  float* de = nullptr;  ///< [n*n, S] input: gradient of next, without the part of next_bias; output: gradient of e
  const float* dnext_bias = nullptr;                      ///< [n*n, H]
  const float* next_bias_weight = nullptr;                ///< [H, S]
  const float* update = nullptr;                          ///< [S, 2H]
  float* dweights = nullptr;                              ///< [n*n, H]; the rows of the queries are overwritten
  float *dscores = nullptr, *dsoftmax = nullptr;          ///< [n*n, H]; overwritten, unless this is the last layer
  float *dvalue = nullptr, *dnext_bias_weight = nullptr;  ///< [S/G, d*H, G], [H, S]
  float *dupdate = nullptr, *dupdate_bias = nullptr;      ///< [2H, S], [S]
};

struct Kernels {
  const char* name;  ///< name of the instruction set
  void (*gemm)(const Gemm&);
  void (*weight_gradient)(const WeightGradient&);
  /// sums[columns] += sum over rows of y[rows, columns]
  void (*column_sums)(const float* y, std::size_t rows, std::size_t stride, std::size_t columns, float* sums);
  void (*residual_norm)(const ResidualNorm&);
  void (*norm_gradient)(const NormGradient&);
  /// x = drop(GELU(x)), [rows, stride]; `slope`, if not null, is set to the derivative. Bits [rows, stride/8].
  void (*gelu)(float* x, float* slope, std::size_t rows, std::size_t stride, const Keep& keep);
  void (*multiply)(const float* factor, float* x, std::size_t count);  ///< x *= factor; count a multiple of kBlock
  /// out = x times the scale for kept elements, else 0; bits [rows, stride/8]
  void (*drop)(const float* x, float* out, std::size_t rows, std::size_t stride, const Keep& keep);
  void (*add)(const float* y, float* x, std::size_t count);  ///< x += y
  /// Size of Attention::scratch in floats for n tokens with M relations and walks of K steps; `training` includes the
  /// backward pass.
  std::size_t (*attention_scratch)(std::size_t tokens, std::size_t heads, std::size_t relations, std::size_t steps,
                                   bool training);
  /// values [n, n, H] of pairs (i, j) += sum over t of walks [K, n j, n i] * weight [K, H]; walk_gradient adds the
  /// gradient to dweight.
  void (*walk_values)(const float* walks, std::size_t tokens, std::size_t heads, std::size_t steps, const float* weight,
                      float* values);
  void (*walk_gradient)(const float* walks, std::size_t tokens, std::size_t heads, std::size_t steps,
                        const float* dvalues, float* dweight);
  /// walk_floats: size of the arranged walks of n tokens in floats. arrange_walks: converts walks [K, n j, n i] to the
  /// layout of attention() for this number of heads, by query or by key.
  std::size_t (*walk_floats)(std::size_t tokens, std::size_t heads, std::size_t steps);
  void (*arrange_walks)(const float* walks, std::size_t tokens, std::size_t heads, std::size_t steps, bool by_key,
                        float* out);
  void (*attention)(const Attention&);
  void (*attention_gradient)(const Attention&, const AttentionGradient&);
  /// G: 2 if the H heads of two states fill a vector, else 1. See PairLayer.
  std::size_t (*states_at_once)(std::size_t heads);
  void (*pair_start)(const PairStart&);
  void (*pair_start_gradient)(const PairStart&, const PairStartGradient&);
  void (*pair_layer)(const PairLayer&);
  void (*pair_layer_gradient)(const PairLayer&, const PairLayerGradient&);
  /// Kept elements (draw >= threshold) of draws [rows, width] as bits [rows, stride/8].
  void (*channel_bits)(const std::uint16_t* draws, std::uint32_t threshold, std::size_t rows, std::size_t width,
                       std::size_t stride, std::uint8_t* bits);
  /// The same for draws [heads, pairs], transposed to bits [pairs, padded_heads/8].
  void (*head_bits)(const std::uint16_t* draws, std::uint32_t threshold, std::size_t heads, std::size_t pairs,
                    std::uint8_t* bits);
};

/// The kernels of the best instruction set of this processor.
const Kernels& kernels();
/// Sets the return value of kernels(); for tests. Existing models keep their kernels.
void choose_kernels(const Kernels& kernels);
/// All kernels that this processor can run, the best first; for tests and the benchmark.
std::span<const Kernels* const> all_kernels();

/// Converts weights [depth, columns], row-major, to the layout of Gemm: panels of up to five blocks, each [depth,
/// panel]. `out` has depth * columns floats; `columns` is a multiple of kBlock.
void pack_weights(const float* weights, std::size_t depth, std::size_t columns, float* out);
/// Number of panels for `blocks` blocks, and the number of blocks of one panel: at most five, as equal as possible.
std::size_t panel_count(std::size_t blocks);
std::size_t panel_blocks(std::size_t blocks, std::size_t panel);
/// Calls work(V), where V is a std::integral_constant, for a panel of V blocks.
template <class Work>
void with_blocks(std::size_t blocks, Work work) {
  switch (blocks) {
    case 5: return work(std::integral_constant<int, 5>());
    case 4: return work(std::integral_constant<int, 4>());
    case 3: return work(std::integral_constant<int, 3>());
    case 2: return work(std::integral_constant<int, 2>());
    default: return work(std::integral_constant<int, 1>());
  }
}

}  // namespace molgraph::cpu

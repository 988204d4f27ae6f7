// Look-up of a pack's relation terms in one layer's tables, and the gradients of these tables.
#pragma once

#include <vector>

#include "attention/cpu/pack.hpp"
#include "attention/cpu/weights.hpp"

namespace molgraph::cpu {

/// Per-pair values that do not come from a table (edge paths, products of positions), [pairs, H] with padded heads: no
/// array, one for all layers, or one per layer. In the backward pass, the same arrays of gradients, which are added to.
template <class T>
struct PairArrays {
  std::vector<T*> bias;  ///< added to b_ij
  std::vector<T*> gate;  ///< added to the gate, before ReLU
  static T* of_layer(const std::vector<T*>& x, std::size_t layer) {
    return x.empty() ? nullptr : x[x.size() == 1 ? 0 : layer];
  }
};
using PairInputs = PairArrays<const float>;
using PairGradients = PairArrays<float>;

class PackTerms {
 public:
  explicit PackTerms(const EncoderShape& shape) : shape_(shape) {}

  void load(const EncoderWeights& weights, const TableSet& set, const Pack& pack, const float* pair_bias);
  void load_gate(const EncoderWeights& weights, const TableSet& set, const Pack& pack, const float* pair_gate);
  /// b_ij of the pack [pairs, H] and its gradient; null = off.
  const float* bias() const { return rows_.bias.empty() ? nullptr : rows_.bias.data(); }
  float* dbias() { return gradients_.bias.empty() ? nullptr : gradients_.bias.data(); }
  /// Sets the members of `attention` that belong to the molecule's terms.
  void fill(const Pack& pack, std::size_t molecule, Attention& attention) const;
  /// Sets the members of `gradient`. Gradients of walk rows go directly to `flat`.
  void fill(const TableSet& set, const Pack& pack, std::size_t molecule, float* flat, AttentionGradient& gradient);

  void clear_gradients();
  void clear_gate_gradients();
  /// Adds the gradients of all layers since the last clear to the tables' gradients in `flat`, and the per-pair part to
  /// `dbias`.
  void add_gradients(const TableSet& set, const Pack& pack, float* flat, float* dbias) const;
  void add_gate_gradients(const TableSet& set, const Pack& pack, float* flat, float* dgate);

 private:
  struct Rows {
    AlignedVector<float> query, key, value;  ///< [sum of M, d*H]
    AlignedVector<float> bias, gate;         ///< [pairs, H]; empty = off
  };
  void load_rows(const EncoderWeights& weights, const TableSet& set, TermFills fills, const Pack& pack,
                 AlignedVector<float>& rows) const;
  void scatter_rows(const TableSet& set, TermFills fills, const Pack& pack, const AlignedVector<float>& rows,
                    float* flat) const;
  void add_pairs(const EncoderWeights& weights, const TableSet& set, TermFills fills, const Pack& pack,
                 AlignedVector<float>& pairs) const;
  void scatter_pairs(const TableSet& set, TermFills fills, const Pack& pack, const AlignedVector<float>& pairs,
                     float* flat) const;

  const EncoderShape& shape_;
  std::vector<std::size_t> first_relation_;  ///< [molecules + 1] offsets in the rows
  Rows rows_, gradients_;
  const float* walk_rows_[3] = {};  ///< of query, key and value [K, d*H]; null = off
};

}  // namespace molgraph::cpu

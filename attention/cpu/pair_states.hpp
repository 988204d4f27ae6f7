// States of a pack's pairs (attention/spec/pair_states.hpp): their first values, what each layer reads from them and
// what it adds to them.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/cpu/kernels/aligned.hpp"
#include "attention/cpu/pack.hpp"
#include "attention/cpu/weights.hpp"

namespace molgraph::cpu {

/// One thread's states for the current pack, between a forward pass and its backward pass. For each layer and molecule,
/// call fill(), the attention and step(), in this order; in the backward pass, from the last layer to the first,
/// step_back(), the attention's backward pass and finish_back().
class PairStates {
 public:
  explicit PairStates(const EncoderShape& shape)
      : shape_(shape), kernels_(*shape.kernels), layers_(static_cast<std::size_t>(shape.options.layers)) {}

  /// Sets the states before the first layer. `vectors`: PackPlaces::pair_walks() of EncoderShape::pair_vector columns.
  /// `keep` keeps all layers for the backward pass. With `virtual_only`, the only query of the last layer is the
  /// virtual node.
  void begin(const EncoderWeights& weights, const Pack& pack, const float* vectors, bool keep, bool virtual_only);
  /// Sets `attention.bias` to the states' part, which begin() or the previous layer's step() computed, plus `term_bias`
  /// ([pairs, H]; null = 0), and `weights` and, except in the last layer, `scores` to where the attention stores them.
  void fill(const Pack& pack, std::size_t k, std::size_t molecule, const float* term_bias, Attention& attention);
  /// Adds the states' part to `attention.z`, and computes the states after the layer.
  void step(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
            const Attention& attention);

  /// Backward pass of step(), from `gradient.dz`. Sets the gradients of weights, softmax, scores and (zero) bias in
  /// `gradient`, and adds to those in `flat`; without `matrices`, only to those of the values.
  void step_back(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                 const Attention& attention, bool matrices, float* flat, AttentionGradient& gradient);
  /// Adds the bias' gradient to that of the term bias ([pairs, H]; null = none), after the attention's backward pass.
  void finish_back(const Pack& pack, std::size_t molecule, float* dterm_bias) const;
  /// Backward pass of begin(), after layer 0.
  void begin_back(const EncoderWeights& weights, const Pack& pack, const float* vectors, float* flat);

 private:
  struct Layer {
    AlignedVector<float> e, scores, weights, read;
    Rounded rounded_e, rounded_read;  ///< with EncoderShape::rounds_pairs
  };
  Layer& at(std::size_t k) { return layers_[keep_ ? k : 0]; }
  /// The states before layer k. With rounded states, float32 states are kept only before layer 0 and after the current
  /// layer.
  AlignedVector<float>& states(std::size_t k) { return shape_.rounds_pairs && k > 0 ? later_ : at(k).e; }
  /// Queries of layer k, 0 after the last layer.
  std::size_t queries(std::size_t k, std::size_t tokens) const;
  PairStart start_of(const EncoderWeights& weights, const Pack& pack, std::size_t molecule, const float* vectors);
  PairLayer layer_of(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                     const Attention& attention);
  RoundedPairs rounded_of(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule);

  const EncoderShape& shape_;
  const Kernels& kernels_;
  std::vector<Layer> layers_;
  bool keep_ = false, virtual_only_ = false;
  AlignedVector<float> later_, bias_, rows_, scratch_;
  Rounded rounded_scratch_;
  AlignedVector<float> de_, dbias_, dweights_, dsoftmax_, dscores_;  // backward
};

}  // namespace molgraph::cpu

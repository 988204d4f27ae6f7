// States of a pack's pairs (attention/spec/pair_states.hpp): what each layer reads from them and adds to them.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/cpu/aligned.hpp"
#include "attention/cpu/pack.hpp"
#include "attention/cpu/weights.hpp"

namespace molgraph::cpu {

/// One thread's states for the current pack, between a forward pass and its backward pass. The attention of layer k
/// uses bias(k), writes scores(k) and weights(k), and is followed by read() and update().
class PairStates {
 public:
  explicit PairStates(const EncoderShape& shape)
      : shape_(shape), kernels_(kernels()), layers_(static_cast<std::size_t>(shape.options.layers)) {}

  /// Sets the states before the first layer. `vectors`: PackPlaces::pair_walks() of EncoderShape::pair_vector columns.
  /// `keep` keeps all layers for the backward pass.
  void begin(const EncoderWeights& weights, const Pack& pack, const float* vectors, bool keep);
  /// b_ij [pairs, H] of layer k: `term_bias` (null = 0) plus the states' part.
  const float* bias(const EncoderWeights& weights, const Pack& pack, std::size_t k, const float* term_bias);
  float* scores(std::size_t k) { return at(k).scores.data(); }
  float* weights(std::size_t k) { return at(k).weights.data(); }
  /// Adds the states' part to z [tokens, z_stride], or [molecules, z_stride] with `virtual_only`.
  void read(const EncoderWeights& weights, const Pack& pack, std::size_t k, bool virtual_only, float* z);
  /// Computes the states after layer k, which is not the last, from its scores and its softmax [pairs, H].
  void update(const EncoderWeights& weights, const Pack& pack, std::size_t k, const float* softmax);

  /// Gradients of a layer's attention that come from the states; [pairs, H].
  struct Slopes {
    const float *weights, *softmax, *scores;
    float* bias;  ///< zeroed; to be set by the attention's backward pass
  };
  /// Backward pass of update() and read() of layer k, from the last layer to the first. Adds to the gradients in
  /// `flat`; without `matrices`, not to those of update().
  Slopes read_back(const EncoderWeights& weights, const Pack& pack, std::size_t k, bool virtual_only, const float* dz,
                   const float* softmax, bool matrices, float* flat);
  /// Backward pass of bias(), after that of the attention. Adds the gradient of `term_bias` to `dterm_bias` (may be
  /// null).
  void bias_back(const EncoderWeights& weights, const Pack& pack, std::size_t k, float* flat, float* dterm_bias);
  /// Backward pass of begin(), after layer 0.
  void begin_back(const EncoderWeights& weights, const Pack& pack, const float* vectors, float* flat) const;

 private:
  struct Layer {
    AlignedVector<float> e, scores, weights, read;
  };
  Layer& at(std::size_t k) { return layers_[keep_ ? k : k % 2]; }
  PairRead read_of(const EncoderWeights& weights, const Pack& pack, std::size_t k, std::size_t molecule,
                   bool virtual_only);

  const EncoderShape& shape_;
  const Kernels& kernels_;
  std::vector<Layer> layers_;
  bool keep_ = false;
  AlignedVector<float> bias_, features_, scratch_;
  AlignedVector<float> de_, dweights_, dsoftmax_, dscores_, dbias_, dfeatures_;  // backward
};

}  // namespace molgraph::cpu

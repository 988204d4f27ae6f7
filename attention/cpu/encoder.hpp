// The encoder stack on the CPU, one pack of molecules at a time: all layers forward, then all layers backward.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/cpu/kernels/aligned.hpp"
#include "attention/cpu/pack.hpp"
#include "attention/cpu/pair_states.hpp"
#include "attention/cpu/terms.hpp"
#include "attention/cpu/weights.hpp"
#include "attention/spec/random.hpp"

namespace molgraph::cpu {

/// Inputs of the stack other than the node input.
struct PackInput {
  const Pack* pack = nullptr;
  const std::int64_t* row = nullptr;  ///< [molecules] keys of their random numbers
  PairInputs pairs;
  /// PackPlaces::pair_walks() of EncoderOptions::pair_vector(), if a table has walk rows or pair states use it
  const float* walks = nullptr;
  const float* log_degree = nullptr;  ///< [tokens] (spec/scalar.hpp), with EncoderOptions::degree_scaler
  RandomMode random;
  bool keep_activations = false;  ///< for backward()
};

/// A request to copy a layer's states: 0 = node input, l = after block l, -1 = output.
struct KeptLayer {
  int layer = -1;
  float* states = nullptr;  ///< [tokens of the pack, C]
};

/// The gradients of a pass. Results are added to the existing values.
struct PackGradient {
  float* flat = nullptr;  ///< layout: FlatLayout
  PairGradients pairs;    ///< of PackInput::pairs
  bool matrices = true;   ///< false: the gradients of the layers' matrices are not needed and not computed
};

/// One thread's workspace. It stores a pack's activations between forward() and backward().
///
/// The stack has 2L half-layers: 2l is the attention of layer l, 2l + 1 its FFN. Stage s is the state before half-layer
/// s (stage 2L: the final state): `sum` is the residual stream, `normed` its LayerNorm. A half-layer reads `normed` and
/// adds its output to `sum` (pre-LN) or to `normed` (post-LN).
class Encoder {
 public:
  explicit Encoder(const EncoderShape& shape);

  /// Node input of the next pack, [tokens, stride]. Fill it before forward(), with zeros beyond the width.
  float* input(std::size_t tokens);
  /// `graph` [molecules, stride] is set to the readout (EncoderOptions::readout) of the final rows.
  void forward(const EncoderWeights& weights, const PackInput& input, const std::vector<KeptLayer>& kept, float* graph);
  /// `dgraph` [molecules, stride]. Returns the node input's gradient, [tokens, stride].
  const float* backward(const EncoderWeights& weights, const float* dgraph, const PackGradient& gradient);

 private:
  struct Stage {
    AlignedVector<float> sum, normed, statistics;
  };
  struct LayerState {
    AlignedVector<float> qkv, softmax, z, scaled, hidden, slope;
    std::vector<std::uint8_t> weight_bits, activation_bits, residual_bits[2];
  };

  /// Vectors only grow; a smaller pack uses the first elements.
  template <class Vector>
  static typename Vector::value_type* sized(Vector& x, std::size_t count) {
    if (x.size() < count) x.resize(count);
    return x.data();
  }
  const Pack& pack() const { return *input_.pack; }
  bool keeps_activations() const { return input_.keep_activations; }
  LayerState& state_of(std::size_t layer) { return layers_[keeps_activations() ? layer : 0]; }
  Stage& stage(std::size_t s) { return stages_[s == 0 || keeps_activations() ? s : 1 + s % 2]; }
  const float* half_input(std::size_t s);
  std::size_t norm_offset(const FlatLayout& layout, std::size_t s) const;
  bool own_relations() const;
  bool own_gates() const;
  const TableSet& relations_of(const FlatLayout& layout, std::size_t layer) const;
  const TableSet& gate_of(const FlatLayout& layout, std::size_t layer) const;
  void arrange_walks();
  void load_terms(const EncoderWeights& weights, std::size_t layer, bool force);
  std::size_t rows_of(std::size_t s) const;
  bool is_virtual_only(std::size_t s) const;
  bool reads_virtual_node() const;
  void pool_atoms(const float* x, float* graph) const;
  void spread_to_atoms(const float* dgraph, float* dx) const;
  const float* virtual_rows(const float* x);
  void spread_virtual_rows(float* x) const;
  Attention attention_of(std::size_t molecule, LayerState& state, bool virtual_only);
  bool has_pair_states() const { return shape_.pair_state > 0; }
  void draw_token_bits(std::size_t layer, RandomSite site, std::size_t width, double p,
                       std::vector<std::uint8_t>& bits);
  void draw_weight_bits(std::size_t layer, std::vector<std::uint8_t>& bits);
  RandomStream stream(std::size_t molecule, std::size_t layer, RandomSite site) const;
  static float scale_of(double p);
  Keep residual_keep(LayerState& state, std::size_t half) const;
  void norm(const EncoderWeights& weights, std::size_t s, const float* carry, const float* branch, const Keep& keep);
  void product(const PackedMatrix& matrix, const float* x, std::size_t rows, const float* bias, float* y,
               const PackedLinear* next = nullptr);
  void multiply(const PackedLinear& linear, const float* x, std::size_t rows, float* y, const PackedLinear* next);
  void attend(const EncoderWeights& weights, std::size_t k, const float* x, LayerState& state);
  float log_degree_of(std::size_t row, bool virtual_only) const;
  const float* scale_by_degree(const float* scaler, std::size_t rows, LayerState& state);
  void scale_by_degree_back(const float* scaler, std::size_t rows, const LayerState& state, float* dz,
                            float* dscaler) const;
  void feed_forward(const PackedLayer& layer, std::size_t k, const float* x, LayerState& state,
                    const PackedLinear* next);
  void keep_layer(const std::vector<KeptLayer>& kept, int layer, const float* states) const;

  void norm_back(const EncoderWeights& weights, std::size_t s, const float* dy, float* dx, bool accumulate,
                 float* flat);
  void linear_back(const PackedLinear& linear, const LinearOffsets& offsets, std::size_t rows, const float* x,
                   const float* dy, float* dx, float* flat);
  void attend_back(const EncoderWeights& weights, std::size_t layer, const float* dy, float* dx, float* flat);
  void feed_forward_back(const EncoderWeights& weights, std::size_t layer, const float* dy, float* dx, float* flat);
  void finish_terms(const EncoderWeights& weights, std::size_t layer, const PackGradient& gradient);

  const EncoderShape& shape_;
  const Kernels& kernels_;
  std::size_t layers_count_;
  PackInput input_;
  bool matrix_gradients_ = true;  ///< PackGradient::matrices of the current backward pass
  bool virtual_only_ = false;     ///< current pack: after the last attention, only virtual nodes are computed
  PackTerms terms_;
  PairStates pair_states_;
  std::vector<LayerState> layers_;
  std::vector<Stage> stages_;
  AlignedVector<float> branch_, virtual_, scratch_;            // forward
  AlignedVector<float> walks_, walks_by_key_;                  // layout of Kernels::arrange_walks()
  std::vector<std::size_t> first_walk_;                        // [molecules] offsets in both
  AlignedVector<float> flow_, dy_, dbranch_, dhidden_, dqkv_;  // backward
  std::vector<std::uint16_t> draws_;
  AlignedVector<std::uint16_t> rounded_;
};

}  // namespace molgraph::cpu

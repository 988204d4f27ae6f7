// The node input without LibTorch: embedded atom columns, degrees, positions, noise, and what may stand before the encoder.
#pragma once

#include <string>
#include <vector>

#include "attention/cpu/encoder.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::cpu {

class NodeInput {
 public:
  NodeInput(const ModelPlan& plan, const EncoderShape& shape);
  std::vector<TensorSpec> tensors() const;
  void assign(const TensorLookup& tensors);
  void add_gradients(const float* flat, const GradientLookup& gradients) const;
  std::size_t gradient_size() const { return size_; }

  /// What one pack leaves for its way back.
  struct Trace {
    std::vector<float> positions, before_norm, statistics, slope;
    std::vector<std::uint8_t> keep;
  };
  /// `perturbation` [tokens, C] of the pack or null -> `x` [tokens, stride].
  void forward(const GraphBatch& batch, const Pack& pack, const RandomMode& random, const float* perturbation, Trace& trace,
               float* x) const;
  /// `dx` [tokens, stride] -> `flat` [gradient_size()] is added to, `dperturbation` [tokens, C] overwritten unless null.
  void gradient(const GraphBatch& batch, const Pack& pack, const float* dx, Trace& trace, float* flat, float* dperturbation) const;

 private:
  template <class Visit>
  void for_each_row(const GraphBatch& batch, const Pack& pack, Visit visit) const;
  void add_noise(const GraphBatch& batch, const Pack& pack, const RandomMode& random, float* x) const;
  void drop(const GraphBatch& batch, const Pack& pack, const RandomMode& random, Trace& trace, float* x) const;

  const ModelPlan& plan_;
  const EncoderShape& shape_;
  std::size_t atom_rows_, degree_rows_, position_dim_;
  std::size_t virtual_node_, degree_, position_, norm_, size_;   ///< offsets; the atom table stands first
  std::vector<float> flat_;
};

/// [tokens of the pack, dim] of node_positions.hpp, zero at token 0; in training random signs (absolute_encodings.hpp).
void pack_positions(const GraphBatch& batch, const Pack& pack, NodePosition kind, int dim, const RandomMode& random,
                    std::vector<float>& out);

}  // namespace molgraph::cpu

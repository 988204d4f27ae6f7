// The node input: embedded atom columns, degrees, positions, noise and, depending on the plan, LayerNorm and dropout.
#pragma once

#include <string>
#include <vector>

#include "attention/cpu/pack_places.hpp"
#include "attention/spec/parameters.hpp"

namespace molgraph::cpu {

class NodeInput {
 public:
  NodeInput(const ModelPlan& plan, const EncoderShape& shape, const ParameterList& parameters);
  void assign(const TensorLookup& tensors);
  void add_gradients(const float* flat, const GradientLookup& gradients) const;
  std::size_t gradient_size() const { return size_; }

  /// Values of a pack's forward pass that gradient() needs.
  struct Trace {
    std::vector<float> positions, before_norm, statistics, slope;
    std::vector<std::uint8_t> keep;
  };
  /// `perturbation` [tokens, C] of the pack loaded in `places`, or null -> `x` [tokens, stride].
  void forward(PackPlaces& places, const RandomMode& random, const float* perturbation, Trace& trace, float* x) const;
  /// Adds the gradients for `dx` [tokens, stride] to `flat` [gradient_size()]. Overwrites `dperturbation` [tokens, C]
  /// unless it is null.
  void gradient(const GraphBatch& batch, const Pack& pack, const float* dx, Trace& trace, float* flat,
                float* dperturbation) const;

 private:
  template <class Visit>
  void for_each_row(const GraphBatch& batch, const Pack& pack, Visit visit) const;
  void add_noise(const GraphBatch& batch, const Pack& pack, const RandomMode& random, float* x) const;
  void drop(const GraphBatch& batch, const Pack& pack, const RandomMode& random, Trace& trace, float* x) const;

  /// A parameter's rows in the flat buffer.
  struct Rows {
    std::size_t offset = 0, count = 0;  ///< count 0: the model has no such parameter
  };

  const ModelPlan& plan_;
  const EncoderShape& shape_;
  Rows atom_, virtual_node_, degree_, position_;  ///< of `width` floats; position [dim, C], its parameter is [C, dim]
  Rows norm_;                                     ///< weight and bias, `stride` floats each
  std::size_t size_ = 0;
  std::vector<float> flat_;
};

}  // namespace molgraph::cpu

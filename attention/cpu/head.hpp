// The task head (docs/models/formula.md section 6), in plain loops because there are only a few rows per pack.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attention/engine.hpp"
#include "attention/spec/parameters.hpp"

namespace molgraph::cpu {

/// Inputs of the head for one molecule.
struct HeadInput {
  const float* graph = nullptr;   ///< [C] the embedding
  const float* inputs = nullptr;  ///< [D] row of GraphBatch::inputs, NaN = missing; D = HeadOptions::inputs
};

class Head {
 public:
  Head(const ParameterList& parameters, const ModelPlan& plan);
  void assign(const TensorLookup& tensors);
  std::size_t gradient_size() const { return size_; }

  /// One molecule -> `scaled` [outputs].
  void forward(const HeadInput& input, float* scaled) const;
  /// Forward and backward pass of one molecule in training. `slope` computes dscaled [outputs] from scaled. `row` is
  /// the molecule's row in its data set. Overwrites `dgraph` [C] and adds to `flat` [gradient_size()].
  void gradient(const HeadInput& input, const RandomMode& random, std::int64_t row,
                const std::function<void(const float* scaled, float* dscaled)>& slope, float* scaled, float* dgraph,
                float* flat) const;
  void add_gradients(const float* flat, const GradientLookup& gradients) const;

 private:
  /// A parameter and its position in the flat buffer.
  struct FlatParameter {
    std::string name;
    std::size_t offset, size;
  };
  struct Layer {
    std::size_t in, out, offset;  ///< weight [out, in], then bias [out], in the flat buffer
    bool gelu = false, norm = false;
    bool mixes = false;           ///< reads the previous layer's output and the molecule's inputs, with dropout
    std::size_t norm_offset = 0;  ///< LayerNorm after the GELU: weight, bias [out]
  };
  struct Trace {
    std::vector<float> input, before_gelu, before_norm;
  };
  void mix_in(const float* inputs, std::vector<float>& x) const;
  void mix_back(const float* inputs, std::vector<float>& slope, float* flat) const;
  void run(const Layer& layer, std::vector<float>& x, Trace* trace) const;
  void back(const Layer& layer, const Trace& trace, std::vector<float>& slope, float* flat) const;

  void add_parameter(const ParameterSpec& spec);
  Layer& add_layer(const ParameterList& parameters, const std::string& name);

  std::vector<FlatParameter> flat_parameters_;
  std::vector<Layer> layers_;
  std::size_t width_, inputs_;    ///< C, D
  std::size_t stand_in_ = 0;      ///< offset of head.stand_in in the flat buffer
  std::uint32_t drop_threshold_;  ///< for the dropout of the mixing layer's input
  std::size_t size_ = 0;
  std::vector<float> flat_;
};

}  // namespace molgraph::cpu

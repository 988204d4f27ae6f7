// The rows of a model's node input, outside of an engine: what attributions are differences from the mean of.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/engine.hpp"
#include "attention/spec/model_plan.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Thread-safe.
class NodeRows {
 public:
  /// Copies what it needs of the parameters.
  NodeRows(const ModelPlan& plan, const TensorLookup& tensors);

  std::size_t width() const { return width_; }  ///< C
  /// Of the atoms of molecule `molecule` of the batch [atoms, C]: the rows of its columns and degree, and its position,
  /// as Engine::gradients() adds a perturbation to them: before a LayerNorm on the node input, where the model has
  /// one. The virtual node's row is the same in every molecule.
  std::vector<double> of(const GraphBatch& batch, std::size_t molecule) const;

 private:
  void add_positions(const GraphBatch& batch, std::size_t molecule, std::vector<double>& rows) const;

  Features features_;
  std::size_t width_;
  std::size_t degrees_ = 0;  ///< rows of the degree tables; 0: the model has none
  NodePosition position_;
  PairVector vector_;
  std::vector<float> atom_, degree_, position_weight_;  ///< [rows, C], [degrees, C] the sum of both, [C, dim]
};

}  // namespace molgraph

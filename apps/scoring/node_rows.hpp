// The rows of a model's node input, computed outside an engine. Attributions use their differences from the mean.
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
  /// The rows of the atoms of molecule `molecule` of the batch [atoms, C]: the sum of the embeddings of the atom's
  /// columns, degree and position, before a LayerNorm on the node input (if the model has one). Engine::gradients()
  /// adds its perturbation at the same place. The virtual node's row is the same in every molecule.
  std::vector<double> of(const GraphBatch& batch, std::size_t molecule) const;

 private:
  void add_positions(const GraphBatch& batch, std::size_t molecule, std::vector<double>& rows) const;

  Features features_;
  std::size_t width_;
  std::size_t degrees_ = 0;  ///< rows of the degree tables; 0 = none
  NodePosition position_;
  PairVector vector_;
  std::vector<float> atom_, degree_, position_weight_;  ///< [rows, C], [degrees, C] the sum of both, [C, dim]
};

}  // namespace molgraph

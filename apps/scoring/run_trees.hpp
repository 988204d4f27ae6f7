// The trees of a run as scoring uses them: found beside the weights, fed with what the featuriser computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/scoring/trees.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// The trees file beside a model file of a run directory; "" if the run has none. Throws FileError if the run's record
/// (its own, or that of the ensemble or folds it is one of) says that there must be one.
std::string trees_file_of(const std::string& weights);

class RunTrees {
 public:
  /// Throws FileError as read_trees(), and for a descriptor that this program does not know.
  RunTrees(const std::string& path, const ModelConfig& config);

  /// Mixes `values` [outputs], what the model says of a molecule, with what the trees say. `graph` has its fingerprint
  /// and descriptors; `columns` are the model's input_columns(), NaN = missing. Thread-safe.
  void mix(const MolecularGraph& graph, std::span<const float> columns, double* values) const;

 private:
  Trees trees_;
  std::vector<std::size_t> descriptor_place_;  ///< of each of the trees' descriptors among descriptor_names()
};

}  // namespace molgraph

// How far a molecule lies from those that a run has learned from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace molgraph {

/// What says who the molecules are that a run has learned from: kept only where it was asked for.
struct DomainLabels {
  std::vector<std::string> ids, smiles;  ///< [N]
  std::vector<double> values;            ///< [N, T] true values, NaN = none
};

/// Where one molecule lies.
struct DomainPlace {
  double similarity = 0;    ///< Tanimoto's coefficient (Morgan bits of radius 2) with the most similar molecule, 0 to 1
  std::size_t nearest = 0;  ///< number of that molecule
  /// 0 to 100: of how many in a hundred molecules of training the nearest other one is nearer than this molecule's
  /// nearest is, in the model's own space. NaN where there is but one.
  double percentile = 0;
  bool elements_seen = true;  ///< every element (first atom column) occurs in training
  bool rings_seen = true;     ///< and every ring system
};

}  // namespace molgraph

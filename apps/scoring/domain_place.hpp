// The distance of a molecule to the training molecules of a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace molgraph {

/// Identity of the training molecules, stored only on request (--domain-labels).
struct DomainLabels {
  std::vector<std::string> ids, smiles;  ///< [N]
  std::vector<double> values;            ///< [N, T] true values, NaN = missing
};

/// One molecule relative to the training molecules.
struct DomainPlace {
  double similarity = 0;    ///< Tanimoto coefficient (Morgan bits, radius 2) with the most similar molecule, 0 to 1
  std::size_t nearest = 0;  ///< index of that molecule
  /// 0 to 100: the percentage of training molecules whose nearest other training molecule is closer than this
  /// molecule's nearest one, in the model's embedding space. NaN if there is only one training molecule.
  double percentile = 0;
  bool elements_seen = true;  ///< every element (first atom column) occurs in the training set
  bool rings_seen = true;     ///< every ring system occurs in the training set
};

}  // namespace molgraph

// Molecules of the golden cases with SMILES.
#pragma once

#include <string>
#include <vector>

#include "featurize/smiles/smiles.hpp"

namespace molgraph::test {

/// `ogb` graphs. Throws std::bad_variant_access if a molecule is rejected.
inline std::vector<MolecularGraph> ogb_graphs(const std::vector<std::string>& smiles) {
  const Featurizer featurizer({.features = Features::ogb});
  std::vector<MolecularGraph> graphs;
  for (const auto& text : smiles) graphs.push_back(std::get<MolecularGraph>(featurizer.smiles(text)));
  return graphs;
}

}  // namespace molgraph::test

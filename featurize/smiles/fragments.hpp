// Fragments of a molecule, and the molecule without each of them. Only the .cpp file includes RDKit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

struct MoleculeFragments {
  std::vector<int> of_atom;  ///< [n] fragment of each atom, numbered from 0 in the order of their first atoms
  /// [fragments] SMILES of the molecule without the fragment; "" if nothing is left or RDKit cannot process the rest.
  std::vector<std::string> without;
};

/// Divides a molecule, as a model with this featuriser sees it, into ring systems, linkers and side chains (Bemis &
/// Murcko 1996, J. Med. Chem. 39:2887). Only single bonds are cut, so an atom with a multiple bond to a ring system or
/// a linker belongs to it (C=O); the bond of an N-oxide or sulfoxide counts as multiple. Rings with a common atom are
/// one ring system. `without` fills cut bonds with hydrogen; without a linker or a ring system in the middle, it has
/// several components. Chiral centres next to a cut keep their configuration. Throws DataError if the text is not a
/// molecule, and FileError without RDKit.
MoleculeFragments murcko_fragments(std::string_view text, bool is_mol_block, const FeaturizerOptions& featurizer);

}  // namespace molgraph

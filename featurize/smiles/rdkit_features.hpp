// Sanitised RDKit molecule -> atom and bond columns. Private to this folder, because it uses RDKit types.
#pragma once

#include <GraphMol/RWMol.h>

#include <string>
#include <variant>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// The 9 + 3 columns of the Open Graph Benchmark (Hu et al. 2020, arXiv:2005.00687), defined for every molecule.
MolecularGraph ogb_graph(const RDKit::ROMol& molecule);

/// The 1 + 1 columns of benchmarking-gnns (Dwivedi et al. 2020, arXiv:2003.00982), or the reason why the molecule has
/// none: "atom type 'B' is not one of the 28 zinc types". Leaves the molecule in its Kekule form. Throws RDKit's
/// exceptions.
std::variant<MolecularGraph, std::string> zinc_graph(RDKit::RWMol& molecule);

/// The 10 + 4 columns of molgraph itself: properties of atoms and bonds from RDKit's sanitised molecule, rings from
/// rings.hpp, stereo from stereo.hpp. They do not depend on the order of the atoms. Replaces RDKit's CIP labels.
MolecularGraph molgraph_graph(RDKit::RWMol& molecule);

}  // namespace molgraph

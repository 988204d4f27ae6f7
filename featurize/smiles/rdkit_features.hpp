// Sanitised RDKit molecule -> atom and bond columns. Private to this room: it shows RDKit types.
#pragma once

#include <GraphMol/RWMol.h>

#include <string>
#include <variant>

#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// The 9 + 3 columns of the Open Graph Benchmark (Hu et al. 2020, arXiv:2005.00687); every molecule has them.
MolecularGraph ogb_graph(const RDKit::ROMol& molecule);

/// The 1 + 1 columns of benchmarking-gnns (Dwivedi et al. 2020, arXiv:2003.00982), or why it has none:
/// "atom type 'B' is not one of the 28". The molecule is left in its Kekule form. Throws RDKit's exceptions.
std::variant<MolecularGraph, std::string> zinc_graph(RDKit::RWMol& molecule);

/// The 10 + 4 columns of our own: what RDKit's sanitised molecule says of each atom and bond, rings by rings.hpp,
/// stereo by stereo.hpp. Nothing depends on the order of atoms. The toolkit's own CIP labels are replaced.
MolecularGraph molgraph_graph(RDKit::RWMol& molecule);

}  // namespace molgraph

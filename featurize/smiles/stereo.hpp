// The configurations of a molecule's atoms and double bonds, in words that do not depend on the order of its atoms.
// Private to this room: it shows RDKit types.
#pragma once

#include <GraphMol/RWMol.h>

#include <vector>

#include "featurize/graph/vocabulary.hpp"
#include "featurize/smiles/rings.hpp"

namespace molgraph {

struct StereoLabels {
  std::vector<CentreLabel> atom;  ///< [n]
  std::vector<BondLabel> bond;    ///< [m]
};

/// CIP labels of what has a configuration, by RDKit's CIPLabeler (Hanson et al. 2018, doi:10.1021/acs.jcim.8b00324),
/// and `undefined` and `either` for what could have one and has no label: none is written, or the labeller gave up. A
/// centre could have one if its substituents differ pairwise as far as colour refinement tells (elements, isotopes,
/// charges, hydrogens, bonds and the labels found), or if it shares a ring system with another atom and for both of
/// them only the two ways around the ring are alike. So could a double bond with two different substituents at both
/// ends. The molecule is sanitised, its double bonds have their stereo from marks or coordinates. The labels of the
/// toolkit's own are cleared.
StereoLabels stereo_labels(RDKit::RWMol& molecule, const Rings& rings);

}  // namespace molgraph

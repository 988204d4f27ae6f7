// Configurations of a molecule's atoms and double bonds as labels that do not depend on the order of the atoms. Private
// to this folder, because it uses RDKit types.
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

/// Returns the CIP labels of atoms and bonds that have a configuration, from RDKit's CIPLabeler (Hanson et al. 2018,
/// doi:10.1021/acs.jcim.8b00324). Returns `undefined` and `either` for those that could have a configuration but have
/// no label, because none is written or the labeller gave up. A centre could have one if its substituents differ
/// pairwise according to colour refinement (elements, isotopes, charges, hydrogens, bonds and the labels found). It
/// also could have one if it shares a ring system with another atom and for both of them only the two directions around
/// the ring are alike. A double bond could have one if both ends have two different substituents. The molecule must be
/// sanitised, and its double bonds must have their stereo from marks or coordinates. Clears RDKit's own labels.
StereoLabels stereo_labels(RDKit::RWMol& molecule, const Rings& rings);

}  // namespace molgraph

// Circular fingerprints. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "featurize/descriptors/work.hpp"

namespace molgraph::descriptors {

/// Environment of an atom.
struct Environment {
  std::uint32_t id;
  std::uint32_t radius;
};

/// Finds all environments up to `radius` that differ in their bonds, in the order of RDKit's Morgan fingerprint with
/// its defaults (Rogers & Hahn 2010, J. Chem. Inf. Model. 50:742; elements, degrees, hydrogens, charges, isotopes and
/// ring membership; bond types; no chirality). Environments of smaller radius come first.
void find_environments(const CompactMolecule& molecule, std::uint32_t radius, std::vector<Environment>& found);

}  // namespace molgraph::descriptors

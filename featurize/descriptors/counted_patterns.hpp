// The patterns that descriptors count: fragments, acceptors, donors, rotatable bonds, QED's. Private to this room.
#pragma once

#include <GraphMol/ROMol.h>

#include <cstddef>
#include <string>
#include <vector>

#include "featurize/descriptors/matcher.hpp"
#include "featurize/descriptors/patterns.hpp"

namespace molgraph::descriptors {

struct CountedPatterns {
  /// Reads RDKit's FragmentDescriptors.csv. Throws FileError naming it if it cannot be read, has not the 85 fragments
  /// of descriptor_names(), or has one that this version does not search for.
  explicit CountedPatterns(const std::string& fragment_file);

  /// Sets of atoms that match, as RDKit counts them, also where it stops at 1,000 mappings.
  int count(Matcher& matcher, const RDKit::ROMol& molecule, int pattern) const;

  PatternLibrary library;
  std::vector<int> fragments;  ///< [85] in the order of the names
  int acceptor, donor, rotatable;
  std::vector<int> qed_acceptors;
  std::vector<int> qed_alerts;
};

}  // namespace molgraph::descriptors

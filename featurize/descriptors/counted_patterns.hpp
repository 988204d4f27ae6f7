// Patterns that descriptors count: fragments, acceptors, donors, rotatable bonds, QED's patterns. Private to this
// folder.
#pragma once

#include <GraphMol/ROMol.h>

#include <cstddef>
#include <string>
#include <vector>

#include "featurize/descriptors/matcher.hpp"
#include "featurize/descriptors/patterns.hpp"

namespace molgraph::descriptors {

struct CountedPatterns {
  /// Reads RDKit's FragmentDescriptors.csv. Throws FileError that names the file if it cannot be read, does not contain
  /// the 85 fragments of descriptor_names(), or contains a pattern that this version does not support.
  explicit CountedPatterns(const std::string& fragment_file);

  /// Returns the number of matching sets of atoms as RDKit counts them, including its limit of 1,000 mappings.
  int count(Matcher& matcher, const RDKit::ROMol& molecule, int pattern) const;

  PatternLibrary library;
  std::vector<int> fragments;  ///< [85] in the order of the names
  int acceptor, donor, rotatable;
  std::vector<int> qed_acceptors;
  std::vector<int> qed_alerts;
};

}  // namespace molgraph::descriptors

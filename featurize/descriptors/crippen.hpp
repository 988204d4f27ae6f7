// Contributions of atoms to logP and molar refractivity. Private to this folder.
#pragma once

#include <vector>

#include "featurize/descriptors/patterns.hpp"
#include "featurize/descriptors/work.hpp"

namespace molgraph::descriptors {

/// Wildman & Crippen 1999, J. Chem. Inf. Comput. Sci. 39:868, with RDKit's patterns and values. The type of an atom is
/// that of the first pattern in the list that can begin with the atom. Shared by threads.
class CrippenTable {
 public:
  CrippenTable();
  /// Fills logp, refractivity and their sums with hydrogens.
  void contributions(Work& work) const;

 private:
  struct Values {
    double logp, refractivity;
  };
  Values at(Matcher& matcher, std::size_t atom) const;

  PatternLibrary library_;
  std::vector<Values> values_;                   ///< [patterns]
  std::shared_ptr<const RDKit::ROMol> hydride_;  ///< H-C and H-H, which represent implicit hydrogens
};

}  // namespace molgraph::descriptors

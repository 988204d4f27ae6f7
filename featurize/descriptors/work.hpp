// The molecule being processed: its properties and values that several descriptors share. Private to this folder.
#pragma once

#include <GraphMol/ROMol.h>

#include <cstdint>
#include <vector>

#include "featurize/descriptors/compact_molecule.hpp"
#include "featurize/descriptors/matcher.hpp"

namespace molgraph::descriptors {

/// Lengths of shortest paths, [n, stride] with stride >= n; at least kFar if there is no path.
struct Distances {
  static constexpr std::int16_t kFar = 16000;
  std::size_t stride = 0;
  std::vector<std::int16_t> steps;     ///< in bonds
  std::vector<std::int16_t> twelfths;  ///< 12 times the sum of 1 / bond order on the path
  bool has_twelfths = true;            ///< false: a bond has no order, or a path is too long for 16 bits
};

/// Working memory of one thread. Each field is filled by the function named, in this order. Later functions use earlier
/// fields.
struct Work {
  const RDKit::ROMol* rdkit = nullptr;
  CompactMolecule molecule;
  RdkitParts parts;
  Matcher matcher;  ///< of the library of all counted patterns

  std::vector<double> charge;  ///< [n] Gasteiger's; gasteiger_charges()
  bool has_parameters = true;  ///< for the charges of all atoms

  std::vector<double> logp, refractivity;     ///< [n] Crippen's contributions; CrippenTable::contributions()
  double logp_sum = 0, refractivity_sum = 0;  ///< including hydrogens

  std::vector<double> area;  ///< [n] Labute's, angstrom^2; labute_areas()
  double hydrogen_area = 0;  ///< sum over all hydrogens
  double polar_area = 0;     ///< TPSA, angstrom^2

  Distances distances;         ///< find_distances()
  std::vector<double> estate;  ///< [n] electrotopological state; estate_indices()

  double weight = 0;                             ///< average molecular mass, Da
  int acceptors = 0, donors = 0, rotatable = 0;  ///< as RDKit counts them

  bool loses_hydrogens = false;  ///< RDKit's removeHs() removes atoms; determined with QED

  void assign(const RDKit::ROMol& molecule_of_rdkit);
  std::size_t size() const { return molecule.size(); }
};

void gasteiger_charges(Work& work);
void labute_areas(Work& work);
void find_distances(Work& work);
void estate_indices(Work& work);

}  // namespace molgraph::descriptors

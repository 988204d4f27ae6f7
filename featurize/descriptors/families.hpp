// Descriptor families. Each writes its values into a row at the indices of slots.hpp. Private to this folder.
#pragma once

#include "featurize/descriptors/counted_patterns.hpp"
#include "featurize/descriptors/crippen.hpp"
#include "featurize/descriptors/work.hpp"

namespace molgraph::descriptors {

void write_masses_and_electrons(Work& work, double* row);
void write_charges(const Work& work, double* row);
void write_electrotopology(const Work& work, double* row);
void write_surface(Work& work, double* row);
void write_connectivity(const Work& work, double* row);
void write_topology(const Work& work, double* row);
void write_rings(const Work& work, double* row);
void write_counts(Work& work, const CountedPatterns& patterns, double* row);
void write_fragments(Work& work, const CountedPatterns& patterns, double* row);
/// Uses weight, polar area, logP and counts of `work`.
void write_qed(Work& work, const CountedPatterns& patterns, double* row);
/// Throws if an atom has no charge, a bond has no matrix element, or RDKit would mix the properties of two molecules.
void write_bcut(const Work& work, double* row);
void write_fingerprint_densities(const Work& work, double* row);

/// TPSA, angstrom^2: Ertl, Rohde & Selzer 2000, J. Med. Chem. 43:3714; nitrogen and oxygen only.
double polar_surface(const Work& work);
/// Average mass, Da, with or without hydrogens.
double molecular_weight(const Work& work, bool with_hydrogens);

}  // namespace molgraph::descriptors

// Descriptors and the fingerprint of a parsed molecule. Private to this folder, because it uses RDKit types.
#pragma once

#include <GraphMol/ROMol.h>

#include <string_view>

#include "featurize/graph/molecular_graph.hpp"
#include "featurize/smiles/parent.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// Compiles the descriptor patterns unless this was done before. Throws FileError if RDKit's list of fragments cannot
/// be found or read.
void prepare_descriptors();

/// Fills MolecularGraph::descriptors and fingerprint if `extras` requests them. The molecule must be sanitised and, if
/// requested, replaced with its parent. `text` is the SMILES from which it was read (not used if marks are cleaned).
void add_whole_molecule(const RDKit::ROMol& molecule, std::string_view text, StereoMarks marks, Standardize standardize,
                        const FeaturizerExtras& extras, MolecularGraph& graph);

}  // namespace molgraph

// Descriptors and the fingerprint of a parsed molecule. Private to this room: it shows RDKit types.
#pragma once

#include <GraphMol/ROMol.h>

#include <string_view>

#include "featurize/graph/molecular_graph.hpp"
#include "featurize/smiles/parent.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// Compiles the patterns of descriptors if that has not been done. Throws FileError if RDKit's list of fragments cannot
/// be found or read.
void prepare_descriptors();

/// Fills MolecularGraph::descriptors and fingerprint as far as `extras` asks for them. The molecule is sanitised and is
/// the parent if one is asked for; `text` is the SMILES from which it was read (unused where marks are cleaned).
void add_whole_molecule(const RDKit::ROMol& molecule, std::string_view text, StereoMarks marks, Standardize standardize,
                        const FeaturizerExtras& extras, MolecularGraph& graph);

}  // namespace molgraph

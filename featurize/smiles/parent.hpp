// The parent structure of a molecule: salts and solvents off, charges neutral. Private to this room: it shows RDKit
// types.
#pragma once

#include <GraphMol/RWMol.h>

#include <cstdint>
#include <memory>

#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

/// Whether RDKit's own clean-up of stereo marks has seen the molecule (parse_smiles), or its marks stand as they are
/// written (parse_smiles_as_written); the parent is as the molecule is.
enum class StereoMarks : std::uint8_t { cleaned, as_written };

/// Puts the parent in the molecule's place where `standardize` asks for it: of several fragments the largest one with
/// carbon, if any has some (RDKit's LargestFragmentChooser: most atoms, then mass, then alphabet), then acids and bases
/// neutralised as far as RDKit's Uncharger does it: a charge that cannot go (quaternary nitrogen, nitro group, N-oxide)
/// stays, together with its counter-charge where the molecule has one. A molecule of one fragment without charges stays
/// untouched, bit for bit. Atoms keep their order, so that a salt and its parent, written alike, are equal afterwards.
/// Bonds to metals stay as they are written. Thread-safe. Throws RDKit's exceptions where no valid molecule is left,
/// as of [CH5+].
void standardise(std::unique_ptr<RDKit::RWMol>& molecule, Standardize standardize, StereoMarks marks);

}  // namespace molgraph

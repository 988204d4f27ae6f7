// The parent structure of a molecule: without salts and solvents, with neutral charges. Private to this folder, because
// it uses RDKit types.
#pragma once

#include <GraphMol/RWMol.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "featurize/graph/featurizer_options.hpp"
#include "featurize/smiles/molecule.hpp"

namespace molgraph {

/// Whether RDKit's clean-up of stereo marks was applied to the molecule (parse_smiles) or the marks are as written
/// (parse_smiles_as_written). The same applies to the parent.
enum class StereoMarks : std::uint8_t { cleaned, as_written };

/// Replaces the molecule with its parent if `standardize` requests it. Of several fragments, keeps the largest one that
/// contains carbon, if there is one (RDKit's LargestFragmentChooser: most atoms, then mass, then alphabetical order).
/// Then neutralises acids and bases as far as RDKit's Uncharger does: a charge that cannot be removed (quaternary
/// nitrogen, nitro group, N-oxide) stays, together with its counter-charge if the molecule has one. A molecule with one
/// fragment and no charges stays unchanged, bit for bit. Atoms keep their order, so a salt and its parent, written in
/// the same way, give equal results. Bonds to metals stay as written. Thread-safe. Throws RDKit's exceptions if no
/// valid molecule remains, for example for [CH5+].
void standardise(std::unique_ptr<RDKit::RWMol>& molecule, Standardize standardize, StereoMarks marks);

/// Returns the molecule as Featurizer sees it, with the same order of atoms, or the reason why there is none.
/// Thread-safe.
ParsedMolecule standardised_molecule(std::string_view text, bool is_mol_block, const FeaturizerOptions& options);

}  // namespace molgraph

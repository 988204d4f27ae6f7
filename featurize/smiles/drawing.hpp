// Drawings of molecules, plain or with a value per atom. RDKit's drawing code is linked only here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

/// Returns the reason why this build cannot draw molecules, "" if it can.
std::string why_no_drawing();

/// Returns an SVG of the molecule as a model with this featuriser sees it. A disc behind atom i shows values[i]: orange
/// above 0, blue below (both from Okabe & Ito's colour-blind-safe palette), white for 0, and fully saturated at the
/// largest absolute value. `values` [n] are in the featuriser's order of atoms. `legend` is printed below the drawing.
/// Throws DataError if the text is not a molecule of n atoms, and FileError if this build cannot draw.
std::string draw_atoms(std::string_view text, bool is_mol_block, const FeaturizerOptions& featurizer,
                       std::span<const double> values, const std::string& legend);

/// Returns an inline SVG of width x height user units with a transparent background: an <svg> element with a viewBox
/// that does not contain the SMILES. Returns "" if the text is not a molecule, has more than kMaxDrawnAtoms atoms, or
/// this build cannot draw. Thread-safe.
std::string draw_molecule_svg(std::string_view smiles, int width, int height);

/// Larger molecules are not drawn, because the drawing would not be readable.
inline constexpr int kMaxDrawnAtoms = 150;

}  // namespace molgraph

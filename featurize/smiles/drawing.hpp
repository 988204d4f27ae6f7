// A molecule as a picture, plain or with a number on each atom, by RDKit's drawing code, which is linked to nothing
// else.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

/// Why molecules cannot be drawn in this build, "" if they can.
std::string why_no_drawing();

/// SVG of the molecule as a model with that featuriser sees it. Behind atom i is a disc: orange for values[i] above 0,
/// blue below (both colours from Okabe & Ito's colour-blind-safe set), white for 0 and full at the largest size of all.
/// `values` [n] in the featuriser's order of atoms; `legend` stands below. Throws DataError where the text is no
/// molecule of n atoms, FileError where nothing can be drawn.
std::string draw_atoms(std::string_view text, bool is_mol_block, const FeaturizerOptions& featurizer,
                       std::span<const double> values, const std::string& legend);

/// Inline SVG of width x height user units, on a transparent ground: an <svg> with a viewBox and nothing that names the
/// text. "" where the text is no molecule, it has more atoms than kMostDrawnAtoms, or nothing can be drawn.
/// Thread-safe.
std::string draw_molecule_svg(std::string_view smiles, int width, int height);

/// More atoms give no such picture: nobody could read it.
inline constexpr int kMostDrawnAtoms = 150;

}  // namespace molgraph

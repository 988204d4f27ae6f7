// Replacement for drawing.cpp in a build without RDKit's drawing library.
#include "featurize/graph/error.hpp"
#include "featurize/smiles/drawing.hpp"

namespace molgraph {

std::string why_no_drawing() { return "built without RDKit's drawing library (MolDraw2D)"; }

std::string draw_atoms(std::string_view, bool, const FeaturizerOptions&, std::span<const double>, const std::string&) {
  throw FileError(why_no_drawing());
}

std::string draw_molecule_svg(std::string_view, int, int) { return {}; }

}  // namespace molgraph

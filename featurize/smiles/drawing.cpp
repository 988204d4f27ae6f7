#include "featurize/smiles/drawing.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/MolDraw2D/MolDraw2DSVG.h>
#include <GraphMol/MolDraw2D/MolDraw2DUtils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/molecule.hpp"
#include "featurize/smiles/parent.hpp"

namespace molgraph {
namespace {

constexpr int kWidth = 450, kHeight = 350;  // pixels

RDKit::DrawColour colour_of(double share) {
  constexpr double kOrange[] = {0.9025, 0.6245, 0}, kBlue[] = {0, 0.4475, 0.6985};  // #E69F00, #0072B2: RDKit cuts
  const double* full = share > 0 ? kOrange : kBlue;
  const auto mix = [&](int c) { return 1 + std::abs(share) * (full[c] - 1); };
  return {mix(0), mix(1), mix(2)};
}

std::string draw(const RDKit::ROMol& molecule, std::span<const double> values, const std::string& legend) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::vector<int> atoms;
  const std::vector<int> bonds;  // empty: RDKit would colour the bonds between two discs
  std::map<int, RDKit::DrawColour> colours;
  std::map<int, double> radii;
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    atoms.push_back(i);
    colours[i] = colour_of(largest > 0 ? values[static_cast<std::size_t>(i)] / largest : 0);
    radii[i] = 0.4;  // a bond has length 1.5
  }
  RDKit::MolDraw2DSVG drawer(kWidth, kHeight);
  RDKit::assignBWPalette(drawer.drawOptions().atomColourPalette);
  drawer.drawOptions().fillHighlights = true;
  RDKit::MolDraw2DUtils::prepareAndDrawMolecule(drawer, molecule, legend, &atoms, &bonds, &colours, nullptr, &radii);
  drawer.finishDrawing();
  return drawer.getDrawingText();
}

/// Locked while RDKit draws, because RDKit's fonts and templates are static variables.
std::mutex& drawing() {
  static std::mutex mutex;
  return mutex;
}

/// Returns the contents of the drawer's <svg> element, without header and comments and with double quotes.
std::string svg_content(const std::string& svg) {
  const std::size_t opened = svg.find("<svg"), begin = svg.find('>', opened), end = svg.rfind("</svg>");
  if (opened == std::string::npos || end == std::string::npos || begin > end) return {};
  std::string content = svg.substr(begin + 1, end - begin - 1);
  for (std::size_t at; (at = content.find("<!--")) != std::string::npos;) {
    const std::size_t closed = content.find("-->", at);
    content.erase(at, closed == std::string::npos ? closed : closed + 3 - at);
  }
  for (char& c : content)
    if (c == '\'') c = '"';
  return content;
}

}  // namespace

std::string why_no_drawing() { return {}; }

std::string draw_atoms(std::string_view text, bool is_mol_block, const FeaturizerOptions& featurizer,
                       std::span<const double> values, const std::string& legend) {
  const ParsedMolecule parsed = standardised_molecule(text, is_mol_block, featurizer);
  std::string failure = parsed.reason, svg;
  if (failure.empty())
    failure = reason_of_failure([&] {
      if (parsed.molecule->getNumAtoms() != values.size()) return;
      const std::lock_guard lock(drawing());
      svg = draw(*parsed.molecule, values, legend);
    });
  if (svg.empty())
    throw DataError("", 0, "cannot be drawn: " + (failure.empty() ? "it has a different number of atoms" : failure),
                    std::string(text));
  return svg;
}

std::string draw_molecule_svg(std::string_view smiles, int width, int height) {
  const ParsedMolecule parsed = parse_smiles(smiles);
  if (!parsed.molecule || static_cast<int>(parsed.molecule->getNumAtoms()) > kMaxDrawnAtoms) return {};
  std::string content;
  const std::string problem = reason_of_failure([&] {
    const std::lock_guard lock(drawing());
    constexpr bool no_freetype = true;
    RDKit::MolDraw2DSVG drawer(width, height, -1, -1, no_freetype);
    drawer.drawOptions().clearBackground = false;
    RDKit::MolDraw2DUtils::prepareAndDrawMolecule(drawer, *parsed.molecule);
    drawer.finishDrawing();
    content = svg_content(drawer.getDrawingText());
  });
  if (!problem.empty() || content.empty()) return {};
  return "<svg viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) + "\">" + content + "</svg>";
}

}  // namespace molgraph

#include "featurize/smiles/drawing.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/MolDraw2D/MolDraw2DSVG.h>
#include <GraphMol/MolDraw2D/MolDraw2DUtils.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>
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

/// Returns the value of an attribute of an element, "" if it has none.
std::string_view attribute(std::string_view element, std::string_view name) {
  const std::string start = " " + std::string(name) + "='";
  const std::size_t at = element.find(start);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + start.size();
  return element.substr(begin, element.find('\'', begin) - begin);
}

/// The properties of a style attribute that change how the molecule looks.
std::string short_style(std::string_view style) {
  // Defaults, except that filled shapes do not overlap themselves.
  constexpr std::array<std::string_view, 9> kWithoutEffect{
      "fill-rule:evenodd", "stroke-linecap:butt", "stroke-linejoin:miter", "stroke-opacity:1", "fill-opacity:1",
      "font-style:normal", "font-weight:normal",  "stroke:none",           "text-anchor:start"};
  std::string kept;
  for (std::size_t begin = 0; begin < style.size();) {
    const std::size_t end = std::min(style.find(';', begin), style.size());
    const std::string_view property = style.substr(begin, end - begin);
    if (!property.empty() && std::ranges::find(kWithoutEffect, property) == kWithoutEffect.end())
      kept += (kept.empty() ? "" : ";") + std::string(property);
    begin = end + 1;
  }
  return kept;
}

/// A path without the spaces next to its letters.
std::string short_path(std::string_view path) {
  std::string kept;
  for (std::size_t k = 0; k < path.size(); ++k) {
    const bool next_to_letter = k == 0 || k + 1 == path.size() ||
                                std::isalpha(static_cast<unsigned char>(path[k - 1])) != 0 ||
                                std::isalpha(static_cast<unsigned char>(path[k + 1])) != 0;
    if (path[k] != ' ' || !next_to_letter) kept += path[k];
  }
  return kept;
}

/// Shortens a drawing to about a sixth. The drawer writes one path per bond and half bond with its whole style. Lines
/// of the same style become one path, and everything else follows them in its order.
std::string compact_drawing(std::string_view svg) {
  std::vector<std::pair<std::string, std::string>> lines;  // style, path
  std::string rest;
  for (std::size_t begin = svg.find("<svg"); begin != std::string_view::npos; begin = svg.find('<', begin + 1)) {
    const std::string_view element = svg.substr(begin, svg.find('>', begin) + 1 - begin);
    const std::string style = short_style(attribute(element, "style"));
    if (element.starts_with("<path")) {
      const std::string path = short_path(attribute(element, "d"));
      if (style.find("fill:none") == std::string::npos) {
        rest += "<path d=\"" + path + "\" style=\"" + style + "\"/>";
        continue;
      }
      const auto same = std::ranges::find(lines, style, &std::pair<std::string, std::string>::first);
      if (same == lines.end()) lines.emplace_back(style, path);
      else same->second += path;
    } else if (element.starts_with("<text")) {
      const std::size_t letter = begin + element.size();
      rest += "<text x=\"" + std::string(attribute(element, "x")) + "\" y=\"" + std::string(attribute(element, "y")) +
              "\" style=\"" + style + "\">" + std::string(svg.substr(letter, svg.find('<', letter) - letter)) +
              "</text>";
    } else if (std::isalpha(static_cast<unsigned char>(element[1])) != 0 && !element.starts_with("<svg")) {
      std::string copy(element);
      std::ranges::replace(copy, '\'', '"');
      rest += copy;
    }
  }
  std::string content;
  for (const auto& [style, path] : lines) content += "<path d=\"" + path + "\" style=\"" + style + "\"/>";
  return content + rest;
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
    content = compact_drawing(drawer.getDrawingText());
  });
  if (!problem.empty() || content.empty()) return {};
  return "<svg viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) + "\">" + content + "</svg>";
}

}  // namespace molgraph

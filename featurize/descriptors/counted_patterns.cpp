#include "featurize/descriptors/counted_patterns.hpp"

#include <GraphMol/GraphMol.h>
#include <GraphMol/Substruct/SubstructMatch.h>

#include <algorithm>
#include <fstream>

#include "featurize/descriptors/qed_patterns.hpp"
#include "featurize/descriptors/slots.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph::descriptors {
namespace {

// RDKit's definitions from its Lipinski module. Rotatable bonds follow the strict definition, without amides, esters
// and symmetric groups such as CF3.
constexpr const char* kDonor = "[N&!H0&v3,N&!H0&+1&v4,O&H1&+0,S&H1&+0,n&H1&+0]";
constexpr const char* kAcceptor =
    "[$([O,S;H1;v2]-[!$(*=[O,N,P,S])]),$([O,S;H0;v2]),$([O,S;-]),$([N;v3;!$(N-*=!@[O,N,P,S])]),$([nH0,o,s;+0])]";
constexpr const char* kRotatable =
    "[!$(*#*)&!D1&!$(C(F)(F)F)&!$(C(Cl)(Cl)Cl)&!$(C(Br)(Br)Br)&!$(C([CH3])([CH3])[CH3])"
    "&!$([CD3](=[N,O,S])-!@[#7,O,S!D1])&!$([#7,O,S!D1]-!@[CD3]=[N,O,S])"
    "&!$([CD3](=[N+])-!@[#7!D1])&!$([#7!D1]-!@[CD3]=[N+])]-,:;!@"
    "[!$(*#*)&!D1&!$(C(F)(F)F)&!$(C(Cl)(Cl)Cl)&!$(C(Br)(Br)Br)&!$(C([CH3])([CH3])[CH3])]";

/// Converts a name in the file to a descriptor name: "fr_C=O" -> "fr_C_O".
std::string listed_name(std::string name) {
  for (char& c : name)
    if (c == '=' || c == '-') c = '_';
  return name;
}

/// Reads lines with code, description, SMARTS and more, separated by tabs; "#" begins a comment.
void read_fragments(const std::string& file, PatternLibrary& library, std::vector<int>& fragments) {
  std::ifstream in(file);
  if (!in) throw FileError("cannot read " + file + ": install rdkit-data");
  fragments.assign(kNames.size() - kFirstFragment, -1);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t after_name = line.find('\t');
    const std::size_t after_text = after_name == std::string::npos ? after_name : line.find('\t', after_name + 1);
    if (after_text == std::string::npos) continue;
    const std::string name = listed_name(line.substr(0, after_name));
    std::string smarts = line.substr(after_text + 1, line.find('\t', after_text + 1) - after_text - 1);
    while (!smarts.empty() && (smarts.back() == '\r' || smarts.back() == ' ')) smarts.pop_back();
    const auto* listed = std::find(kNames.begin() + kFirstFragment, kNames.end(), name);
    if (listed == kNames.end()) continue;
    fragments[static_cast<std::size_t>(listed - kNames.begin()) - kFirstFragment] =
        library.add(smarts, file + ": " + name);
  }
  const auto missing = std::find(fragments.begin(), fragments.end(), -1);
  if (missing != fragments.end()) {
    const auto place = kFirstFragment + static_cast<std::size_t>(missing - fragments.begin());
    throw FileError(file + " does not contain the fragment " + std::string(kNames[place]));
  }
}

}  // namespace

CountedPatterns::CountedPatterns(const std::string& fragment_file) {
  read_fragments(fragment_file, library, fragments);
  acceptor = library.add(kAcceptor, "acceptors");
  donor = library.add(kDonor, "donors");
  rotatable = library.add(kRotatable, "rotatable bonds");
  for (const char* smarts : kQedAcceptors) qed_acceptors.push_back(library.add(smarts, smarts));
  for (const char* smarts : kQedAlerts) qed_alerts.push_back(library.add(smarts, smarts));
}

int CountedPatterns::count(Matcher& matcher, const RDKit::ROMol& molecule, int pattern) const {
  const int found = matcher.count(pattern);
  if (found >= 0) return found;
  return static_cast<int>(RDKit::SubstructMatch(molecule, *library.pattern(pattern).query).size());
}

}  // namespace molgraph::descriptors

// SMILES and mol blocks: spliced, with valid and invalid characters.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/pair_relations.hpp"
#include "featurize/smiles/smiles.hpp"
#include "tests/fuzz/kind.hpp"

namespace molgraph::fuzz {
namespace {

constexpr std::string_view kSymbols = "CNOSPFIBrlcnosp()[]=#$:/\\@+-%.0123456789HTeai*~&;,!?<>^ \t";
const std::vector<std::string> kPieces{"[C@@H]",
                                       "[nH]",
                                       "%99",
                                       "%(100)",
                                       "C(=O)O",
                                       "[13CH4]",
                                       "[Fe+3]",
                                       "[U]",
                                       "c1ccccc1",
                                       "[CH-]",
                                       "->",
                                       "[*:1]",
                                       "[#118]",
                                       "\xE2\x80\x93",
                                       "\xD0\xA1",
                                       "\xEF\xBB\xBF",
                                       "\xC2\xA0",
                                       std::string(1, '\0'),
                                       "\x01",
                                       "\r\n",
                                       "\xFF",
                                       "\x7F",
                                       "|$_AV:1$|",
                                       "()",
                                       "[",
                                       "]",
                                       "(((((",
                                       ")))))",
                                       "[Xx]",
                                       "[C@SP3]",
                                       "[Pt@OH25]",
                                       "[C@@@]",
                                       "[-0]",
                                       "[CH99]",
                                       "[9999999999C]",
                                       "{",
                                       "`",
                                       "\"",
                                       "CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC",
                                       "C12C3C4C1C5C2C3C45",
                                       "/C=C/",
                                       "\\C=C\\",
                                       "=",
                                       "==",
                                       "$",
                                       "[H]",
                                       "[2H]",
                                       "[H][H]",
                                       "B(O)O"};
constexpr const char* kMolecules[] = {"CCO",
                                      "c1ccccc1C(=O)[O-]",
                                      "[Na+].[Cl-]",
                                      "F/C=C/[C@H](N)Br",
                                      "CC(C)(C)c1ccc(O)cc1",
                                      "C1CC1C#N",
                                      "N[C@@H](C)C(=O)O",
                                      "c1ccc2[nH]ccc2c1",
                                      "[13CH3]C",
                                      "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
                                      "OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O",
                                      "[O-][N+](=O)c1ccccc1",
                                      "C[Si](C)(C)C",
                                      "FC(F)(F)S(=O)(=O)O",
                                      "[Fe+2].[O-]C=O",
                                      "C1CCC2(CC1)CCCC2",
                                      "C/C=C\\C=C",
                                      "[H]O[H]",
                                      "[2H]C",
                                      "[NH4+]",
                                      "OP(O)(O)=O",
                                      "c1cnc[nH]1",
                                      "C%10CCCC%10",
                                      "B1OC(C)(C)C(C)(C)O1",
                                      "[Pt](Cl)(Cl)(N)N",
                                      "[He]",
                                      "CC(=O)Oc1ccccc1C(=O)O",
                                      "C12C3C4C1C5C2C3C45",
                                      "S(=O)(=O)(c1ccccc1)N",
                                      "[C-]#[O+]"};
constexpr const char* kBlock =
    "\n  made\n\n  4  3  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n    1.5000    "
    "0.0000    0.0000 C   0  0\n"
    "    2.2000    1.2000    0.0000 O   0  0\n    2.2000   -1.2000    0.0000 N   0  3\n  1  2  1  0\n  2  3  2  0\n  2 "
    " 4  1  0\nM  CHG  1   4   1\nM  END\n";

/// True if the text has a character that no SMILES has. Such a text must not be accepted, not even up to the character.
bool has_invalid_character(std::string_view text) {
  return std::ranges::any_of(trim(text), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x7F || (byte < 0x20 && byte != '\t');
  });
}

void check_graph(const MolecularGraph& graph, int most_atoms) {
  const FeatureShape& shape = feature_shape(graph.features);
  const int atoms = graph.num_atoms();
  require(atoms > 0 && atoms <= most_atoms, "as many atoms as the limit allows");
  for (std::size_t k = 0; k < graph.atoms.size(); ++k)
    require(graph.atoms[k] < shape.atom_dims[k % static_cast<std::size_t>(shape.atom_columns)],
            "atom columns in range");
  for (std::size_t k = 0; k < graph.bonds.size(); ++k)
    require(graph.bonds[k] < shape.bond_dims[k % static_cast<std::size_t>(shape.bond_columns)],
            "bond columns in range");
  for (const std::uint16_t atom : graph.bond_atoms) require(atom < atoms, "bonds between atoms");
  require(graph.bonds.size() == static_cast<std::size_t>(graph.num_bonds() * shape.bond_columns),
          "columns of every bond");
  if (atoms <= 100)
    require(pair_relations(graph.view()).topology.size() == static_cast<std::size_t>((atoms + 1) * (atoms + 1)),
            "relations of all pairs");
}

class Smiles : public Kind {
 public:
  void make_seeds(const std::string&) const override {}

  void open(const std::string&, const std::vector<std::string>& more) override {
    molecules_.assign(std::begin(kMolecules), std::end(kMolecules));
    for (const std::string& path : more) {  // one SMILES per line
      std::istringstream lines(read_file(path));
      for (std::string line; std::getline(lines, line);)
        if (!trim(line).empty()) molecules_.emplace_back(trim(line));
    }
  }

  bool run(Random& random, const std::string& scratch) const override {
    const FeaturizerLimits limits{.max_atoms = 300, .max_text = 5000};
    const Featurizer featurizer({one_in(random, 3)   ? Features::zinc
                                 : one_in(random, 2) ? Features::ogb
                                                     : Features::molgraph},
                                limits);
    const bool block = one_in(random, 8);
    const std::string text = block ? damaged_block(random) : damaged_smiles(random);
    put_file(scratch + "/text", text);
    const auto read = [&] { return block ? featurizer.mol_block(text) : featurizer.smiles(text); };
    const FeaturizeResult result = read(), again = read();
    require(result.index() == again.index(), "the same result twice");
    if (const auto* rejection = std::get_if<Rejection>(&result)) {
      require(rejection->status != RowStatus::ok && !rejection->reason.empty(), "a status and a reason");
      require(std::ranges::none_of(rejection->reason, [](char c) { return static_cast<unsigned char>(c) < 0x20; }),
              "a reason of one line");
      return false;
    }
    const MolecularGraph& graph = std::get<MolecularGraph>(result);
    check_graph(graph, limits.max_atoms);
    require(
        graph.atoms == std::get<MolecularGraph>(again).atoms && graph.bonds == std::get<MolecularGraph>(again).bonds,
        "the same graph twice");
    require(block || !has_invalid_character(text), "no molecule from text with a character that no SMILES has");
    return true;
  }

 private:
  std::string damaged_smiles(Random& random) const {
    std::string text = one_of(random, molecules_);
    if (one_in(random, 3)) {  // the beginning of one molecule and the end of another
      const std::string& other = one_of(random, molecules_);
      text = text.substr(0, below(random, text.size() + 1)) + other.substr(below(random, other.size()));
    }
    if (one_in(random, 50)) {
      const std::string piece = text;
      for (std::size_t n = below(random, 400); n > 0; --n) text += piece;
    }
    return damaged(std::move(text), random, kSymbols, kPieces);
  }

  static std::string damaged_block(Random& random) {
    return damaged(kBlock, random, " 0123456789CNOMEND.-\n",
                   {"M  ISO", "V3000", "999", " -1", "\n\n", "A    1\n", "M  END\n", "R# ", "  0  0", "$$$$\n",
                    std::string(1, '\0')});
  }

  std::vector<std::string> molecules_;
};

}  // namespace

std::unique_ptr<Kind> make_smiles() { return std::make_unique<Smiles>(); }

}  // namespace molgraph::fuzz

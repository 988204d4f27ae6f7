#include "featurize/smiles/stereo.hpp"

#include <GraphMol/Atom.h>
#include <GraphMol/Bond.h>
#include <GraphMol/GraphMol.h>
#if __has_include(<GraphMol/CIPLabeler/CIPLabeler.h>)
#include <GraphMol/CIPLabeler/CIPLabeler.h>
#else  // path in Debian packages
#include <CIPLabeler/CIPLabeler.h>
#endif

#include <algorithm>
#include <array>
#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <new>
#include <optional>
#include <span>

namespace molgraph {
namespace {

using Colour = std::uint64_t;

/// Substituents that are not atoms of the graph. Colours of atoms are hashes and do not collide with them.
constexpr Colour kHydrogen = 1, kLonePair = 2;
/// A double bond in a smaller ring has only one possible configuration.
constexpr int kSmallestRingWithTrans = 8;
/// Budget of the labeller in steps on paths through the molecule. None of 54,000 MoleculeNet molecules exceeds it.
/// Within the budget, the labeller took at most 60 ms for all molecules tried.
constexpr std::int64_t kMaxSteps = 20000;
/// Largest ring that can prevent the inversion of a nitrogen.
constexpr int kCageRing = Rings::kLargestRing;

enum Element : int {
  kBoron = 5,
  kCarbon = 6,
  kNitrogen = 7,
  kSilicon = 14,
  kPhosphorus = 15,
  kSulfur = 16,
  kGermanium = 32,
  kArsenic = 33,
  kSelenium = 34,
  kTin = 50
};

/// SplitMix64's finaliser (Steele et al. 2014): spreads 64 bits.
Colour mix(Colour x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool has_tag(const RDKit::Atom& atom) {
  return atom.getChiralTag() == RDKit::Atom::CHI_TETRAHEDRAL_CW ||
         atom.getChiralTag() == RDKit::Atom::CHI_TETRAHEDRAL_CCW;
}

bool has_mark(const RDKit::Bond& bond) { return bond.getStereo() > RDKit::Bond::STEREOANY; }

/// A nitrogen with three neighbours inverts unless it is in a three-membered ring or a bridgehead of a cage. It is a
/// bridgehead if its three bonds are pairwise in rings and no bridge of the cage has length 0: in that case, the
/// largest ring would be the sum of the two others without their common bond.
bool nitrogen_is_held(const RDKit::ROMol& molecule, const RDKit::Atom& atom, const Rings& rings) {
  const int centre = static_cast<int>(atom.getIdx());
  if (rings.smallest_of_atom(centre, 3) == 3) return true;
  std::vector<int> next;
  for (const RDKit::Atom* neighbour : molecule.atomNeighbors(&atom))
    next.push_back(static_cast<int>(neighbour->getIdx()));
  std::array<int, 3> size{};
  for (std::size_t k = 0; k < 3; ++k) {
    size[k] = rings.smallest_through(next[k], centre, next[(k + 1) % 3], kCageRing);
    if (size[k] == 0) return false;
  }
  std::sort(size.begin(), size.end());
  return size[2] != size[0] + size[1] - 2;
}

/// Returns true if the atom is a centre when it has four different substituents, one of which may be a hydrogen or a
/// lone pair.
bool could_be_centre(const RDKit::ROMol& molecule, const RDKit::Atom& atom, const Rings& rings) {
  const auto neighbours = atom.getDegree(), hydrogens = atom.getTotalNumHs();
  if (neighbours < 3 || neighbours + hydrogens > 4 || hydrogens > 1) return false;
  const int charge = atom.getFormalCharge();
  if (neighbours + hydrogens == 4) {
    switch (atom.getAtomicNum()) {
      case kCarbon:
      case kSilicon:
      case kGermanium:
      case kTin:
      case kPhosphorus:
      case kSulfur:
      case kArsenic:
      case kSelenium: return true;
      case kNitrogen: return charge == 1;
      case kBoron: return charge == -1;
      default: return has_tag(atom);  // a metal may be planar: only explicit tags count
    }
  }
  switch (atom.getAtomicNum()) {
    case kPhosphorus:
    case kArsenic: return charge == 0 && atom.getTotalValence() == 3;
    case kSulfur:
    case kSelenium: return (charge == 0 && atom.getTotalValence() == 4) || (charge == 1 && atom.getTotalValence() == 3);
    case kNitrogen: return charge == 0 && nitrogen_is_held(molecule, atom, rings);
    default: return false;
  }
}

/// Returns true if the atom can be one end of a double bond with two sides: a carbon (silicon, germanium) with three
/// substituents, =N- or =[N+]<.
bool could_be_end(const RDKit::Atom& atom) {
  const auto all = atom.getDegree() + atom.getTotalNumHs();
  switch (atom.getAtomicNum()) {
    case kCarbon:
    case kSilicon:
    case kGermanium: return all == 3 && atom.getFormalCharge() == 0;
    case kNitrogen:
      return (atom.getFormalCharge() == 0 && atom.getDegree() == 2 && all == 2) ||
             (atom.getFormalCharge() == 1 && all == 3);
    default: return false;
  }
}

bool could_be_stereo_bond(const RDKit::Bond& bond, const Rings& rings) {
  return bond.getBondType() == RDKit::Bond::DOUBLE && could_be_end(*bond.getBeginAtom()) &&
         could_be_end(*bond.getEndAtom()) &&
         rings.smallest_of_bond(static_cast<int>(bond.getIdx()), kSmallestRingWithTrans - 1) == 0;
}

std::string label_of(const RDKit::RDProps& owner) {
  std::string label;
  owner.getPropIfPresent(RDKit::common_properties::_CIPCode, label);
  return label;
}

CentreLabel centre_label(const RDKit::Atom& atom) {
  const std::string label = label_of(atom);
  if (label == "R") return CentreLabel::R;
  if (label == "S") return CentreLabel::S;
  if (label == "r") return CentreLabel::r;
  return label == "s" ? CentreLabel::s : CentreLabel::none;
}

BondLabel bond_label(const RDKit::Bond& bond) {
  const std::string label = label_of(bond);
  if (label == "E" || label == "e") return BondLabel::E;
  return label == "Z" || label == "z" ? BondLabel::Z : BondLabel::none;
}

class Perception {
 public:
  Perception(RDKit::RWMol& molecule, const Rings& rings)
      : molecule_(molecule), rings_(rings), centres_(molecule.getNumAtoms()), stereo_bonds_(molecule.getNumBonds()) {
    labels_.atom.assign(molecule.getNumAtoms(), CentreLabel::none);
    labels_.bond.assign(molecule.getNumBonds(), BondLabel::none);
    for (const RDKit::Atom* atom : molecule.atoms()) centres_[atom->getIdx()] = could_be_centre(molecule, *atom, rings);
    for (const RDKit::Bond* bond : molecule.bonds()) stereo_bonds_[bond->getIdx()] = could_be_stereo_bond(*bond, rings);
  }

  StereoLabels run() {
    if (centres_.none() && stereo_bonds_.none()) return std::move(labels_);
    find_labels();
    label_remaining();
    return std::move(labels_);
  }

 private:
  /// Gets RDKit's labels of atoms and bonds that have a configuration.
  void find_labels() {
    boost::dynamic_bitset<> atoms(centres_.size()), bonds(stereo_bonds_.size());
    for (RDKit::Atom* atom : molecule_.atoms()) {
      atom->clearProp(RDKit::common_properties::_CIPCode);
      atoms[atom->getIdx()] = centres_[atom->getIdx()] && has_tag(*atom);
    }
    for (RDKit::Bond* bond : molecule_.bonds()) {
      bond->clearProp(RDKit::common_properties::_CIPCode);
      bonds[bond->getIdx()] = stereo_bonds_[bond->getIdx()] && has_mark(*bond);
    }
    if (atoms.none() && bonds.none()) return;  // avoid the labeller's copy of the molecule
    if (!within_step_limit(atoms, bonds)) return;
    try {
      RDKit::CIPLabeler::assignCIPLabels(molecule_, atoms, bonds);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      return;  // too many paths through the molecule: the labels found so far depend on the order of the atoms
    }
    for (const RDKit::Atom* atom : molecule_.atoms()) labels_.atom[atom->getIdx()] = centre_label(*atom);
    for (const RDKit::Bond* bond : molecule_.bonds()) labels_.bond[bond->getIdx()] = bond_label(*bond);
  }

  /// Returns false if the labeller would take too long. The decision depends on the graph alone, because the labeller
  /// cannot be interrupted and its own limit allows 20 s for a symmetric molecule of 65 atoms. A centre costs the paths
  /// through the molecule as far as its substituents are alike. A centre whose substituents differ only in
  /// configurations costs all paths, for every configuration and every such centre.
  bool within_step_limit(const boost::dynamic_bitset<>& atoms, const boost::dynamic_bitset<>& bonds) {
    std::vector<Unit> units;
    for (auto a = atoms.find_first(); a != atoms.npos; a = atoms.find_next(a))
      units.push_back({static_cast<int>(a), -1});
    for (auto b = bonds.find_first(); b != bonds.npos; b = bonds.find_next(b)) {
      units.push_back({-1, static_cast<int>(b)});
    }
    refine(Properties::cip, [&](int round) {
      for (Unit& unit : units)
        if (unit.distinct_after < 0 && differs(unit)) unit.distinct_after = round;
    });
    colour_.clear();
    const auto tied =
        std::count_if(units.begin(), units.end(), [](const Unit& unit) { return unit.distinct_after < 0; });
    std::int64_t left = kMaxSteps;
    std::vector<char> on_path(labels_.atom.size(), 0);
    for (const Unit& unit : units) {
      const std::int64_t factor = unit.distinct_after < 0 ? static_cast<std::int64_t>(units.size()) * tied : 1;
      const int depth = unit.distinct_after < 0 ? static_cast<int>(on_path.size()) : unit.distinct_after + 3;
      std::int64_t budget = left / factor;
      const std::int64_t before = budget;
      const auto count_from = [&](const RDKit::Atom& atom) { count_paths(atom, depth, on_path, budget); };
      if (unit.atom >= 0) {
        count_from(*molecule_.getAtomWithIdx(static_cast<unsigned>(unit.atom)));
      } else {
        const RDKit::Bond& bond = *molecule_.getBondWithIdx(static_cast<unsigned>(unit.bond));
        count_from(*bond.getBeginAtom());
        count_from(*bond.getEndAtom());
      }
      if (budget <= 0) return false;
      left -= (before - budget) * factor;
    }
    return true;
  }

  struct Unit {
    int atom, bond;           ///< one of them; the other is -1
    int distinct_after = -1;  ///< rounds of refinement until its substituents differ; -1 = never
  };

  bool differs(const Unit& unit) const {
    if (unit.atom >= 0)
      return kind_of_centre(*molecule_.getAtomWithIdx(static_cast<unsigned>(unit.atom))) == Substituents::different;
    const RDKit::Bond& bond = *molecule_.getBondWithIdx(static_cast<unsigned>(unit.bond));
    return sides_differ(*bond.getBeginAtom(), *bond.getEndAtom()) &&
           sides_differ(*bond.getEndAtom(), *bond.getBeginAtom());
  }

  /// Subtracts one from `budget` for every path from the atom with at most `depth` bonds and without repeated atoms.
  void count_paths(const RDKit::Atom& atom, int depth, std::vector<char>& on_path, std::int64_t& budget) const {
    if (--budget <= 0 || depth == 0) return;
    on_path[atom.getIdx()] = 1;
    for (const RDKit::Atom* next : molecule_.atomNeighbors(&atom))
      if (!on_path[next->getIdx()]) count_paths(*next, depth - 1, on_path, budget);
    on_path[atom.getIdx()] = 0;
  }

  void label_remaining() {
    refine(Properties::all, [](int) {});
    std::vector<std::size_t> ring_centres;
    for (std::size_t a = 0; a < labels_.atom.size(); ++a) {
      if (!centres_[a]) continue;
      const auto kind = kind_of_centre(*molecule_.getAtomWithIdx(static_cast<unsigned>(a)));
      if (kind == Substituents::ring_pair) ring_centres.push_back(a);
      if (kind == Substituents::different && labels_.atom[a] == CentreLabel::none)
        labels_.atom[a] = CentreLabel::undefined;
    }
    for (const std::size_t a : ring_centres) {
      if (labels_.atom[a] != CentreLabel::none) continue;
      const int system = rings_.system(static_cast<int>(a));
      const auto shares = [&](std::size_t other) {
        return other != a && rings_.system(static_cast<int>(other)) == system;
      };
      if (std::any_of(ring_centres.begin(), ring_centres.end(), shares)) labels_.atom[a] = CentreLabel::undefined;
    }
    for (std::size_t b = 0; b < labels_.bond.size(); ++b) {
      if (!stereo_bonds_[b] || labels_.bond[b] != BondLabel::none) continue;
      const RDKit::Bond& bond = *molecule_.getBondWithIdx(static_cast<unsigned>(b));
      if (sides_differ(*bond.getBeginAtom(), *bond.getEndAtom()) &&
          sides_differ(*bond.getEndAtom(), *bond.getBeginAtom()))
        labels_.bond[b] = BondLabel::either;
    }
  }

  enum class Substituents : std::uint8_t { different, ring_pair, repeated };

  Substituents kind_of_centre(const RDKit::Atom& atom) const {
    std::vector<std::pair<Colour, bool>> substituents;  // colour, whether by a ring bond
    const bool oxo_alike = atom.getAtomicNum() == kPhosphorus || atom.getAtomicNum() == kSulfur ||
                           atom.getAtomicNum() == kArsenic || atom.getAtomicNum() == kSelenium;
    int ring_bonds = 0;
    for (const RDKit::Bond* bond : molecule_.atomBonds(&atom)) {
      const RDKit::Atom& other = *bond->getOtherAtom(&atom);
      const bool in_ring = rings_.bond(static_cast<int>(bond->getIdx()));
      ring_bonds += in_ring;
      // =O, -OH and -O(-) on one phosphorus or sulfur are exchangeable.
      const bool terminal = oxo_alike && other.getDegree() == 1;
      substituents.emplace_back(terminal ? mix(static_cast<Colour>(other.getAtomicNum())) : colour_[other.getIdx()],
                                in_ring);
    }
    if (atom.getTotalNumHs() > 0) substituents.emplace_back(kHydrogen, false);
    std::sort(substituents.begin(), substituents.end());
    int pairs = 0, in_rings = 0;
    for (std::size_t k = 1; k < substituents.size(); ++k) {
      if (substituents[k].first != substituents[k - 1].first) continue;
      ++pairs;
      in_rings += substituents[k].second && substituents[k - 1].second;
    }
    if (pairs == 0) return Substituents::different;
    return pairs == 1 && in_rings == 1 && ring_bonds == 2 ? Substituents::ring_pair : Substituents::repeated;
  }

  /// Returns true if the two substituents of `end` other than `partner` differ.
  bool sides_differ(const RDKit::Atom& end, const RDKit::Atom& partner) const {
    std::vector<Colour> colours;
    for (const RDKit::Atom* other : molecule_.atomNeighbors(&end))
      if (other != &partner) colours.push_back(colour_[other->getIdx()]);
    colours.insert(colours.end(), end.getTotalNumHs(), kHydrogen);
    if (colours.size() == 1) colours.push_back(kLonePair);
    return colours.size() == 2 && colours[0] != colours[1];
  }

  enum class Properties : std::uint8_t { cip, all };

  /// Colour refinement (Weisfeiler & Leman 1968) until no class splits. Calls `each` before the first round (0) and
  /// after each round. Properties::cip uses the properties that CIP rules rank by, without the configurations.
  template <typename Each>
  void refine(Properties properties, Each each) {
    const std::size_t atoms = labels_.atom.size();
    colour_.resize(atoms);
    for (const RDKit::Atom* atom : molecule_.atoms()) {
      const auto a = atom->getIdx();
      Colour colour = 0;
      const auto add = [&](auto part) { colour = mix(colour ^ static_cast<Colour>(part)); };
      add(atom->getAtomicNum());
      add(atom->getIsotope());
      add(atom->getTotalNumHs());
      if (properties == Properties::all) {
        add(atom->getFormalCharge());
        add(atom->getNumRadicalElectrons());
        add(labels_.atom[a]);
      }
      colour_[a] = colour;
    }
    each(0);
    std::vector<Colour> next(atoms), sorted;
    std::size_t classes = 0;
    for (int round = 1; classes < atoms; ++round) {
      for (std::size_t a = 0; a < atoms; ++a) next[a] = mix(colour_[a]);
      for (const RDKit::Bond* bond : molecule_.bonds()) {
        const auto i = bond->getBeginAtomIdx(), j = bond->getEndAtomIdx();
        const auto label = properties == Properties::all ? labels_.bond[bond->getIdx()] : BondLabel::none;
        const Colour kind = mix((static_cast<Colour>(bond->getBondType()) << 8) + static_cast<Colour>(label));
        next[i] += mix(colour_[j] ^ kind);  // sums, so the order of neighbours does not matter
        next[j] += mix(colour_[i] ^ kind);
      }
      colour_ = next;
      each(round);
      sorted = next;
      std::sort(sorted.begin(), sorted.end());
      const auto found = static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
      if (found == classes) break;
      classes = found;
    }
  }

  RDKit::RWMol& molecule_;
  const Rings& rings_;
  boost::dynamic_bitset<> centres_, stereo_bonds_;  ///< may have a configuration because of their kind
  StereoLabels labels_;
  std::vector<Colour> colour_;
};

}  // namespace

StereoLabels stereo_labels(RDKit::RWMol& molecule, const Rings& rings) { return Perception(molecule, rings).run(); }

}  // namespace molgraph

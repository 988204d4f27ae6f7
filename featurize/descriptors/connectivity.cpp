// Hall & Kier's connectivity and shape indices: Hall & Kier 1991, Rev. Comput. Chem. 2:367.
#include <GraphMol/Atom.h>

#include <cmath>
#include <cstdint>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

/// Two weights of an atom, 1 / sqrt(delta), with the delta of the simple and of the valence connectivity.
struct Weights {
  double simple = 0, valence = 0;
  Weights operator*(const Weights& other) const { return {simple * other.simple, valence * other.valence}; }
  void operator+=(const Weights& other) {
    simple += other.simple;
    valence += other.valence;
  }
};

double inverse_root(double delta) { return delta == 0.0 ? 0.0 : 1.0 / std::sqrt(delta); }

/// Equation 5. For an atom with more hydrogens than outer electrons, delta is not negative but the difference modulo
/// 2^32, as in RDKit, so the weight is almost 0.
Weights weights_of(const AtomFacts& atom) {
  const int outer = elements()[atom.number].outer_electrons;
  const double simple = static_cast<std::uint32_t>(outer) - static_cast<std::uint32_t>(atom.hydrogens);
  double valence = simple;
  if (atom.number <= 1) valence = 0;
  if (atom.number > 10) valence = simple / (atom.number - outer - 1);
  return {inverse_root(simple), inverse_root(valence)};
}

/// Alpha of equation 58: the relative difference in size from a tetrahedral carbon.
double alpha_of(const AtomFacts& atom) {
  const bool sp = atom.hybridisation == RDKit::Atom::SP, sp2 = atom.hybridisation == RDKit::Atom::SP2;
  switch (atom.number) {
    case 0:
    case 1: return 0.0;
    case 6: return sp ? -0.22 : sp2 ? -0.13 : 0.0;
    case 7: return sp ? -0.29 : sp2 ? -0.20 : -0.04;
    case 8: return sp2 ? -0.20 : -0.04;
    case 9: return -0.07;
    case 15: return sp2 ? 0.30 : 0.43;
    case 16: return sp2 ? 0.22 : 0.35;
    case 17: return 0.29;
    case 35: return 0.48;
    case 53: return 0.73;
    default: return elements()[atom.number].radius / elements()[6].radius - 1.0;
  }
}

/// Sums over the paths of 2, 3 and 4 bonds, and the numbers of paths of 2 and 3 bonds. Skips hydrogens that are atoms.
/// RDKit lets a path end at an atom that it already contains, which closes a ring: three-membered rings count as paths
/// of 3 bonds; four-membered rings, and three-membered rings with one additional bond, count as paths of 4 bonds.
struct Paths {
  Weights two, three, four;
  double count_two = 0, count_three = 0;
};

class PathSums {
 public:
  explicit PathSums(const CompactMolecule& molecule, const std::vector<Weights>& weight)
      : molecule_(molecule), weight_(weight) {}

  Paths all() {
    for (std::size_t middle = 0; middle < molecule_.size(); ++middle) around(middle);
    for (const BondFacts& bond : molecule_.bonds) three_bonds(bond.begin, bond.end);
    return paths_;
  }

 private:
  bool skipped(std::size_t atom) const { return molecule_.atoms[atom].number == 1; }

  /// Paths of 2 and 4 bonds, by their middle atom.
  void around(std::size_t middle) {
    if (skipped(middle)) return;
    for (const Arc* left = molecule_.begin(middle); left != molecule_.end(middle); ++left) {
      if (skipped(left->atom)) continue;
      for (const Arc* right = left + 1; right != molecule_.end(middle); ++right) {
        if (skipped(right->atom)) continue;
        const Weights inner = weight_[left->atom] * weight_[middle] * weight_[right->atom];
        paths_.two += inner;
        ++paths_.count_two;
        four_bonds(left->atom, middle, right->atom, inner);
      }
    }
  }

  void four_bonds(std::size_t left, std::size_t middle, std::size_t right, const Weights& inner) {
    for (const Arc* a = molecule_.begin(left); a != molecule_.end(left); ++a) {
      if (a->atom == middle || a->atom == right || skipped(a->atom)) continue;
      for (const Arc* b = molecule_.begin(right); b != molecule_.end(right); ++b) {
        if (b->atom == middle || b->atom == left || skipped(b->atom)) continue;
        if (a->atom != b->atom) {
          paths_.four += inner * weight_[a->atom] * weight_[b->atom];
        } else if (middle < left && middle < right && middle < a->atom) {
          paths_.four += inner * weight_[a->atom];  // a four-membered ring counts once, at its first atom
        }
      }
    }
  }

  void three_bonds(std::size_t u, std::size_t v) {
    if (skipped(u) || skipped(v)) return;
    const Weights inner = weight_[u] * weight_[v];
    for (const Arc* a = molecule_.begin(u); a != molecule_.end(u); ++a) {
      if (a->atom == v || skipped(a->atom)) continue;
      for (const Arc* b = molecule_.begin(v); b != molecule_.end(v); ++b) {
        if (b->atom == u || skipped(b->atom)) continue;
        if (a->atom != b->atom) {
          paths_.three += inner * weight_[a->atom] * weight_[b->atom];
          ++paths_.count_three;
        } else {
          ring_of_three(u, v, a->atom);
        }
      }
    }
  }

  /// Called for each of the ring's three bonds. The ring itself counts at the bond that does not contain its last atom.
  /// Bonds that leave the ring at the opposite atom count at every call.
  void ring_of_three(std::size_t u, std::size_t v, std::size_t tip) {
    const Weights ring = weight_[u] * weight_[v] * weight_[tip];
    if (tip > u && tip > v) {
      paths_.three += ring;
      ++paths_.count_three;
    }
    for (const Arc* out = molecule_.begin(tip); out != molecule_.end(tip); ++out) {
      if (out->atom == u || out->atom == v || skipped(out->atom)) continue;
      paths_.four += ring * weight_[tip] * weight_[out->atom];
    }
  }

  const CompactMolecule& molecule_;
  const std::vector<Weights>& weight_;
  Paths paths_;
};

/// Equations 59 to 62; 0 if the denominator is 0.
double kappa(double numerator, double paths_and_alpha) {
  return paths_and_alpha == 0 ? 0.0 : numerator / (paths_and_alpha * paths_and_alpha);
}

}  // namespace

void write_connectivity(const Work& work, double* row) {
  const CompactMolecule& molecule = work.molecule;
  thread_local std::vector<Weights> weight;
  weight.resize(work.size());
  Weights zero, one;
  double chi0 = 0, chi1 = 0, alpha = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const AtomFacts& atom = molecule.atoms[i];
    weight[i] = weights_of(atom);
    zero += weight[i];
    chi0 += inverse_root(atom.degree);
    alpha += alpha_of(atom);
  }
  for (const BondFacts& bond : molecule.bonds) {
    const AtomFacts &a = molecule.atoms[bond.begin], &b = molecule.atoms[bond.end];
    one += weight[bond.begin] * weight[bond.end];
    chi1 += inverse_root(static_cast<double>(a.degree) * b.degree);
  }
  const Paths paths = PathSums(molecule, weight).all();
  row[slot("Chi0")] = chi0;
  row[slot("Chi1")] = chi1;
  row[slot("Chi0n")] = zero.simple;
  row[slot("Chi0v")] = zero.valence;
  row[slot("Chi1n")] = one.simple;
  row[slot("Chi1v")] = one.valence;
  row[slot("Chi2n")] = paths.two.simple;
  row[slot("Chi2v")] = paths.two.valence;
  row[slot("Chi3n")] = paths.three.simple;
  row[slot("Chi3v")] = paths.three.valence;
  row[slot("Chi4n")] = paths.four.simple;
  row[slot("Chi4v")] = paths.four.valence;
  row[slot("HallKierAlpha")] = alpha;
  const double size = molecule.heavy_atoms + alpha;
  row[slot("Kappa1")] = kappa(size * (size - 1) * (size - 1), static_cast<double>(molecule.bonds.size()) + alpha);
  row[slot("Kappa2")] = kappa((size - 1) * (size - 2) * (size - 2), paths.count_two + alpha);
  const double odd = molecule.heavy_atoms % 2 != 0 ? 1 : 2;
  row[slot("Kappa3")] = kappa((size - odd) * (size - 3) * (size - 3), paths.count_three + alpha);
}

}  // namespace molgraph::descriptors

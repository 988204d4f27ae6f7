// BCUT2D: the largest and the smallest eigenvalue of four Burden matrices of a molecule.
// Burden 1989, J. Chem. Inf. Comput. Sci. 29:225; Pearlman & Smith 1998, Perspect. Drug Discov. Des. 9:339.
//
// M = S + diag(property), S = 1 / sqrt(bond order) for bonds and 0.001 for all other pairs. M is the sparse matrix
// A = M - 0.001 (all ones) plus a matrix of rank one, so how many eigenvalues lie below x follows from the signs of
// the pivots of A - x with one more row of ones, whose last element is -1 / 0.001 (Sylvester's law of inertia and
// Haynsworth's formula: the additional row adds one negative pivot). Molecules are nearly trees: eliminating atoms in
// the order of fewest neighbours costs little more than their number. Bisection for all eight values at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

constexpr double kUnbonded = 0.001;
/// Absolute error of an eigenvalue; charges are of the order 0.1, other properties larger.
constexpr double kPrecision = 2e-9;
/// A pivot that vanishes is replaced: the count of signs then belongs to an x that is off by less than kPrecision.
constexpr double kTinyPivot = 1e-30;

constexpr std::size_t kProperties = 4, kLanes = 2 * kProperties;
using Lanes = std::array<double, kLanes>;  // largest eigenvalue of each property, then smallest of each

double bond_element(const BondFacts& bond) {
  switch (bond.type) {
    case kSingle: return 1.0;
    case kAromatic: return 0.8164965809277261;
    case kDouble: return 0.7071067811865475;
    case kTriple: return 0.5773502691896258;
    default: throw std::domain_error("a Burden matrix has no element for this bond");
  }
}

/// The elimination's order and what it touches, found once per molecule.
class Elimination {
 public:
  void assign(const CompactMolecule& molecule) {
    const std::size_t n = molecule.size();
    pivots_.clear();
    links_.clear();
    updates_.clear();
    values_.clear();
    neighbours_.resize(std::max(neighbours_.size(), n));
    for (std::size_t i = 0; i < n; ++i) neighbours_[i].clear();
    for (const BondFacts& bond : molecule.bonds) {
      connect(bond.begin, bond.end);
      values_.push_back(bond_element(bond) - kUnbonded);
    }
    done_.assign(n, 0);
    for (std::size_t round = 0; round < n; ++round) eliminate(next());
  }

  /// How many eigenvalues of A + 0.001 - x, diagonal given, are negative, by lanes.
  Lanes negatives(const std::vector<Lanes>& diagonal, const Lanes& x) {
    const std::size_t n = diagonal.size();
    diagonal_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t l = 0; l < kLanes; ++l) diagonal_[i][l] = diagonal[i][l] - kUnbonded - x[l];
    border_.assign(n, filled(1.0));
    element_.resize(values_.size());
    for (std::size_t e = 0; e < values_.size(); ++e) element_[e] = filled(values_[e]);
    Lanes corner = filled(-1.0 / kUnbonded), count = filled(0.0);
    const Link* link = links_.data();
    const std::uint32_t* update = updates_.data();
    for (const Pivot& pivot : pivots_) {
      Lanes inverse;
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double value = diagonal_[pivot.atom][l];
        const double safe = std::abs(value) < kTinyPivot ? kTinyPivot : value;
        count[l] += safe < 0 ? 1.0 : 0.0;
        inverse[l] = 1.0 / safe;
      }
      const Lanes border = border_[pivot.atom];
      for (std::size_t l = 0; l < kLanes; ++l) corner[l] -= border[l] * border[l] * inverse[l];
      for (std::uint32_t q = 0; q < pivot.links; ++q) {
        const Lanes element = element_[link[q].element];
        Lanes factor;
        for (std::size_t l = 0; l < kLanes; ++l) factor[l] = element[l] * inverse[l];
        subtract(diagonal_[link[q].atom], factor, element);
        subtract(border_[link[q].atom], factor, border);
        for (std::uint32_t r = q + 1; r < pivot.links; ++r)
          subtract(element_[*update++], factor, element_[link[r].element]);
      }
      link += pivot.links;
    }
    for (std::size_t l = 0; l < kLanes; ++l) count[l] += (corner[l] < 0 ? 1.0 : 0.0) - 1.0;
    return count;
  }

 private:
  struct Pivot {
    std::uint32_t atom, links;
  };
  struct Link {
    std::uint32_t atom, element;
  };

  static Lanes filled(double value) {
    Lanes lanes;
    lanes.fill(value);
    return lanes;
  }
  static void subtract(Lanes& from, const Lanes& a, const Lanes& b) {
    for (std::size_t l = 0; l < kLanes; ++l) from[l] -= a[l] * b[l];
  }

  void connect(std::uint32_t a, std::uint32_t b) {
    const auto element = static_cast<std::uint32_t>(values_.size());
    neighbours_[a].push_back({b, element});
    neighbours_[b].push_back({a, element});
  }
  std::uint32_t next() const {
    std::uint32_t best = 0;
    std::size_t fewest = ~std::size_t{0};
    for (std::uint32_t atom = 0; atom < done_.size(); ++atom) {
      if (done_[atom] != 0 || neighbours_[atom].size() >= fewest) continue;
      best = atom;
      fewest = neighbours_[atom].size();
      if (fewest <= 1) break;
    }
    return best;
  }
  void eliminate(std::uint32_t atom) {
    done_[atom] = 1;
    const std::vector<Link> links = neighbours_[atom];
    pivots_.push_back({atom, static_cast<std::uint32_t>(links.size())});
    links_.insert(links_.end(), links.begin(), links.end());
    for (const Link& link : links)
      std::erase_if(neighbours_[link.atom], [&](const Link& back) { return back.atom == atom; });
    for (std::size_t q = 0; q < links.size(); ++q)
      for (std::size_t r = q + 1; r < links.size(); ++r) updates_.push_back(element_of(links[q].atom, links[r].atom));
  }
  /// The element of two remaining atoms, made if the elimination is the first to connect them.
  std::uint32_t element_of(std::uint32_t a, std::uint32_t b) {
    for (const Link& link : neighbours_[a])
      if (link.atom == b) return link.element;
    connect(a, b);
    values_.push_back(0.0);
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  std::vector<Pivot> pivots_;
  std::vector<Link> links_;             ///< of all pivots, one after the other
  std::vector<std::uint32_t> updates_;  ///< elements that each pair of a pivot's links changes
  std::vector<double> values_;          ///< [elements] before elimination
  std::vector<std::vector<Link>> neighbours_;
  std::vector<char> done_;
  std::vector<Lanes> diagonal_, border_, element_;
};

/// Where the eigenvalues can be: Gershgorin's circles from outside, and from inside the diagonal elements and the
/// eigenvalues of the 2 x 2 matrices of bonds.
void bracket(const CompactMolecule& molecule, const std::vector<Lanes>& diagonal, Lanes& low, Lanes& high) {
  const double infinity = std::numeric_limits<double>::infinity();
  Lanes outer_low, outer_high, inner_low, inner_high;
  outer_low.fill(infinity);
  inner_low.fill(infinity);
  outer_high.fill(-infinity);
  inner_high.fill(-infinity);
  for (std::size_t i = 0; i < molecule.size(); ++i) {
    double radius = kUnbonded * static_cast<double>(molecule.size() - 1 - molecule.atoms[i].degree);
    for (const Arc* arc = molecule.begin(i); arc != molecule.end(i); ++arc)
      radius += bond_element(molecule.bonds[arc->bond]);
    for (std::size_t l = 0; l < kLanes; ++l) {
      outer_low[l] = std::min(outer_low[l], diagonal[i][l] - radius);
      outer_high[l] = std::max(outer_high[l], diagonal[i][l] + radius);
      inner_low[l] = std::min(inner_low[l], diagonal[i][l]);
      inner_high[l] = std::max(inner_high[l], diagonal[i][l]);
    }
  }
  for (const BondFacts& bond : molecule.bonds) {
    const double element = bond_element(bond);
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double a = diagonal[bond.begin][l], b = diagonal[bond.end][l];
      const double middle = (a + b) / 2, half = std::sqrt((a - b) * (a - b) / 4 + element * element);
      inner_low[l] = std::min(inner_low[l], middle - half);
      inner_high[l] = std::max(inner_high[l], middle + half);
    }
  }
  for (std::size_t l = 0; l < kLanes; ++l) {
    low[l] = l < kProperties ? inner_high[l] : outer_low[l];
    high[l] = l < kProperties ? outer_high[l] : inner_low[l];
  }
}

}  // namespace

void write_bcut(const Work& work, double* row) {
  // There RDKit puts the properties of a molecule without these atoms on the diagonal of the matrix with them.
  if (work.loses_hydrogens) throw std::domain_error("hydrogen atoms that RDKit takes off");
  if (!work.has_parameters) throw std::domain_error("an atom has no parameters for its charge");
  const std::size_t n = work.size();
  thread_local Elimination elimination;
  thread_local std::vector<Lanes> diagonal;
  elimination.assign(work.molecule);
  diagonal.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t l = 0; l < kLanes; l += kProperties) {
      diagonal[i][l] = work.molecule.mass[i];
      diagonal[i][l + 1] = work.charge[i];
      diagonal[i][l + 2] = work.logp[i];
      diagonal[i][l + 3] = work.refractivity[i];
    }
  Lanes low, high, middle;
  bracket(work.molecule, diagonal, low, high);
  double widest = 0;
  for (std::size_t l = 0; l < kLanes; ++l) widest = std::max(widest, high[l] - low[l]);
  for (; widest > kPrecision; widest /= 2) {
    for (std::size_t l = 0; l < kLanes; ++l) middle[l] = (low[l] + high[l]) / 2;
    const Lanes below = elimination.negatives(diagonal, middle);
    for (std::size_t l = 0; l < kLanes; ++l) {
      // Above the largest all n lie below; below the smallest none does.
      const bool go_down = l < kProperties ? below[l] >= static_cast<double>(n) : below[l] > 0;
      (go_down ? high[l] : low[l]) = middle[l];
    }
  }
  constexpr std::size_t slots[] = {slot("BCUT2D_MWHI"),    slot("BCUT2D_CHGHI"), slot("BCUT2D_LOGPHI"),
                                   slot("BCUT2D_MRHI"),    slot("BCUT2D_MWLOW"), slot("BCUT2D_CHGLO"),
                                   slot("BCUT2D_LOGPLOW"), slot("BCUT2D_MRLOW")};
  for (std::size_t l = 0; l < kLanes; ++l) row[slots[l]] = (low[l] + high[l]) / 2;
}

}  // namespace molgraph::descriptors

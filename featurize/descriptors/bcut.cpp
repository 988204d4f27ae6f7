// BCUT2D: the largest and the smallest eigenvalue of four Burden matrices of a molecule.
// Burden 1989, J. Chem. Inf. Comput. Sci. 29:225; Pearlman & Smith 1998, Perspect. Drug Discov. Des. 9:339.
//
// M = S + diag(property), S = 1 / sqrt(bond order) for bonds and 0.001 for all other pairs. M is the sparse matrix A =
// M - 0.001 (all ones) plus a matrix of rank one. The number of eigenvalues below x therefore follows from the signs of
// the pivots of A - x with an additional row of ones, whose last element is -1 / 0.001 (Sylvester's law of inertia and
// Haynsworth's formula: the additional row adds one negative pivot). Molecules are nearly trees, so the cost of
// eliminating atoms in the order of fewest neighbours is almost proportional to their number. All eight values are
// computed together: bisection until an eigenvalue is isolated, then false position on the determinant, which is the
// product of the pivots.
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
constexpr double kPrecision = 1e-12;
/// Replaces a pivot that vanishes. The signs then belong to an x that differs by less than kPrecision.
constexpr double kTinyPivot = 1e-30;
/// Limit for the ratio of the determinants at both ends of an interval. Beyond it, a line between them is of no use.
constexpr double kMaxRatio = 8;
/// After this many steps by false position, the next step bisects.
constexpr int kMaxInterpolations = 8;
/// Bisection alone needs 50.
constexpr int kMaxRounds = 200;

constexpr std::size_t kProperties = 4, kLanes = 2 * kProperties;
using Lanes = std::array<double, kLanes>;  // largest eigenvalue of each property, then smallest of each

/// Lanes as vectors of two, which every processor supports. Without them, the compiler processes most lanes one by one.
struct Wide {
  using Pair [[gnu::vector_size(16)]] = double;
  static constexpr std::size_t kPairs = kLanes / 2;
  Pair pair[kPairs];

  static Wide filled(double value) {
    Wide wide;
    for (Pair& pair : wide.pair) pair = Pair{value, value};
    return wide;
  }
  static Wide of(const Lanes& lanes) {
    Wide wide;
    for (std::size_t k = 0; k < kPairs; ++k) wide.pair[k] = Pair{lanes[2 * k], lanes[2 * k + 1]};
    return wide;
  }
  Lanes lanes() const {
    Lanes lanes;
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = pair[l / 2][l % 2];
    return lanes;
  }
  /// this -= a b
  void subtract(const Wide& a, const Wide& b) {
    for (std::size_t k = 0; k < kPairs; ++k) pair[k] -= a.pair[k] * b.pair[k];
  }
};

double bond_element(const BondFacts& bond) {
  switch (bond.type) {
    case kSingle: return 1.0;
    case kAromatic: return 0.8164965809277261;
    case kDouble: return 0.7071067811865475;
    case kTriple: return 0.5773502691896258;
    default: throw std::domain_error("a Burden matrix has no element for this bond");
  }
}

/// The order of elimination and the elements that it changes, found once per molecule.
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

  struct Signs {
    Lanes negative;     ///< number of negative eigenvalues
    Lanes determinant;  ///< up to a positive factor that is the same for all x
  };
  /// Computes the signs of M - x by lanes. `diagonal` is that of M. The determinant is scaled by unit^n.
  Signs signs(const std::vector<Lanes>& diagonal, const Lanes& x, const Lanes& unit) {
    const std::size_t n = diagonal.size();
    diagonal_.resize(n);
    Lanes shift_lanes = x;
    for (double& value : shift_lanes) value += kUnbonded;
    const Wide shift = Wide::of(shift_lanes);
    for (std::size_t i = 0; i < n; ++i) {
      diagonal_[i] = Wide::of(diagonal[i]);
      diagonal_[i].subtract(shift, Wide::filled(1.0));
    }
    border_.assign(n, Wide::filled(1.0));
    element_.resize(values_.size());
    for (std::size_t e = 0; e < values_.size(); ++e) element_[e] = Wide::filled(values_[e]);
    const Wide units = Wide::of(unit);
    Wide corner = Wide::filled(-1.0 / kUnbonded), product = Wide::filled(-kUnbonded), count = Wide::filled(0.0);
    const Link* link = links_.data();
    const std::uint32_t* update = updates_.data();
    for (const Pivot& pivot : pivots_) {
      const Wide border = border_[pivot.atom];
      Wide inverse, factor;
      for (std::size_t k = 0; k < Wide::kPairs; ++k) {
        const Wide::Pair value = diagonal_[pivot.atom].pair[k];
        const Wide::Pair safe = value == 0.0 ? Wide::Pair{kTinyPivot, kTinyPivot} : value;
        count.pair[k] += safe < 0.0 ? Wide::Pair{1.0, 1.0} : Wide::Pair{0.0, 0.0};
        product.pair[k] *= safe * units.pair[k];
        inverse.pair[k] = 1.0 / safe;
        factor.pair[k] = border.pair[k] * inverse.pair[k];
      }
      corner.subtract(factor, border);
      for (std::uint32_t q = 0; q < pivot.links; ++q) {
        const Wide element = element_[link[q].element];
        for (std::size_t k = 0; k < Wide::kPairs; ++k) factor.pair[k] = element.pair[k] * inverse.pair[k];
        diagonal_[link[q].atom].subtract(factor, element);
        border_[link[q].atom].subtract(factor, border);
        for (std::uint32_t r = q + 1; r < pivot.links; ++r)
          element_[*update++].subtract(factor, element_[link[r].element]);
      }
      link += pivot.links;
    }
    Signs found{count.lanes(), product.lanes()};
    const Lanes corners = corner.lanes();
    for (std::size_t l = 0; l < kLanes; ++l) {
      found.negative[l] += corners[l] < 0 ? 0.0 : -1.0;
      found.determinant[l] *= corners[l];
    }
    return found;
  }

 private:
  struct Pivot {
    std::uint32_t atom, links;
  };
  struct Link {
    std::uint32_t atom, element;
  };

  void connect(std::uint32_t a, std::uint32_t b) {
    const auto element = static_cast<std::uint32_t>(values_.size());
    neighbours_[a].push_back({b, element});
    neighbours_[b].push_back({a, element});
  }
  std::uint32_t next() const {
    std::uint32_t best = 0;
    std::size_t min_neighbours = ~std::size_t{0};
    for (std::uint32_t atom = 0; atom < done_.size(); ++atom) {
      if (done_[atom] != 0 || neighbours_[atom].size() >= min_neighbours) continue;
      best = atom;
      min_neighbours = neighbours_[atom].size();
      if (min_neighbours <= 1) break;
    }
    return best;
  }
  void eliminate(std::uint32_t atom) {
    done_[atom] = 1;
    const std::vector<Link>& links = neighbours_[atom];  // the code below changes only the links of other atoms
    pivots_.push_back({atom, static_cast<std::uint32_t>(links.size())});
    links_.insert(links_.end(), links.begin(), links.end());
    for (const Link& link : links)
      std::erase_if(neighbours_[link.atom], [&](const Link& back) { return back.atom == atom; });
    for (std::size_t q = 0; q < links.size(); ++q)
      for (std::size_t r = q + 1; r < links.size(); ++r) updates_.push_back(element_of(links[q].atom, links[r].atom));
  }
  /// Returns the element of two remaining atoms. Creates it if the elimination is the first to connect them.
  std::uint32_t element_of(std::uint32_t a, std::uint32_t b) {
    for (const Link& link : neighbours_[a])
      if (link.atom == b) return link.element;
    connect(a, b);
    values_.push_back(0.0);
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  std::vector<Pivot> pivots_;
  std::vector<Link> links_;             ///< of all pivots, concatenated
  std::vector<std::uint32_t> updates_;  ///< elements changed by each pair of a pivot's links
  std::vector<double> values_;          ///< [elements] before elimination
  std::vector<std::vector<Link>> neighbours_;
  std::vector<char> done_;
  std::vector<Wide> diagonal_, border_, element_;
};

/// Bounds of the eigenvalues: outer bounds from Gershgorin's circles, inner bounds from the diagonal elements and the
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

/// Search for one eigenvalue: an interval that contains it, with no eigenvalue beyond `outer` and at least one beyond
/// `inner`.
struct Search {
  double inner = 0, outer = 0;
  double at_inner = 0, at_outer = 0;  ///< determinants, 0 = unknown; weighted by update()
  bool isolated = false;              ///< the interval contains no other eigenvalue
  int kept = 0;                       ///< 1, -1: the last round kept the inner, the outer end
  int interpolations = 0;             ///< rounds since the ends were comparable
  double last = 0;                    ///< x of the last round
  bool done = false;

  double width() const { return std::abs(outer - inner); }

  /// Returns the next x: the zero of the line through both determinants, or the middle.
  double next() {
    const double ratio = -at_inner / at_outer;
    // After both ends have been comparable, one may come much closer than the other.
    const bool interpolate = isolated && ratio > 0 && std::isfinite(ratio);
    interpolations =
        interpolate && (interpolations > 0 || (ratio > 1 / kMaxRatio && ratio < kMaxRatio)) ? interpolations + 1 : 0;
    return interpolations % kMaxInterpolations == 0 ? (inner + outer) / 2
                                                    : inner + (outer - inner) * (ratio / (1 + ratio));
  }

  /// Updates the interval: `count_beyond` eigenvalues are beyond x. Anderson & Bjorck 1973, BIT 13:253: an end that is
  /// kept twice gets a lower weight.
  void update(double x, double count_beyond, double determinant) {
    const auto reduction = [&](double replaced) {
      const double share = 1 - determinant / replaced;
      return share > 0 ? share : 0.5;
    };
    if (count_beyond == 0) {
      if (kept == 1) at_inner *= reduction(at_outer);
      outer = x;
      at_outer = determinant;
      kept = 1;
    } else {
      if (kept == -1) at_outer *= reduction(at_inner);
      inner = x;
      at_inner = determinant;
      kept = -1;
      isolated = count_beyond == 1;
    }
    done = width() < kPrecision || (isolated && std::abs(x - last) < kPrecision);
    last = x;
  }
};

}  // namespace

void write_bcut(const Work& work, double* row) {
  // RDKit would put the properties of the molecule without these atoms on the diagonal of the matrix with them.
  if (work.loses_hydrogens) throw std::domain_error("RDKit removes hydrogen atoms");
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
  Lanes low, high, x, unit;
  bracket(work.molecule, diagonal, low, high);
  std::array<Search, kLanes> searches;
  for (std::size_t l = 0; l < kLanes; ++l) {
    const bool largest = l < kProperties;
    searches[l].inner = largest ? low[l] : high[l];
    searches[l].outer = largest ? high[l] : low[l];
    unit[l] = 1 / (1 + searches[l].width());
  }
  bool all_done = false;
  for (int round = 0; !all_done && round < kMaxRounds; ++round) {
    for (std::size_t l = 0; l < kLanes; ++l) x[l] = searches[l].done ? searches[l].last : searches[l].next();
    const Elimination::Signs signs = elimination.signs(diagonal, x, unit);
    all_done = true;
    for (std::size_t l = 0; l < kLanes; ++l) {
      if (!searches[l].done)
        searches[l].update(x[l], l < kProperties ? static_cast<double>(n) - signs.negative[l] : signs.negative[l],
                           signs.determinant[l]);
      all_done = all_done && searches[l].done;
    }
  }
  constexpr std::size_t slots[] = {slot("BCUT2D_MWHI"),    slot("BCUT2D_CHGHI"), slot("BCUT2D_LOGPHI"),
                                   slot("BCUT2D_MRHI"),    slot("BCUT2D_MWLOW"), slot("BCUT2D_CHGLO"),
                                   slot("BCUT2D_LOGPLOW"), slot("BCUT2D_MRLOW")};
  for (std::size_t l = 0; l < kLanes; ++l) row[slots[l]] = searches[l].last;
}

}  // namespace molgraph::descriptors

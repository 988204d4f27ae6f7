// Descriptors of all pairs of atoms: electrotopological states, Balaban's J, Bertz's complexity.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

/// Value in RDKit's matrices for two atoms without a path.
constexpr double kNoPath = 1e8;
/// BertzCT compares this many of an atom's shortest distances.
constexpr std::size_t kCompared = 100;
/// Distances over bonds of order 1, 2, 3, 4 and 1.5 are integer multiples of 1/12 bond.
constexpr int kTwelve = 12;

/// 12 / bond order; -1 if the order does not divide 12.
int twelfths(const BondFacts& bond) {
  if (bond.aromatic) return 8;
  switch (bond.type) {
    case kSingle:
    case kDative: return 12;
    case kDouble: return 6;
    case kTriple: return 4;
    case kQuadruple: return 3;
    default: return -1;
  }
}

/// Floyd's algorithm on a matrix [n, stride] with 0 on the diagonal.
void close_paths(std::vector<std::int16_t>& matrix, std::size_t n, std::size_t stride) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::int16_t* through = matrix.data() + k * stride;
    for (std::size_t i = 0; i < n; ++i) {
      std::int16_t* row = matrix.data() + i * stride;
      const std::int16_t first = row[k];
      if (first >= Distances::kFar || i == k) continue;
      for (std::size_t j = 0; j < stride; ++j) {
        const auto sum = static_cast<std::int16_t>(first + through[j]);
        row[j] = sum < row[j] ? sum : row[j];
      }
    }
  }
}

/// -sum p log2 p, with p = part / sum of all parts.
double entropy(const std::vector<double>& parts) {
  double total = 0, sum = 0;
  for (const double part : parts) total += part;
  if (total == 0) return 0;
  for (const double part : parts)
    if (part > 0) sum -= part / total * std::log2(part / total);
  return sum;
}

int principal_quantum_number(int number) {
  constexpr int ends[] = {2, 10, 18, 36, 54, 86};
  int shell = 1;
  for (const int end : ends) shell += number > end;
  return shell;
}

/// Atoms with equal sorted distances have the same class. The number of a class is the index of its first atom.
class SymmetryClasses {
 public:
  const std::vector<std::uint32_t>& assign(const Distances& distances, std::size_t n) {
    distances_ = &distances;
    n_ = n;
    compared_ = std::min(n, kCompared);
    sorted_.resize(n * n);
    is_sorted_.assign(n, 0);
    sum_.resize(n);
    classes_.resize(n);
    representatives_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      const std::int16_t* row = distances.twelfths.data() + i * distances.stride;
      std::uint32_t sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const std::int32_t length = std::min(row[j], Distances::kFar);
        sum += static_cast<std::uint32_t>(length * length);
      }
      sum_[i] = sum;
      const auto same = std::find_if(representatives_.begin(), representatives_.end(),
                                     [&](std::uint32_t other) { return agree(i, other); });
      classes_[i] = same != representatives_.end() ? *same : static_cast<std::uint32_t>(i);
      if (classes_[i] == i) representatives_.push_back(classes_[i]);
    }
    return classes_;
  }

 private:
  /// Most atoms differ in the sum of all squares. Only if it is equal are the distances sorted.
  bool agree(std::size_t a, std::size_t b) {
    if (compared_ == n_ && sum_[a] != sum_[b]) return false;
    const std::int16_t* first = sorted(a);
    return std::equal(first, first + compared_, sorted(b));
  }
  const std::int16_t* sorted(std::size_t i) {
    std::int16_t* own = sorted_.data() + i * n_;
    if (is_sorted_[i] != 0) return own;
    is_sorted_[i] = 1;
    const std::int16_t* row = distances_->twelfths.data() + i * distances_->stride;
    for (std::size_t j = 0; j < n_; ++j) own[j] = std::min(row[j], Distances::kFar);
    if (compared_ < n_) std::nth_element(own, own + compared_, own + n_);
    std::sort(own, own + compared_);
    return own;
  }

  const Distances* distances_ = nullptr;
  std::size_t n_ = 0, compared_ = 0;
  std::vector<std::int16_t> sorted_;  ///< [n, n] only for requested atoms
  std::vector<char> is_sorted_;       ///< [n]
  std::vector<std::uint32_t> sum_, classes_, representatives_;
};

/// 1.5 for an aromatic bond, otherwise the number in RDKit's list of bond types.
double bertz_order(const BondFacts& bond) { return bond.aromatic ? 1.5 : static_cast<double>(bond.type); }

/// Connections of one kind: two bonds, given by the classes of their three atoms, or a multiple bond, given by the
/// classes of its two atoms.
struct Connection {
  std::uint64_t kind;
  double count;
};

void add_connections(const Work& work, const std::vector<std::uint32_t>& classes, std::vector<Connection>& found) {
  const CompactMolecule& molecule = work.molecule;
  constexpr std::uint64_t none = 0xFFFFF;
  const auto kind = [](std::uint64_t low, std::uint64_t middle, std::uint64_t high) {
    return std::min(low, high) << 40 | middle << 20 | std::max(low, high);
  };
  for (std::size_t i = 0; i < molecule.size(); ++i) {
    for (const Arc* one = molecule.begin(i); one != molecule.end(i); ++one) {
      const double order = bertz_order(molecule.bonds[one->bond]);
      if (order > 1 && one->atom > i)
        found.push_back({kind(classes[i], none, classes[one->atom]), order * (order - 1) / 2});
      for (const Arc* two = one + 1; two != molecule.end(i); ++two) {
        found.push_back(
            {kind(classes[one->atom], classes[i], classes[two->atom]), order * bertz_order(molecule.bonds[two->bond])});
      }
    }
  }
}

/// Bertz 1981, J. Am. Chem. Soc. 103:3599: information content of the connections, in bits times their number, and of
/// the elements. RDKit's form: aromatic bonds have order 1.5, and a molecule without two connected bonds has one kind.
double bertz_complexity(const Work& work) {
  const std::size_t n = work.size();
  if (n < 2) return 0;
  thread_local SymmetryClasses classes;
  thread_local std::vector<Connection> found;
  thread_local std::vector<double> parts;
  found.clear();
  add_connections(work, classes.assign(work.distances, n), found);
  std::sort(found.begin(), found.end(), [](const Connection& a, const Connection& b) { return a.kind < b.kind; });
  parts.clear();
  double total = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || found[i].kind != found[i - 1].kind) parts.push_back(0);
    parts.back() += found[i].count;
    total += found[i].count;
  }
  if (found.empty()) {
    parts.push_back(1);
    total = 1;
  }
  const double connections = total * (entropy(parts) + std::log2(total));

  int of_element[kElements] = {};
  for (const AtomFacts& atom : work.molecule.atoms) ++of_element[atom.number];
  parts.assign(std::begin(of_element), std::end(of_element));
  return connections + static_cast<double>(n) * entropy(parts);
}

/// Balaban 1982, Chem. Phys. Lett. 89:399, with distances of 1 / bond order. RDKit's form: the distance between
/// fragments is 1e8, and the number of fragments does not affect the number of rings.
double balaban_j(const Work& work) {
  const std::size_t n = work.size();
  const auto bonds = static_cast<double>(work.molecule.bonds.size());
  const double rings = bonds - static_cast<double>(n) + 1;
  if (rings + 1 == 0) return 0;
  thread_local std::vector<double> distance_sums;
  distance_sums.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int16_t* row = work.distances.twelfths.data() + i * work.distances.stride;
    long near = 0, far = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const bool unreachable = row[j] >= Distances::kFar;
      near += unreachable ? 0 : row[j];
      far += unreachable;
    }
    distance_sums[i] = static_cast<double>(near) / kTwelve + kNoPath * static_cast<double>(far);
  }
  double sum = 0;
  for (const BondFacts& bond : work.molecule.bonds)
    sum += 1.0 / std::sqrt(distance_sums[bond.begin] * distance_sums[bond.end]);
  return bonds / (rings + 1) * sum;
}

}  // namespace

void find_distances(Work& work) {
  Distances& distances = work.distances;
  const std::size_t n = work.size();
  distances.stride = (n + 7) / 8 * 8;
  distances.steps.assign(n * distances.stride, Distances::kFar);
  distances.has_twelfths = true;
  for (std::size_t i = 0; i < n; ++i) distances.steps[i * distances.stride + i] = 0;
  distances.twelfths = distances.steps;
  for (const BondFacts& bond : work.molecule.bonds) {
    const std::size_t forward = bond.begin * distances.stride + bond.end;
    const std::size_t backward = bond.end * distances.stride + bond.begin;
    const int length = twelfths(bond);
    distances.has_twelfths = distances.has_twelfths && length > 0;
    distances.steps[forward] = distances.steps[backward] = 1;
    distances.twelfths[forward] = distances.twelfths[backward] = static_cast<std::int16_t>(length);
  }
  close_paths(distances.steps, n, distances.stride);
  if (!distances.has_twelfths) return;
  close_paths(distances.twelfths, n, distances.stride);
  if (12 * n < static_cast<std::size_t>(Distances::kFar)) return;  // no path is that long
  for (std::size_t at = 0; at < distances.steps.size(); ++at)
    if (distances.steps[at] < Distances::kFar && distances.twelfths[at] >= Distances::kFar)
      distances.has_twelfths = false;
}

void estate_indices(Work& work) {
  const std::size_t n = work.size();
  thread_local std::vector<double> intrinsic;
  intrinsic.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const AtomFacts& atom = work.molecule.atoms[i];
    if (atom.degree == 0) continue;
    const double shell = principal_quantum_number(atom.number);
    const double electrons = elements()[atom.number].outer_electrons - atom.hydrogens;
    intrinsic[i] = (4.0 / (shell * shell) * electrons + 1) / atom.degree;
  }
  // Added last, as in RDKit, because the index may be at the edge of a bin.
  work.estate.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int16_t* row = work.distances.steps.data() + i * work.distances.stride;
    for (std::size_t j = i + 1; j < n; ++j) {
      if (row[j] >= Distances::kFar) continue;
      const double atoms_on_way = row[j] + 1;
      const double push = (intrinsic[i] - intrinsic[j]) / (atoms_on_way * atoms_on_way);
      work.estate[i] += push;
      work.estate[j] -= push;
    }
  }
  for (std::size_t i = 0; i < n; ++i) work.estate[i] += intrinsic[i];
}

/// Hall, Mohney & Kier 1991, J. Chem. Inf. Comput. Sci. 31:76.
void write_electrotopology(const Work& work, double* row) {
  const auto [lowest, highest] = std::minmax_element(work.estate.begin(), work.estate.end());
  row[slot("MaxEStateIndex")] = *highest;
  row[slot("MinEStateIndex")] = *lowest;
  double near = std::abs(work.estate.front()), far = near;
  for (const double value : work.estate) {
    near = std::min(near, std::abs(value));
    far = std::max(far, std::abs(value));
  }
  row[slot("MaxAbsEStateIndex")] = far;
  row[slot("MinAbsEStateIndex")] = near;
}

void write_topology(const Work& work, double* row) {
  if (!work.distances.has_twelfths) return;
  row[slot("BalabanJ")] = balaban_j(work);
  row[slot("BertzCT")] = bertz_complexity(work);
}

}  // namespace molgraph::descriptors

#include "attention/spec/node_positions.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace molgraph {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEqualEigenvalues = 1e-6;
constexpr double kNoProjection = 1e-6;  // rounding errors are near 1e-14, true projections near 1e-2

struct Neighbour {
  int atom;
  std::uint8_t bond;  ///< bond id
};

/// Atom -> bonded atoms, read from the packed pairs.
std::vector<std::vector<Neighbour>> neighbours_of(const GraphBatch& batch, std::int64_t molecule) {
  const auto b = static_cast<std::size_t>(molecule);
  const std::int64_t tokens = batch.token_offset[b + 1] - batch.token_offset[b];
  std::vector<std::vector<Neighbour>> all(static_cast<std::size_t>(tokens - 1));
  for (std::int64_t i = 1; i < tokens; ++i) {
    for (std::int64_t j = 1; j < tokens; ++j) {
      const auto pair = static_cast<std::size_t>(batch.pair_offset[b] + i * tokens + j);
      if (batch.topology[pair] == 1)
        all[static_cast<std::size_t>(i - 1)].push_back({static_cast<int>(j - 1), batch.edge[pair]});
    }
  }
  return all;
}

std::vector<std::vector<int>> fragments_of(const std::vector<std::vector<Neighbour>>& neighbours) {
  std::vector<std::vector<int>> fragments;
  std::vector<bool> seen(neighbours.size(), false);
  for (std::size_t start = 0; start < neighbours.size(); ++start) {
    if (seen[start]) continue;
    std::vector<int> fragment{static_cast<int>(start)};
    seen[start] = true;
    for (std::size_t k = 0; k < fragment.size(); ++k) {
      for (const Neighbour& next : neighbours[static_cast<std::size_t>(fragment[k])]) {
        if (seen[static_cast<std::size_t>(next.atom)]) continue;
        seen[static_cast<std::size_t>(next.atom)] = true;
        fragment.push_back(next.atom);
      }
    }
    fragments.push_back(std::move(fragment));
  }
  return fragments;
}

/// Finaliser of SplitMix64 (Steele et al. 2014): mixes 64 bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A number per atom that depends only on its environment: colour refinement (Weisfeiler & Leman 1968) that starts from
/// the atom's columns and proceeds over bonds and neighbours. The number of rounds is the number of atoms.
std::vector<std::uint64_t> environments_of(const GraphBatch& batch, std::int64_t molecule,
                                           const std::vector<std::vector<Neighbour>>& neighbours) {
  const auto columns = static_cast<std::size_t>(feature_shape(batch.features).atom_columns);
  const auto first = static_cast<std::size_t>(batch.atom_offset[static_cast<std::size_t>(molecule)]) * columns;
  std::vector<std::uint64_t> colour(neighbours.size(), 0), next(neighbours.size());
  for (std::size_t a = 0; a < colour.size(); ++a) {
    for (std::size_t c = 0; c < columns; ++c) colour[a] = mix(colour[a] ^ batch.atoms[first + a * columns + c]);
  }
  for (std::size_t round = 0; round < colour.size(); ++round) {
    for (std::size_t a = 0; a < colour.size(); ++a) {
      std::uint64_t sum = 0;  // independent of the neighbours' order
      for (const Neighbour& n : neighbours[a]) sum += mix(colour[static_cast<std::size_t>(n.atom)] ^ mix(n.bond + 1u));
      next[a] = mix(mix(colour[a]) + sum);
    }
    colour.swap(next);
  }
  return colour;
}

/// Eigenvectors of one fragment, built column by column.
class CanonicalBasis {
 public:
  CanonicalBasis(std::vector<std::uint64_t> environments, int count)
      : environments_(std::move(environments)), count_(static_cast<std::size_t>(count)) {}

  bool full() const { return columns_.size() == count_; }
  const std::vector<VectorXd>& columns() const { return columns_; }

  /// Appends a basis of the space spanned by the orthonormal columns of `space`.
  void add(const MatrixXd& space) {
    const std::size_t before = columns_.size(), wanted = before + static_cast<std::size_t>(space.cols());
    const auto done = [&] { return full() || columns_.size() == wanted; };
    for (std::uint64_t k = 0; k < 2u * static_cast<std::uint64_t>(space.cols()) && !done(); ++k)
      project(space, before, weights(k));
    // Directions that environments do not determine may be determined relative to the previous eigenvectors.
    for (std::size_t a = 0; a < columns_.size() && !done(); ++a) {
      project(space, before, weights(0).cwiseProduct(columns_[a]));
      for (std::size_t c = 0; c < a && !done(); ++c)
        project(space, before, weights(0).cwiseProduct(columns_[a]).cwiseProduct(columns_[c]));
    }
    for (Eigen::Index k = 0; k < space.cols() && !done(); ++k) project(space, before, space.col(k));
  }

 private:
  VectorXd weights(std::uint64_t k) const {
    VectorXd w(static_cast<Eigen::Index>(environments_.size()));
    for (Eigen::Index i = 0; i < w.size(); ++i)
      w[i] = std::ldexp(static_cast<double>(mix(environments_[static_cast<std::size_t>(i)] + k)), -63) - 1.0;
    return w;
  }

  /// Appends the projection of `w`, orthogonalised against the columns from `first` on, unless it vanishes.
  void project(const MatrixXd& space, std::size_t first, const VectorXd& w) {
    VectorXd v = space * (space.transpose() * w);
    for (std::size_t a = first; a < columns_.size(); ++a) v -= columns_[a].dot(v) * columns_[a];
    if (v.norm() > kNoProjection) columns_.push_back(v.normalized());
  }

  std::vector<std::uint64_t> environments_;
  std::size_t count_;
  std::vector<VectorXd> columns_;
};

/// I - D^-1/2 A D^-1/2 of a fragment of two or more atoms.
MatrixXd normalised_laplacian(const std::vector<int>& fragment, const std::vector<std::vector<Neighbour>>& neighbours) {
  std::vector<Eigen::Index> place(neighbours.size());
  for (std::size_t k = 0; k < fragment.size(); ++k)
    place[static_cast<std::size_t>(fragment[k])] = static_cast<Eigen::Index>(k);
  const auto size = static_cast<Eigen::Index>(fragment.size());
  MatrixXd laplacian = MatrixXd::Identity(size, size);
  for (const int a : fragment) {
    const auto& bonds = neighbours[static_cast<std::size_t>(a)];
    for (const Neighbour& n : bonds) {
      const auto other = static_cast<std::size_t>(n.atom);
      laplacian(place[static_cast<std::size_t>(a)], place[other]) =
          -1.0 / std::sqrt(static_cast<double>(bonds.size() * neighbours[other].size()));
    }
  }
  return laplacian;
}

}  // namespace

void laplacian_positions(const GraphBatch& batch, std::int64_t molecule, int count, double* out) {
  const auto neighbours = neighbours_of(batch, molecule);
  const auto environments = environments_of(batch, molecule, neighbours);
  const auto columns = static_cast<std::size_t>(count);
  std::fill_n(out, neighbours.size() * columns, 0.0);
  for (const std::vector<int>& fragment : fragments_of(neighbours)) {
    if (fragment.size() < 2) continue;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(normalised_laplacian(fragment, neighbours));
    const VectorXd& values = solver.eigenvalues();
    std::vector<std::uint64_t> own;
    for (const int a : fragment) own.push_back(environments[static_cast<std::size_t>(a)]);
    CanonicalBasis basis(std::move(own), count);
    // The first eigenvector is trivial: a connected graph has the eigenvalue 0 exactly once.
    for (Eigen::Index begin = 1, end = 1; begin < values.size() && !basis.full(); begin = end) {
      while (end < values.size() && values[end] - values[begin] < kEqualEigenvalues) ++end;
      basis.add(solver.eigenvectors().middleCols(begin, end - begin));
    }
    for (std::size_t c = 0; c < basis.columns().size(); ++c)
      for (std::size_t k = 0; k < fragment.size(); ++k)
        out[static_cast<std::size_t>(fragment[k]) * columns + c] = basis.columns()[c][static_cast<Eigen::Index>(k)];
  }
}

}  // namespace molgraph

#include "attention/spec/pair_vector.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "attention/spec/walks.hpp"

namespace molgraph {
namespace {

/// A molecule's bonds and distances, indexed by token.
class Bonds {
 public:
  Bonds(const GraphBatch& batch, std::int64_t molecule) {
    const auto b = static_cast<std::size_t>(molecule);
    n_ = static_cast<std::size_t>(batch.token_offset[b + 1] - batch.token_offset[b]);
    distance_ = batch.topology.data() + batch.pair_offset[b];
    first_.push_back(0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 1; i > 0 && j < n_; ++j)
        if (distance(i, j) == 1) neighbours_.push_back(j);
      first_.push_back(neighbours_.size());
    }
  }
  std::size_t tokens() const { return n_; }
  /// Distance in bonds; for different fragments, larger than any ring.
  int distance(std::size_t i, std::size_t j) const { return distance_[i * n_ + j]; }
  std::span<const std::size_t> of(std::size_t i) const {
    return std::span(neighbours_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

  /// The largest length, at most `max_length`, up to which there are at most kMaxWalks non-backtracking walks.
  int longest_walk(int max_length) const {
    // back[k]: index of the reverse of the directed bond k = (i -> neighbours_[k]). now[k]: number of walks that end
    // with k.
    std::vector<std::size_t> back(neighbours_.size());
    for (std::size_t i = 1; i < n_; ++i)
      for (std::size_t k = first_[i]; k < first_[i + 1]; ++k) {
        const auto of_target = of(neighbours_[k]);
        back[k] = first_[neighbours_[k]] +
                  static_cast<std::size_t>(std::lower_bound(of_target.begin(), of_target.end(), i) - of_target.begin());
      }
    std::vector<double> now(neighbours_.size(), 1.0), next(neighbours_.size());
    double total = static_cast<double>(neighbours_.size());
    for (int length = 1; length < max_length; ++length) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t k = 0; k < neighbours_.size(); ++k)
        for (std::size_t to = first_[neighbours_[k]]; to < first_[neighbours_[k] + 1]; ++to)
          if (to != back[k]) next[to] += now[k];
      for (const double walks : next) total += walks;
      if (total > static_cast<double>(kMaxWalks)) return length;
      now.swap(next);
    }
    return max_length;
  }

 private:
  std::size_t n_;
  const std::uint16_t* distance_;
  std::vector<std::size_t> first_, neighbours_;
};

/// Counts simple paths by depth-first search.
template <class T>
class PathCount {
 public:
  /// `out` [kPathColumns, tokens j, tokens i], zero.
  PathCount(const Bonds& bonds, T* out)
      : bonds_(bonds), longest_(bonds.longest_walk(kLongestPath)), visited_(bonds.tokens(), 0), out_(out) {}
  void write() {
    for (start_ = 1; start_ < bonds_.tokens(); ++start_) {
      visited_[start_] = 1;
      extend(start_, 1);
      visited_[start_] = 0;
    }
    const std::size_t count = static_cast<std::size_t>(kPathColumns) * bonds_.tokens() * bonds_.tokens();
    for (std::size_t k = 0; k < count; ++k)
      if (out_[k] > 0) out_[k] = static_cast<T>(std::log2(1.0 + static_cast<double>(out_[k])));
  }

 private:
  T& count(int length, std::size_t end) const {
    return out_[(static_cast<std::size_t>(length - kShortestPath) * bonds_.tokens() + end) * bonds_.tokens() + start_];
  }
  /// Extends the path that reaches `atom` with `length` - 1 bonds.
  void extend(std::size_t atom, int length) {
    for (const std::size_t to : bonds_.of(atom)) {
      if (to == start_ && length > 2) count(length, start_) += T(0.5);  // each ring is found in both directions
      if (visited_[to]) continue;
      if (length >= kShortestPath) count(length, to) += 1;
      if (length >= longest_) continue;
      visited_[to] = 1;
      extend(to, length + 1);
      visited_[to] = 0;
    }
  }

  const Bonds& bonds_;
  int longest_;
  std::vector<char> visited_;
  T* out_;
  std::size_t start_ = 0;
};

/// Finds isometric cycles by depth-first search: the distance of each new atom to all previous ones is that along the
/// ring.
template <class T>
class Rings {
 public:
  /// `out` [tokens j, tokens i], zero.
  Rings(const Bonds& bonds, T* out) : bonds_(bonds), out_(out) {}
  void write() {
    const int largest = bonds_.longest_walk(kLargestRing);
    for (size_ = 3; size_ <= largest; ++size_)
      for (std::size_t i = 1; i < bonds_.tokens(); ++i) {
        ring_.assign(1, i);
        extend();
      }
  }

 private:
  bool fits(std::size_t atom) const {
    const int at = static_cast<int>(ring_.size());
    if (atom < ring_[0]) return false;  // each ring is searched from its lowest-numbered atom only
    for (int k = 0; k < at; ++k)
      if (bonds_.distance(ring_[static_cast<std::size_t>(k)], atom) != std::min(at - k, size_ - (at - k))) return false;
    return true;
  }
  void extend() {
    if (static_cast<int>(ring_.size()) == size_) {
      for (const std::size_t i : ring_)
        for (const std::size_t j : ring_) out_[j * bonds_.tokens() + i] = 1;
      return;
    }
    for (const std::size_t to : bonds_.of(ring_.back())) {
      if (!fits(to)) continue;
      ring_.push_back(to);
      extend();
      ring_.pop_back();
    }
  }

  const Bonds& bonds_;
  T* out_;
  int size_ = 0;
  std::vector<std::size_t> ring_;
};

/// True if the bond between the neighbours i and j is in a ring: there is another path from i to j.
bool in_ring(const Bonds& bonds, std::size_t i, std::size_t j) {
  std::vector<char> visited(bonds.tokens(), 0);
  std::vector<std::size_t> open{i};
  visited[i] = 1;
  while (!open.empty()) {
    const std::size_t atom = open.back();
    open.pop_back();
    for (const std::size_t to : bonds.of(atom)) {
      if (visited[to] || (atom == i && to == j)) continue;
      if (to == j) return true;
      visited[to] = 1;
      open.push_back(to);
    }
  }
  return false;
}

/// `out` [tokens j, tokens i], zero.
template <class T>
void ring_systems(const Bonds& bonds, T* out) {
  const std::size_t n = bonds.tokens();
  std::vector<std::vector<std::size_t>> by_ring_bond(n);
  for (std::size_t i = 1; i < n; ++i)
    for (const std::size_t j : bonds.of(i))
      if (i < j && in_ring(bonds, i, j)) {
        by_ring_bond[i].push_back(j);
        by_ring_bond[j].push_back(i);
      }
  std::vector<char> visited(n, 0);
  for (std::size_t start = 1; start < n; ++start) {
    if (visited[start] || by_ring_bond[start].empty()) continue;
    std::vector<std::size_t> system{start};
    visited[start] = 1;
    for (std::size_t k = 0; k < system.size(); ++k)
      for (const std::size_t to : by_ring_bond[system[k]])
        if (!visited[to]) visited[to] = 1, system.push_back(to);
    for (const std::size_t i : system)
      for (const std::size_t j : system) out[j * n + i] = 1;
  }
}

}  // namespace

int PairVector::size() const { return steps + (paths ? kPathColumns : 0) + (rings ? kRingColumns : 0); }

template <class T>
void pair_vectors(const GraphBatch& batch, std::int64_t molecule, const PairVector& vector, T* out) {
  walk_probabilities(batch, molecule, vector.steps, out);
  if (!vector.paths && !vector.rings) return;
  const Bonds bonds(batch, molecule);
  const std::size_t pairs = bonds.tokens() * bonds.tokens();
  out += static_cast<std::size_t>(vector.steps) * pairs;
  std::fill_n(out, static_cast<std::size_t>(vector.size() - vector.steps) * pairs, T(0));
  if (vector.paths) {
    PathCount<T>(bonds, out).write();
    out += kPathColumns * pairs;
  }
  if (vector.rings) {
    Rings<T>(bonds, out).write();
    ring_systems(bonds, out + pairs);
  }
}

template void pair_vectors<float>(const GraphBatch&, std::int64_t, const PairVector&, float*);
template void pair_vectors<double>(const GraphBatch&, std::int64_t, const PairVector&, double*);

void atom_vectors(const GraphBatch& batch, std::int64_t molecule, const PairVector& vector, double* out) {
  if (!vector.paths && !vector.rings) return random_walk_positions(batch, molecule, vector.steps, out);
  const auto b = static_cast<std::size_t>(molecule);
  const auto n = static_cast<std::size_t>(batch.token_offset[b + 1] - batch.token_offset[b]);
  const auto size = static_cast<std::size_t>(vector.size());
  std::vector<double> pairs(size * n * n);
  pair_vectors(batch, molecule, vector, pairs.data());
  for (std::size_t i = 1; i < n; ++i)
    for (std::size_t k = 0; k < size; ++k) out[(i - 1) * size + k] = pairs[(k * n + i) * n + i];
}

}  // namespace molgraph

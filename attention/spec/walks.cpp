#include "attention/spec/walks.hpp"

#include <algorithm>
#include <vector>

namespace molgraph {
namespace {

/// Random walks of a molecule, computed step by step.
template <class T>
class Walks {
 public:
  Walks(const GraphBatch& batch, std::int64_t molecule) {
    const auto b = static_cast<std::size_t>(molecule);
    n_ = static_cast<std::size_t>(batch.token_offset[b + 1] - batch.token_offset[b]);
    const std::uint16_t* topology = batch.topology.data() + batch.pair_offset[b];
    for (std::size_t i = 1; i < n_; ++i) {
      const std::size_t first = bonds_.size();
      for (std::size_t j = 1; j < n_; ++j)
        if (topology[i * n_ + j] == 1) bonds_.push_back({i, j, T(0)});
      for (std::size_t k = first; k < bonds_.size(); ++k)
        bonds_[k].share = T(1) / static_cast<T>(bonds_.size() - first);
    }
  }
  std::size_t tokens() const { return n_; }
  /// Walks of no steps: 1 on the diagonal of atoms. [tokens j, tokens i]
  std::vector<T> start() const {
    std::vector<T> at(n_ * n_);
    for (std::size_t i = 1; i < n_; ++i) at[i * n_ + i] = 1;
    return at;
  }
  /// For each bond, adds the share of all walks at `from` that move to `to`.
  void step(const T* before, T* after) const {
    std::fill_n(after, n_ * n_, T(0));
    for (const Bond& bond : bonds_)
      for (std::size_t i = 0; i < n_; ++i) after[bond.to * n_ + i] += bond.share * before[bond.from * n_ + i];
  }

 private:
  struct Bond {
    std::size_t from, to;
    T share;  ///< of the walks at `from` that move to `to`
  };
  std::size_t n_;
  std::vector<Bond> bonds_;
};

}  // namespace

template <class T>
void walk_probabilities(const GraphBatch& batch, std::int64_t molecule, int steps, T* out) {
  const Walks<T> walks(batch, molecule);
  const std::vector<T> start = walks.start();
  const T* before = start.data();
  for (int t = 0; t < steps; ++t, before = out, out += walks.tokens() * walks.tokens()) walks.step(before, out);
}

template void walk_probabilities<float>(const GraphBatch&, std::int64_t, int, float*);
template void walk_probabilities<double>(const GraphBatch&, std::int64_t, int, double*);

void random_walk_positions(const GraphBatch& batch, std::int64_t molecule, int steps, double* out) {
  const Walks<double> walks(batch, molecule);
  const std::size_t n = walks.tokens(), count = static_cast<std::size_t>(steps);
  std::vector<double> now = walks.start(), next(now.size());
  for (std::size_t t = 0; t < count; ++t) {
    walks.step(now.data(), next.data());
    now.swap(next);
    for (std::size_t i = 1; i < n; ++i) out[(i - 1) * count + t] = now[i * n + i];
  }
}

}  // namespace molgraph

#include <algorithm>
#include <cassert>

#include "featurize/graph/pair_writer.hpp"

namespace molgraph {

void Adjacency::assign(const GraphView& graph) {
  const auto n = static_cast<std::size_t>(graph.num_atoms);
  const auto m = static_cast<std::size_t>(graph.num_bonds);
  row.assign(n + 2, 0);
  neighbour.resize(2 * m);
  bond.resize(2 * m);
  for (std::size_t k = 0; k < 2 * m; ++k) {
    assert(graph.bond_atoms[k] < graph.num_atoms);
    ++row[static_cast<std::size_t>(graph.bond_atoms[k]) + 2];
  }
  for (std::size_t a = 2; a < n + 2; ++a) row[a] += row[a - 1];
  // row[a + 1] is now the fill position of atom a and ends as the start of atom a + 1.
  for (std::size_t b = 0; b < m; ++b) {
    const auto id = static_cast<std::uint8_t>(bond_id(graph.features, graph.bonds[b]));
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t slot = row[static_cast<std::size_t>(graph.bond_atoms[2 * b + side]) + 1]++;
      neighbour[slot] = graph.bond_atoms[2 * b + 1 - side];
      bond[slot] = id;
    }
  }
  row.pop_back();
  // Insertion sort, because an atom has only a few neighbours.
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t k = row[a] + 1; k < row[a + 1]; ++k) {
      for (std::size_t p = k; p > row[a] && neighbour[p - 1] > neighbour[p]; --p) {
        std::swap(neighbour[p - 1], neighbour[p]);
        std::swap(bond[p - 1], bond[p]);
      }
    }
  }
}

namespace {

/// Distances from one source atom, and the atoms it reaches ordered by (distance, index).
struct SourceRow {
  const std::uint16_t* distance = nullptr;  ///< [n]
  std::vector<std::int32_t> order;          ///< reached atoms, the source first
  std::vector<std::size_t> level_start;     ///< [levels + 2] offsets into order, level 0 = the source

  void assign(const std::uint16_t* row, std::size_t n) {
    distance = row;
    level_start.assign(2, 0);
    for (std::size_t j = 0; j < n; ++j) {
      if (row[j] == kUnreachable) continue;
      if (level_start.size() < row[j] + 2u) level_start.resize(row[j] + 2u, 0);
      ++level_start[row[j] + 1u];
    }
    for (std::size_t m = 1; m < level_start.size(); ++m) level_start[m] += level_start[m - 1];
    order.resize(level_start.back());
    fill_ = level_start;
    for (std::size_t j = 0; j < n; ++j) {
      if (row[j] != kUnreachable) order[fill_[row[j]]++] = static_cast<std::int32_t>(j);
    }
  }
  std::size_t levels() const { return level_start.size() - 2; }

 private:
  std::vector<std::size_t> fill_;
};

/// Calls visit(molecule, source atom, its SourceRow) for every atom of the batch in order.
template <typename Visit>
void for_each_source(const GraphBatch& batch, Visit visit) {
  SourceRow row;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    const auto n = static_cast<std::size_t>(batch.atom_offset[b + 1] - batch.atom_offset[b]);
    const std::uint16_t* topology = batch.topology.data() + batch.pair_offset[b];
    for (std::size_t i = 0; i < n; ++i) {
      row.assign(topology + (i + 1) * (n + 1) + 1, n);
      visit(b, i, row);
    }
  }
}

/// Calls use(slot) for every predecessor of atom j, ascending by index; with PathRule::single only for the first.
template <typename Use>
void for_each_predecessor(const Adjacency& adjacency, const SourceRow& row, std::size_t j, PathRule rule, Use use) {
  const int before = row.distance[j] - 1;
  for (std::size_t slot = adjacency.row[j]; slot < adjacency.row[j + 1]; ++slot) {
    if (row.distance[adjacency.neighbour[slot]] != before) continue;
    use(slot);
    if (rule == PathRule::single) return;
  }
}

/// Numbers of shortest paths from one source, exact up to a power of two per level. Weights are ratios within one
/// level, so a level can be scaled before the next one is summed. Without scaling, long chains of rings overflow a
/// double.
class PathCounts {
 public:
  void start(std::size_t n, std::size_t source) {
    count_.assign(n, 0.0);
    count_[source] = 1.0;
  }
  double operator[](std::size_t atom) const { return count_[atom]; }
  void set(std::size_t atom, double value) { count_[atom] = value; }
  void rescale(const SourceRow& row, std::size_t level) {
    const auto* first = row.order.data() + row.level_start[level];
    const auto* last = row.order.data() + row.level_start[level + 1];
    double largest = 0;
    for (const auto* j = first; j != last; ++j) largest = std::max(largest, count_[static_cast<std::size_t>(*j)]);
    if (largest < 0x1p400) return;
    for (const auto* j = first; j != last; ++j) count_[static_cast<std::size_t>(*j)] *= 0x1p-400;
  }

 private:
  std::vector<double> count_;
};

/// Sizes the arrays and sets the offsets of the levels. Distances of neighbours differ by at most one, so every
/// neighbour of j that is nearer to i is a predecessor.
void count_levels(const GraphBatch& batch, std::span<const Adjacency> adjacency, PathRule rule, PathSteps& steps) {
  std::vector<std::int64_t> pairs, edges;  // [levels], without level 0
  for (std::size_t b = 0; b < adjacency.size(); ++b) {
    const Adjacency& own = adjacency[b];
    const std::size_t n = own.row.size() - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint16_t* distance = batch.topology.data() + batch.pair_offset[b] + (i + 1) * (n + 1) + 1;
      for (std::size_t j = 0; j < n; ++j) {
        const std::uint16_t d = distance[j];
        if (d == 0 || d == kUnreachable) continue;
        if (pairs.size() < d) {
          pairs.resize(d, 0);
          edges.resize(d, 0);
        }
        ++pairs[d - 1u];
        for (std::size_t slot = own.row[j]; slot < own.row[j + 1]; ++slot) {
          edges[d - 1u] += distance[own.neighbour[slot]] < d;
        }
      }
    }
  }
  if (rule == PathRule::single) edges = pairs;
  steps.level_pairs.assign(pairs.size() + 1, 0);
  steps.level_steps.assign(pairs.size() + 1, 0);
  for (std::size_t m = 0; m < pairs.size(); ++m) {
    steps.level_pairs[m + 1] = steps.level_pairs[m] + pairs[m];
    steps.level_steps[m + 1] = steps.level_steps[m] + edges[m];
  }
  steps.pair.resize(static_cast<std::size_t>(steps.level_pairs.back()));
  const auto total = static_cast<std::size_t>(steps.level_steps.back());
  steps.target.resize(total);
  steps.source.resize(total);
  steps.bond.resize(total);
  steps.weight.resize(total);
}

}  // namespace

PathSteps path_steps(const GraphBatch& batch, std::span<const Adjacency> adjacency, PathRule rule) {
  PathSteps steps;
  count_levels(batch, adjacency, rule, steps);

  std::vector<std::int64_t> next_pair = steps.level_pairs, next_step = steps.level_steps;
  std::vector<std::int64_t> index_in_level;  // [n] of the current source's row
  PathCounts sigma;
  for_each_source(batch, [&](std::size_t b, std::size_t i, const SourceRow& row) {
    const Adjacency& neighbours = adjacency[b];
    const std::size_t n = neighbours.row.size() - 1;
    const std::int64_t first_pair = batch.pair_offset[b] + static_cast<std::int64_t>((i + 1) * (n + 1) + 1);
    index_in_level.assign(n, -1);
    sigma.start(n, i);
    for (std::size_t m = 1; m <= row.levels(); ++m) {
      for (std::size_t k = row.level_start[m]; k < row.level_start[m + 1]; ++k) {
        const auto j = static_cast<std::size_t>(row.order[k]);
        const std::int64_t slot_of_pair = next_pair[m - 1]++;
        steps.pair[static_cast<std::size_t>(slot_of_pair)] = first_pair + static_cast<std::int64_t>(j);
        index_in_level[j] = slot_of_pair - steps.level_pairs[m - 1];

        const std::int64_t first_step = next_step[m - 1];
        double sum = 0;
        for_each_predecessor(neighbours, row, j, rule, [&](std::size_t slot) {
          const auto s = static_cast<std::size_t>(next_step[m - 1]++);
          const auto u = static_cast<std::size_t>(neighbours.neighbour[slot]);
          steps.target[s] = index_in_level[j];
          steps.source[s] = index_in_level[u];  // -1 for the source atom itself
          steps.bond[s] = neighbours.bond[slot];
          steps.weight[s] = rule == PathRule::mean ? sigma[u] : 1.0;
          sum += steps.weight[s];
        });
        sigma.set(j, sum);
        for (auto s = static_cast<std::size_t>(first_step); s < static_cast<std::size_t>(next_step[m - 1]); ++s) {
          steps.weight[s] /= sum;
        }
      }
      sigma.rescale(row, m);
    }
  });
  return steps;
}

}  // namespace molgraph

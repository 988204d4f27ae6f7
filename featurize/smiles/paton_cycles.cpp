#include "featurize/smiles/paton_cycles.hpp"

#include <algorithm>
#include <cstddef>

namespace molgraph {
namespace {

/// A vertex of the growing spanning tree.
struct TreeVertex {
  int parent = -1;
  bool found = false;
  /// Vertices from which this one was reached: by its tree edge and by every cycle-closing edge.
  std::vector<int> reached_from;

  bool reached(int from) const {
    return std::find(reached_from.begin(), reached_from.end(), from) != reached_from.end();
  }
};

/// The edge from - to closes a cycle. Climbs from `from` to a vertex from which `to` was reached.
int cycle_length(const std::vector<TreeVertex>& tree, int from, int to) {
  int length = 3;  // to, from and the vertex where the climb ends
  int vertex = tree[static_cast<std::size_t>(from)].parent;
  while (!tree[static_cast<std::size_t>(to)].reached(vertex)) {
    vertex = tree[static_cast<std::size_t>(vertex)].parent;
    ++length;
  }
  return length;
}

}  // namespace

int longest_paton_cycle(const std::vector<std::vector<int>>& neighbours) {
  std::vector<TreeVertex> tree(neighbours.size());
  int longest = 0;
  for (std::size_t root = 0; root < neighbours.size(); ++root) {
    if (tree[root].found) continue;
    tree[root].found = true;
    tree[root].parent = static_cast<int>(root);
    std::vector<int> to_examine{static_cast<int>(root)};
    while (!to_examine.empty()) {
      const int from = to_examine.back();
      to_examine.pop_back();
      for (const int to : neighbours[static_cast<std::size_t>(from)]) {
        TreeVertex& next = tree[static_cast<std::size_t>(to)];
        if (!next.found) {
          next.found = true;
          next.parent = from;
          next.reached_from.push_back(from);
          to_examine.push_back(to);
        } else if (!tree[static_cast<std::size_t>(from)].reached(to)) {
          longest = std::max(longest, cycle_length(tree, from, to));
          next.reached_from.push_back(from);
        }
      }
    }
  }
  return longest;
}

}  // namespace molgraph

#include "featurize/graph/pair_relations.hpp"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cassert>
#include <utility>

#include "featurize/graph/pair_writer.hpp"

namespace molgraph {
namespace {

using BondGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                     boost::no_property, std::uint32_t, std::uint32_t>;
using Vertex = boost::graph_traits<BondGraph>::vertex_descriptor;
using Edge = boost::graph_traits<BondGraph>::edge_descriptor;

/// One row of distances that also serves as the search's colour map: an unreachable atom is white, any other is black.
/// This saves a second array and clearing it.
struct DistanceColours {
  using key_type = Vertex;
  using value_type = boost::default_color_type;
  using reference = value_type;
  using category = boost::read_write_property_map_tag;
  std::uint16_t* distance;
};
boost::default_color_type get(const DistanceColours& map, Vertex v) {
  return map.distance[v] == kUnreachable ? boost::white_color : boost::black_color;
}
/// Does nothing, because colours follow from the distances that the visitor writes.
void put(const DistanceColours&, Vertex, boost::default_color_type) {}

struct DistanceWriter : boost::default_bfs_visitor {
  std::uint16_t* distance;
  explicit DistanceWriter(std::uint16_t* row) : distance(row) {}
  void tree_edge(Edge edge, const BondGraph& graph) const {
    distance[target(edge, graph)] = static_cast<std::uint16_t>(distance[source(edge, graph)] + 1);
  }
};

/// First-in, first-out queue in one array. Every atom enters once, so the queue never wraps around.
class AtomQueue {
 public:
  using value_type = Vertex;
  using size_type = std::size_t;
  explicit AtomQueue(std::size_t atoms) : slots_(atoms) {}
  void clear() { head_ = tail_ = 0; }
  void push(Vertex v) { slots_[tail_++] = v; }
  void pop() { ++head_; }
  Vertex& top() { return slots_[head_]; }
  bool empty() const { return head_ == tail_; }

 private:
  std::vector<Vertex> slots_;
  std::size_t head_ = 0, tail_ = 0;
};

BondGraph bond_graph(const GraphView& graph) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  arcs.reserve(2 * static_cast<std::size_t>(graph.num_bonds));
  for (int b = 0; b < graph.num_bonds; ++b) {
    const auto i = static_cast<std::uint32_t>(graph.bond_atoms[2 * b]);
    const auto j = static_cast<std::uint32_t>(graph.bond_atoms[2 * b + 1]);
    assert(i < static_cast<std::uint32_t>(graph.num_atoms) && i != j);
    assert(j < static_cast<std::uint32_t>(graph.num_atoms));
    arcs.emplace_back(i, j);
    arcs.emplace_back(j, i);
  }
  return BondGraph(boost::edges_are_unsorted_multi_pass, arcs.begin(), arcs.end(),
                   static_cast<std::uint32_t>(graph.num_atoms));
}

}  // namespace

void write_pair_relations(const GraphView& graph, std::uint16_t* topology, std::uint8_t* edge) {
  const auto n = static_cast<std::size_t>(graph.num_atoms);
  assert(n <= kMaxAtoms);
  const std::size_t tokens = n + 1;
  std::fill_n(topology, tokens, kVirtual);
  std::fill_n(edge, tokens, kVirtualEdge);

  const BondGraph bonds = bond_graph(graph);
  AtomQueue queue(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint16_t* row = topology + (i + 1) * tokens;
    row[0] = kVirtual;
    std::fill_n(row + 1, n, kUnreachable);
    row[1 + i] = 0;
    queue.clear();
    boost::breadth_first_visit(bonds, static_cast<Vertex>(i), queue, DistanceWriter(row + 1), DistanceColours{row + 1});

    std::uint8_t* edge_row = edge + (i + 1) * tokens;
    edge_row[0] = kVirtualEdge;
    std::fill_n(edge_row + 1, n, kNoEdge);
    edge_row[1 + i] = kSelfEdge;
  }
  for (int b = 0; b < graph.num_bonds; ++b) {
    const auto i = static_cast<std::size_t>(graph.bond_atoms[2 * b]) + 1;
    const auto j = static_cast<std::size_t>(graph.bond_atoms[2 * b + 1]) + 1;
    const auto id = static_cast<std::uint8_t>(bond_id(graph.features, graph.bonds[b]));
    edge[i * tokens + j] = id;
    edge[j * tokens + i] = id;
  }
}

PairRelations pair_relations(const GraphView& graph) {
  const std::size_t tokens = static_cast<std::size_t>(graph.num_atoms) + 1;
  PairRelations relations;
  relations.topology.resize(tokens * tokens);
  relations.edge.resize(tokens * tokens);
  write_pair_relations(graph, relations.topology.data(), relations.edge.data());
  return relations;
}

}  // namespace molgraph

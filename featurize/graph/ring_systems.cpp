#include "featurize/graph/ring_systems.hpp"

#include <xxhash.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <numeric>

namespace molgraph {
namespace {

using Bonds = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::size_t>>;
using Hash = std::uint64_t;

Hash hash_of(const std::vector<Hash>& values) { return XXH3_64bits(values.data(), values.size() * sizeof(Hash)); }

/// Ring system of each bond. Bonds are in one system if they share a ring or if their rings share an atom. A bond
/// outside rings has kNone.
struct RingBonds {
  explicit RingBonds(const GraphView& graph);
  std::vector<std::size_t> system;  ///< [num_bonds]
  std::size_t systems = 0;
  static constexpr std::size_t kNone = SIZE_MAX;
};

std::size_t atom_of(const GraphView& graph, std::size_t bond, std::size_t side) {
  return static_cast<std::size_t>(graph.bond_atoms[2 * bond + side]);
}

RingBonds::RingBonds(const GraphView& graph) : system(static_cast<std::size_t>(graph.num_bonds), kNone) {
  Bonds bonds(static_cast<std::size_t>(graph.num_atoms));
  for (std::size_t b = 0; b < system.size(); ++b) add_edge(atom_of(graph, b, 0), atom_of(graph, b, 1), b, bonds);
  std::vector<std::size_t> block(system.size());
  const std::size_t blocks = boost::biconnected_components(
      bonds, boost::make_iterator_property_map(block.begin(), get(boost::edge_index, bonds)));
  std::vector<std::size_t> size(blocks, 0);
  for (const std::size_t one : block) ++size[one];

  // Blocks of more than one bond are rings. Blocks that share an atom form one system.
  std::vector<std::size_t> of_block(blocks), of_atom(static_cast<std::size_t>(graph.num_atoms), kNone);
  std::iota(of_block.begin(), of_block.end(), std::size_t{0});
  const auto root = [&](std::size_t one) {
    while (of_block[one] != one) one = of_block[one];
    return one;
  };
  for (std::size_t b = 0; b < system.size(); ++b) {
    if (size[block[b]] < 2) continue;
    for (const std::size_t atom : {atom_of(graph, b, 0), atom_of(graph, b, 1)}) {
      if (of_atom[atom] == kNone) of_atom[atom] = block[b];
      of_block[root(block[b])] = root(of_atom[atom]);
    }
  }
  std::vector<std::size_t> number(blocks, kNone);
  for (std::size_t b = 0; b < system.size(); ++b) {
    if (size[block[b]] < 2) continue;
    std::size_t& one = number[root(block[b])];
    if (one == kNone) one = systems++;
    system[b] = one;
  }
}

/// One ring system as a separate graph with renumbered atoms.
struct System {
  struct Neighbour {
    std::size_t atom;
    std::uint8_t bond;
  };
  std::vector<std::uint8_t> element;
  std::vector<std::vector<Neighbour>> neighbours;

  std::vector<Hash> first_colours() const;
  Hash hash() const;
};

/// Initial colour of each atom: its element and the number of atoms at each distance.
std::vector<Hash> System::first_colours() const {
  std::vector<Hash> colours;
  for (std::size_t from = 0; from < element.size(); ++from) {
    std::vector<bool> seen(element.size(), false);
    std::vector<std::size_t> shell{from};
    std::vector<Hash> counts{element[from]};
    seen[from] = true;
    while (!shell.empty()) {
      counts.push_back(shell.size());
      std::vector<std::size_t> next;
      for (const std::size_t atom : shell)
        for (const Neighbour& other : neighbours[atom])
          if (!seen[other.atom]) seen[other.atom] = true, next.push_back(other.atom);
      shell.swap(next);
    }
    colours.push_back(hash_of(counts));
  }
  return colours;
}

Hash System::hash() const {
  std::vector<Hash> colours = first_colours(), next(colours.size()), neighbour_hashes;
  const auto distinct = [](std::vector<Hash> all) {
    std::ranges::sort(all);
    return static_cast<std::size_t>(std::ranges::distance(all.begin(), std::unique(all.begin(), all.end())));
  };
  for (std::size_t classes = distinct(colours), before = 0; classes > before;) {
    for (std::size_t atom = 0; atom < colours.size(); ++atom) {
      neighbour_hashes.clear();
      for (const Neighbour& other : neighbours[atom])
        neighbour_hashes.push_back(hash_of({colours[other.atom], other.bond}));
      std::ranges::sort(neighbour_hashes);
      neighbour_hashes.push_back(colours[atom]);
      next[atom] = hash_of(neighbour_hashes);
    }
    colours.swap(next);
    before = std::exchange(classes, distinct(colours));
  }
  std::ranges::sort(colours);
  return hash_of(colours);
}

}  // namespace

std::vector<std::uint64_t> ring_systems(const GraphView& graph) {
  const RingBonds rings(graph);
  std::vector<System> systems(rings.systems);
  // An atom belongs to at most one system.
  std::vector<std::size_t> place(static_cast<std::size_t>(graph.num_atoms), RingBonds::kNone);
  for (std::size_t b = 0; b < rings.system.size(); ++b) {
    if (rings.system[b] == RingBonds::kNone) continue;
    System& system = systems[rings.system[b]];
    const std::size_t ends[2]{atom_of(graph, b, 0), atom_of(graph, b, 1)};
    for (const std::size_t atom : ends) {
      if (place[atom] != RingBonds::kNone) continue;
      place[atom] = system.element.size();
      system.element.push_back(graph.atoms[atom][0]);
      system.neighbours.emplace_back();
    }
    const std::uint8_t bond = graph.bonds[b][0];
    system.neighbours[place[ends[0]]].push_back({place[ends[1]], bond});
    system.neighbours[place[ends[1]]].push_back({place[ends[0]], bond});
  }
  std::vector<std::uint64_t> hashes;
  for (const System& system : systems) hashes.push_back(system.hash());
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

}  // namespace molgraph

#include "featurize/descriptors/morgan.hpp"

#include <algorithm>
#include <utility>

#include "featurize/descriptors/families.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph::descriptors {
namespace {

/// The mixing step of Boost's hash_combine in 32 bits.
void mix(std::uint32_t& seed, std::uint32_t value) { seed ^= value + 0x9e3779b9u + (seed << 6) + (seed >> 2); }

std::uint32_t atom_id(const CompactMolecule& molecule, std::size_t i) {
  const AtomFacts& atom = molecule.atoms[i];
  std::uint32_t id = 0;
  mix(id, atom.number);
  mix(id, static_cast<std::uint32_t>(atom.total_degree()));
  mix(id, atom.all_hydrogens);
  mix(id, static_cast<std::uint32_t>(static_cast<std::int32_t>(atom.charge)));
  mix(id, static_cast<std::uint32_t>(static_cast<std::int32_t>(molecule.mass[i] - elements()[atom.number].weight)));
  if (atom.rings != 0) mix(id, 1);
  return id;
}

/// Sets of bonds as bits, one row of words per set.
class BondSets {
 public:
  void start(std::size_t words) {
    words_ = words;
    rows_.clear();
  }
  bool contains(const std::uint64_t* set) const {
    for (std::size_t at = 0; at < rows_.size(); at += words_)
      if (rows_[at] == set[0] && std::equal(set + 1, set + words_, rows_.begin() + static_cast<std::ptrdiff_t>(at) + 1))
        return true;
    return false;
  }
  void add(const std::uint64_t* set) { rows_.insert(rows_.end(), set, set + words_); }

 private:
  std::size_t words_ = 1;
  std::vector<std::uint64_t> rows_;
};

}  // namespace

void find_environments(const CompactMolecule& molecule, std::uint32_t radius, std::vector<Environment>& found) {
  const std::size_t n = molecule.size(), words = std::max<std::size_t>(1, (molecule.bonds.size() + 63) / 64);
  thread_local std::vector<std::uint32_t> ids, next_ids, candidates;
  thread_local std::vector<std::uint64_t> bonds, next_bonds;  // [n, words] of each atom's environment
  thread_local std::vector<std::pair<std::uint32_t, std::uint32_t>> neighbours;
  thread_local std::vector<char> finished;  // atoms whose environment equals an earlier one
  thread_local BondSets seen;
  found.clear();
  ids.resize(n);
  next_ids.resize(n);
  bonds.assign(n * words, 0);
  finished.assign(n, 0);
  seen.start(words);
  for (std::size_t i = 0; i < n; ++i) {
    ids[i] = atom_id(molecule, i);
    found.push_back({ids[i], 0});
  }
  for (std::uint32_t layer = 0; layer < radius; ++layer) {
    next_bonds = bonds;
    candidates.clear();
    std::fill(next_ids.begin(), next_ids.end(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      if (finished[i] != 0 || molecule.atoms[i].degree == 0) continue;
      std::uint64_t* own = next_bonds.data() + i * words;
      neighbours.clear();
      for (const Arc* arc = molecule.begin(i); arc != molecule.end(i); ++arc) {
        own[arc->bond / 64] |= std::uint64_t{1} << arc->bond % 64;
        const std::uint64_t* other = bonds.data() + arc->atom * words;
        for (std::size_t w = 0; w < words; ++w) own[w] |= other[w];
        neighbours.emplace_back(molecule.bonds[arc->bond].type, ids[arc->atom]);
      }
      std::sort(neighbours.begin(), neighbours.end());
      std::uint32_t id = layer;
      mix(id, ids[i]);
      for (const auto& [type, neighbour] : neighbours) {
        std::uint32_t pair = 0;
        mix(pair, type);
        mix(pair, neighbour);
        mix(id, pair);
      }
      next_ids[i] = id;
      candidates.push_back(static_cast<std::uint32_t>(i));
    }
    // Of environments with the same bonds, the one with the smallest id is kept.
    std::sort(candidates.begin(), candidates.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::pair(next_ids[a], a) < std::pair(next_ids[b], b); });
    for (const std::uint32_t i : candidates) {
      const std::uint64_t* own = next_bonds.data() + i * words;
      if (seen.contains(own)) {
        finished[i] = 1;
      } else {
        seen.add(own);
        found.push_back({next_ids[i], layer + 1});
      }
    }
    ids.swap(next_ids);
    bonds.swap(next_bonds);
  }
}

/// Number of different environments up to a radius, divided by the number of heavy atoms.
void write_fingerprint_densities(const Work& work, double* row) {
  constexpr std::size_t slots[] = {slot("FpDensityMorgan1"), slot("FpDensityMorgan2"), slot("FpDensityMorgan3")};
  thread_local std::vector<Environment> found;
  find_environments(work.molecule, std::size(slots), found);
  std::sort(found.begin(), found.end(), [](const Environment& a, const Environment& b) {
    return std::pair(a.id, a.radius) < std::pair(b.id, b.radius);
  });
  std::size_t at_radius[std::size(slots) + 1] = {};
  for (std::size_t i = 0; i < found.size(); ++i)
    if (i == 0 || found[i].id != found[i - 1].id) ++at_radius[found[i].radius];
  std::size_t different = at_radius[0];
  for (std::size_t k = 0; k < std::size(slots); ++k) {
    different += at_radius[k + 1];
    const int heavy = work.molecule.heavy_atoms;
    row[slots[k]] = heavy == 0 ? 0.0 : static_cast<double>(different) / heavy;
  }
}

}  // namespace molgraph::descriptors

#include "attention/cpu/pack.hpp"

#include <algorithm>

namespace molgraph::cpu {

void Pack::load(const GraphBatch& batch, std::size_t first_molecule, std::size_t last_molecule,
                const EncoderShape& shape, const ClassRule& rule) {
  first = first_molecule;
  last = last_molecule;
  if (!numbers_) numbers_.emplace(rule, shape.edges);
  tokens = static_cast<std::size_t>(batch.token_offset[last] - batch.token_offset[first]);
  pairs = static_cast<std::size_t>(batch.pair_offset[last] - batch.pair_offset[first]);
  molecules.resize(size());
  relation.resize(pairs);
  forbidden.assign(rule.forbidden_distance > 0 ? pairs : 0, 0);
  const bool reverse = shape.options.key_term == KeyTerm::reverse;
  reversed.resize(reverse ? pairs : 0);

  for (std::size_t b = first; b < last; ++b) {
    MoleculeRelations& molecule = molecules[b - first];
    molecule.first_token = static_cast<std::size_t>(batch.token_offset[b] - batch.token_offset[first]);
    molecule.first_pair = static_cast<std::size_t>(batch.pair_offset[b] - batch.pair_offset[first]);
    molecule.tokens = static_cast<std::size_t>(batch.token_offset[b + 1] - batch.token_offset[b]);
    molecule.topology.clear();
    molecule.edge.clear();
    const std::uint16_t* raw_topology = batch.topology.data() + batch.pair_offset[b];
    const std::uint8_t* raw_edge = batch.edge.data() + batch.pair_offset[b];
    const auto n = static_cast<std::int64_t>(molecule.tokens);
    std::uint16_t* out = relation.data() + molecule.first_pair;
    std::size_t p = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j, ++p) {
        out[p] = numbers_->of(rule, i, j, raw_topology[p], raw_edge[p]);
        if (!forbidden.empty()) forbidden[molecule.first_pair + p] = rule.forbidden(i, j, raw_topology[p]);
      }
    }
    for (const std::uint32_t word : numbers_->met()) {
      molecule.topology.push_back(static_cast<std::uint16_t>(topology_of(word)));
      molecule.edge.push_back(static_cast<std::uint16_t>(edge_of(word)));
    }
    numbers_->clear();
    if (!reverse) continue;
    for (std::size_t i = 0; i < molecule.tokens; ++i)
      for (std::size_t j = 0; j < molecule.tokens; ++j)
        reversed[molecule.first_pair + i * molecule.tokens + j] = out[j * molecule.tokens + i];
  }
}

std::vector<std::size_t> split_into_packs(const GraphBatch& batch, std::size_t tokens, std::size_t parts) {
  const auto molecules = static_cast<std::size_t>(batch.size());
  const auto all = molecules > 0 ? static_cast<std::size_t>(batch.token_offset[molecules]) : 0;
  const std::size_t count = (all + tokens * parts - 1) / (tokens * parts) * parts;
  std::vector<std::size_t> offsets{0};
  for (std::size_t b = 1, share = 1; b <= molecules; ++b) {  // a pack ends when it reaches its share of all tokens
    const std::size_t done = static_cast<std::size_t>(batch.token_offset[b]) * count;
    if (done < share * all) continue;
    offsets.push_back(b);
    share = done / all + 1;
  }
  return offsets;
}

}  // namespace molgraph::cpu

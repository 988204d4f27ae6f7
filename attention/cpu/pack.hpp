// A pack: a few whole molecules that pass through all layers together, so that their activations stay in the cache.
// (Unrelated to pack() in featurize/graph/graph_batch.hpp, which makes the batch that is split into packs.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/cpu/weights.hpp"
#include "attention/spec/class_rule.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::cpu {

/// The relations of one molecule. A relation is a topology class, combined with an edge class if the model uses edges.
struct MoleculeRelations {
  std::vector<std::uint16_t> topology, edge;  ///< [M] classes of each relation
  std::size_t first_pair = 0, tokens = 0, first_token = 0;
  std::size_t count() const { return topology.size(); }
  std::int64_t atoms() const { return static_cast<std::int64_t>(tokens) - 1; }
};

/// Molecules [first, last) of a batch. load() fills all members; vectors only grow.
struct Pack {
  std::size_t first = 0, last = 0;  ///< molecules
  std::size_t tokens = 0, pairs = 0;
  std::vector<MoleculeRelations> molecules;
  std::vector<std::uint16_t> relation;  ///< [pairs] index into the molecule's relations
  std::vector<std::uint16_t> reversed;  ///< [pairs] `relation` of the pair (j, i); only for KeyTerm::reverse
  std::vector<std::uint8_t> forbidden;  ///< [pairs]; empty = none

  void load(const GraphBatch& batch, std::size_t first, std::size_t last, const EncoderShape& shape,
            const ClassRule& rule);
  std::size_t size() const { return last - first; }

 private:
  std::optional<RelationNumbers> numbers_;  ///< of the current molecule
};

/// Molecules of each pack as [packs + 1] offsets. Packs contain whole molecules and about the same number of tokens, on
/// average at most `tokens`. If the molecules allow it, the number of packs is a multiple of `parts`.
std::vector<std::size_t> split_into_packs(const GraphBatch& batch, std::size_t tokens, std::size_t parts);

}  // namespace molgraph::cpu

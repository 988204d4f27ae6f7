// The reference's layout of a packed batch: groups of molecules of similar size, padded to the largest.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Classes of every packed pair, which index the tables.
struct RelationClasses {
  torch::Tensor topology;   ///< [P] int64, in [0, topology classes)
  torch::Tensor edge;       ///< [P] int64, in [0, edge classes)
  torch::Tensor forbidden;  ///< [P] bool, true = score is minus infinity; undefined = all pairs are allowed
};

/// G molecules padded to N tokens each. The group's tokens are rows first_token .. first_token + G*N - 1 of the grouped
/// order. A padding row is a copy of the molecule's token 0; its output is not used. Pairs are [G, N*N], row-major.
struct TokenGroup {
  std::vector<std::int64_t> molecules;  ///< [G] indices into the batch
  std::int64_t size = 0;                ///< N
  std::int64_t first_token = 0;
  torch::Tensor packed_pair;  ///< [1, G*N*N] int32, index of the packed pair; padding: a pair of the same molecule
  torch::Tensor topology;     ///< [1, G*N*N] int32, topology class
  torch::Tensor row_slot;     ///< [G, N*N] int32, i*M + m, where m is the pair's relation
  torch::Tensor column_slot;  ///< [G, N*N] int32, j*M + m
  torch::Tensor masked_key;   ///< [G, N*N] bool, padding keys and forbidden pairs; never a whole row
  /// [G, N] bool, false = all keys of the row are forbidden; undefined if there is no such row
  torch::Tensor has_key;
};

/// The layout for all layers of a forward pass. A "relation" m in [0, M) is a combination of topology and edge class
/// that occurs in the batch. Both tables are added for every pair, so one table of M rows replaces them at half the
/// cost.
struct AttentionLayout {
  std::vector<TokenGroup> groups;
  std::int64_t tokens = 0;                         ///< number of tokens in the grouped order, including padding
  torch::Tensor to_grouped;                        ///< [grouped tokens] int64, packed token of each
  torch::Tensor to_packed;                         ///< [packed tokens] int64, grouped token of each
  torch::Tensor relation_topology;                 ///< [M] int64, topology class of each relation
  torch::Tensor relation_edge;                     ///< [M] int64, edge class of each relation
  std::vector<std::int64_t> token_counts() const;  ///< G*N of each group
};

/// Splits molecules into groups of similar size. Returns one vector of molecule indices per group, smallest molecules
/// first (ties by index). Minimises the sum over groups of G*N^2 + `overhead`: the work on pairs plus a fixed cost.
std::vector<std::vector<std::int64_t>> group_by_size(std::span<const std::int64_t> sizes, std::int64_t overhead);

AttentionLayout make_layout(const GraphBatch& batch, const RelationClasses& classes);

}  // namespace molgraph

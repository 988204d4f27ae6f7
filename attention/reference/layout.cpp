#include "attention/reference/layout.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace molgraph {
namespace {

using torch::Tensor;

// An additional group costs about as much as this many additional pairs (measured at 12 x 80, batch 256, on two cores).
constexpr std::int64_t kGroupOverhead = 3000;

// Numbers the relations in order of first occurrence. Returns [P], the relation of every packed pair.
std::vector<std::int32_t> number_relations(const std::int64_t* topology, const std::int64_t* edge, std::int64_t pairs,
                                           std::vector<std::int64_t>& relation_topology,
                                           std::vector<std::int64_t>& relation_edge) {
  std::int64_t edge_classes = 1;
  for (std::int64_t p = 0; p < pairs; ++p) edge_classes = std::max(edge_classes, edge[p] + 1);
  std::unordered_map<std::int64_t, std::int32_t> number;
  std::vector<std::int32_t> relation(static_cast<std::size_t>(pairs));
  std::int64_t last_key = -1;
  std::int32_t last = 0;
  for (std::int64_t p = 0; p < pairs; ++p) {
    const std::int64_t key = topology[p] * edge_classes + edge[p];
    if (key != last_key) {
      const auto [entry, added] = number.try_emplace(key, static_cast<std::int32_t>(number.size()));
      if (added) {
        relation_topology.push_back(topology[p]);
        relation_edge.push_back(edge[p]);
      }
      last_key = key;
      last = entry->second;
    }
    relation[static_cast<std::size_t>(p)] = last;
  }
  return relation;
}

// Inputs of fill_molecule, the same for all groups.
struct PairSource {
  const GraphBatch& batch;
  const std::int64_t* topology;
  const bool* forbidden;  // nullptr = none
  const std::vector<std::int32_t>& relation;
  std::int32_t num_relations;
};

// Fills the pairs of molecule `slot` of the group. Returns true if a row has no allowed key.
bool fill_molecule(TokenGroup& group, std::int64_t slot, const PairSource& source, bool* has_key) {
  const std::int64_t b = group.molecules[static_cast<std::size_t>(slot)], size = group.size;
  const std::int64_t tokens = source.batch.token_offset[b + 1] - source.batch.token_offset[b];
  const std::int64_t first_pair = source.batch.pair_offset[b], at = slot * size * size;
  std::int32_t* packed_pair = group.packed_pair.data_ptr<std::int32_t>() + at;
  std::int32_t* topology = group.topology.data_ptr<std::int32_t>() + at;
  std::int32_t* row_slot = group.row_slot.data_ptr<std::int32_t>() + at;
  std::int32_t* column_slot = group.column_slot.data_ptr<std::int32_t>() + at;
  bool* masked = group.masked_key.data_ptr<bool>() + at;
  bool empty_row = false;
  for (std::int64_t i = 0; i < size; ++i) {
    bool any = false;
    for (std::int64_t j = 0; j < size; ++j, ++packed_pair, ++topology, ++row_slot, ++column_slot, ++masked) {
      const bool real = i < tokens && j < tokens;
      const std::int64_t pair = first_pair + (real ? i * tokens + j : 0);
      const std::int32_t m = source.relation[static_cast<std::size_t>(pair)];
      *packed_pair = static_cast<std::int32_t>(pair);
      *topology = static_cast<std::int32_t>(source.topology[pair]);
      *row_slot = static_cast<std::int32_t>(i) * source.num_relations + m;
      *column_slot = static_cast<std::int32_t>(j) * source.num_relations + m;
      *masked = j >= tokens || (real && source.forbidden != nullptr && source.forbidden[pair]);
      any = any || !*masked;
    }
    has_key[slot * size + i] = any;
    if (!any) {  // a softmax needs a key: allow the molecule's keys; the weights are set to zero after the softmax
      std::fill(masked - size, masked - size + tokens, false);
      empty_row = true;
    }
  }
  return empty_row;
}

void fill_group(TokenGroup& group, const PairSource& source) {
  const auto molecules = static_cast<std::int64_t>(group.molecules.size());
  const std::int64_t pairs = group.size * group.size;
  group.packed_pair = torch::empty({1, molecules * pairs}, torch::kInt32);
  group.topology = torch::empty({1, molecules * pairs}, torch::kInt32);
  group.row_slot = torch::empty({molecules, pairs}, torch::kInt32);
  group.column_slot = torch::empty({molecules, pairs}, torch::kInt32);
  group.masked_key = torch::empty({molecules, pairs}, torch::kBool);
  const Tensor has_key = torch::empty({molecules, group.size}, torch::kBool);
  bool empty_row = false;
  for (std::int64_t slot = 0; slot < molecules; ++slot)
    empty_row = fill_molecule(group, slot, source, has_key.data_ptr<bool>()) || empty_row;
  if (empty_row) group.has_key = has_key;
}

}  // namespace

std::vector<std::int64_t> AttentionLayout::token_counts() const {
  std::vector<std::int64_t> counts;
  for (const TokenGroup& group : groups)
    counts.push_back(static_cast<std::int64_t>(group.molecules.size()) * group.size);
  return counts;
}

std::vector<std::vector<std::int64_t>> group_by_size(std::span<const std::int64_t> sizes, std::int64_t overhead) {
  std::vector<std::int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return sizes[a] < sizes[b]; });
  // runs[r]: end of the r-th run of equal sizes in `order`; a group is a range of runs.
  std::vector<std::size_t> runs{0};
  for (std::size_t k = 1; k <= order.size(); ++k)
    if (k == order.size() || sizes[order[k]] != sizes[order[k - 1]]) runs.push_back(k);
  if (order.empty()) return {};
  // best[r]: smallest cost of the first r runs; begin[r]: where its last group begins.
  const std::size_t count = runs.size();
  std::vector<std::int64_t> best(count, std::numeric_limits<std::int64_t>::max());
  std::vector<std::size_t> begin(count, 0);
  best[0] = 0;
  for (std::size_t r = 1; r < count; ++r) {
    const std::int64_t size = sizes[order[runs[r] - 1]];
    for (std::size_t s = 0; s < r; ++s) {
      const std::int64_t cost = best[s] + static_cast<std::int64_t>(runs[r] - runs[s]) * size * size + overhead;
      if (cost < best[r]) best[r] = cost, begin[r] = s;
    }
  }
  std::vector<std::vector<std::int64_t>> groups;
  for (std::size_t r = count - 1; r > 0; r = begin[r])
    groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(runs[begin[r]]),
                        order.begin() + static_cast<std::ptrdiff_t>(runs[r]));
  std::reverse(groups.begin(), groups.end());
  return groups;
}

AttentionLayout make_layout(const GraphBatch& batch, const RelationClasses& classes) {
  TORCH_CHECK(batch.num_pairs() <= std::numeric_limits<std::int32_t>::max(), "a batch may have at most 2^31 - 1 pairs");
  const Tensor topology = classes.topology.contiguous(), edge = classes.edge.contiguous();
  const Tensor forbidden = classes.forbidden.defined() ? classes.forbidden.contiguous() : Tensor();
  std::vector<std::int64_t> relation_topology, relation_edge;
  const std::vector<std::int32_t> relation =
      number_relations(topology.const_data_ptr<std::int64_t>(), edge.const_data_ptr<std::int64_t>(), batch.num_pairs(),
                       relation_topology, relation_edge);
  const PairSource source{batch, topology.const_data_ptr<std::int64_t>(),
                          forbidden.defined() ? forbidden.const_data_ptr<bool>() : nullptr, relation,
                          static_cast<std::int32_t>(relation_topology.size())};

  AttentionLayout layout;
  std::vector<std::int64_t> sizes;
  for (std::int64_t b = 0; b < batch.size(); ++b) sizes.push_back(batch.token_offset[b + 1] - batch.token_offset[b]);
  std::vector<std::int64_t> to_grouped, to_packed(static_cast<std::size_t>(batch.num_tokens()));
  for (std::vector<std::int64_t>& molecules : group_by_size(sizes, kGroupOverhead)) {
    TokenGroup group;
    group.size = sizes[molecules.back()];
    group.first_token = layout.tokens;
    for (const std::int64_t b : molecules)
      for (std::int64_t i = 0; i < group.size; ++i) {
        const std::int64_t token = batch.token_offset[b] + (i < sizes[b] ? i : 0);
        if (i < sizes[b]) to_packed[token] = static_cast<std::int64_t>(to_grouped.size());
        to_grouped.push_back(token);
      }
    layout.tokens = static_cast<std::int64_t>(to_grouped.size());
    group.molecules = std::move(molecules);
    layout.groups.push_back(std::move(group));
  }
  at::parallel_for(0, static_cast<std::int64_t>(layout.groups.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) fill_group(layout.groups[g], source);
  });
  layout.to_grouped = torch::tensor(to_grouped, torch::kInt64);
  layout.to_packed = torch::tensor(to_packed, torch::kInt64);
  layout.relation_topology = torch::tensor(relation_topology, torch::kInt64);
  layout.relation_edge = torch::tensor(relation_edge, torch::kInt64);
  return layout;
}

}  // namespace molgraph

// Grouping by size, the padded layout and the two sparse operations.
#include <gtest/gtest.h>

#include <algorithm>

#include "attention/reference/layout.hpp"
#include "attention/reference/lookup.hpp"
#include "tests/attention/cases.hpp"

namespace molgraph::test {
namespace {

using torch::Tensor;

TEST(Layout, GroupsAreSortedAndCoverEverything) {
  const std::vector<std::int64_t> sizes{9, 3, 9, 40, 10, 3, 39};
  const auto groups = group_by_size(sizes, 100);
  const std::vector<std::vector<std::int64_t>> expected{{1, 5}, {0, 2, 4}, {6, 3}};
  // 2*9 + 3*100 + 2*1600 + 3*100: 9 with 10 wastes 38, 39 with 40 wastes 79, both below 100
  EXPECT_EQ(groups, expected);
  EXPECT_EQ(group_by_size(sizes, 0).size(), 5u);          // no padding allowed
  EXPECT_EQ(group_by_size(sizes, 1'000'000).size(), 1u);  // one group
  EXPECT_TRUE(group_by_size({}, 100).empty());
}

TEST(Layout, TokensAndPairsRoundTrip) {
  const GraphBatch batch = batch_of({Shape::rings, Shape::atom, Shape::salt, Shape::rings});
  const RelationClasses classes = classes_of(batch);
  const AttentionLayout layout = make_layout(batch, classes);
  const Tensor packed = torch::arange(batch.num_tokens());
  EXPECT_TRUE(torch::equal(packed.index_select(0, layout.to_grouped).index_select(0, layout.to_packed), packed));
  std::int64_t allowed = 0;
  for (const TokenGroup& group : layout.groups) {
    EXPECT_FALSE(group.has_key.defined());
    const Tensor relation = group.row_slot.view({-1}).remainder(layout.relation_topology.size(0)).to(torch::kInt64);
    const Tensor pair = group.packed_pair.view({-1}).to(torch::kInt64);
    EXPECT_TRUE(
        torch::equal(layout.relation_topology.index_select(0, relation), classes.topology.index_select(0, pair)));
    EXPECT_TRUE(torch::equal(layout.relation_edge.index_select(0, relation), classes.edge.index_select(0, pair)));
    for (std::size_t slot = 0; slot < group.molecules.size(); ++slot) {
      const auto b = static_cast<std::size_t>(group.molecules[slot]);
      const std::int64_t n = batch.token_offset[b + 1] - batch.token_offset[b];
      const Tensor masked = group.masked_key[static_cast<std::int64_t>(slot)].view({group.size, group.size});
      EXPECT_FALSE(masked.narrow(1, 0, n).any().item<bool>());
      EXPECT_TRUE(masked.narrow(1, n, group.size - n).all().item<bool>());
      allowed += n * n;
    }
  }
  EXPECT_EQ(allowed, batch.num_pairs());
}

// Molecules without atoms do not occur, but the layout accepts a single token.
TEST(Layout, AcceptsASingleToken) {
  GraphBatch batch;
  batch.token_offset = {0, 1};
  batch.pair_offset = {0, 1};
  batch.row = {0};
  const Tensor zero = torch::zeros({1}, torch::kInt64);
  const AttentionLayout layout = make_layout(batch, {zero, zero, {}});
  EXPECT_EQ(layout.tokens, 1);
  EXPECT_EQ(layout.groups.size(), 1u);
}

// at::gather and at::scatter_add give the expected values.
TEST(Lookup, EqualsGatherAndScatter) {
  torch::manual_seed(3);
  const auto options = torch::TensorOptions().dtype(torch::kFloat64).requires_grad(true);
  const Tensor tables = torch::randn({2, 3, 5}, options), base = torch::randn({2, 3, 11}, options);
  const Tensor slots = torch::randint(5, {3, 11}, torch::kInt32);
  const Tensor index = slots.to(torch::kInt64).expand({2, 3, 11});
  const Tensor weight = torch::randn({2, 3, 11}, torch::kFloat64);
  const Tensor slot_weight = torch::randn({2, 3, 5}, torch::kFloat64);

  const Tensor got = add_lookup(base, tables, slots), expected = base + tables.gather(2, index);
  EXPECT_TRUE(torch::equal(got, expected));
  const auto got_grads = torch::autograd::grad({(got * weight).sum()}, {base, tables});
  const auto expected_grads = torch::autograd::grad({(expected * weight).sum()}, {base, tables});
  for (int k = 0; k < 2; ++k) EXPECT_TRUE(torch::allclose(got_grads[k], expected_grads[k], 0, 1e-14));
  EXPECT_TRUE(torch::equal(add_lookup({}, tables, slots), tables.gather(2, index)));
  const Tensor mask = torch::randn({1, 3, 11}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(add_lookup(mask, tables, slots), mask + tables.gather(2, index)));

  const Tensor sums = sum_by_slot(base, slots, 5);
  const Tensor scattered = torch::zeros({2, 3, 5}, torch::kFloat64).scatter_add(2, index, base);
  EXPECT_TRUE(torch::allclose(sums, scattered, 0, 1e-14));
  const auto got_back = torch::autograd::grad({(sums * slot_weight).sum()}, {base});
  const auto expected_back = torch::autograd::grad({(scattered * slot_weight).sum()}, {base});
  EXPECT_TRUE(torch::equal(got_back[0], expected_back[0]));
}

}  // namespace
}  // namespace molgraph::test

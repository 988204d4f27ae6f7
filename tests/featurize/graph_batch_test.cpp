#include "featurize/graph/graph_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "featurize/graph/pair_relations.hpp"
#include "tests/featurize/small_graphs.hpp"

namespace molgraph {
namespace {

using test::chain_of;
using test::cubane;
using test::graph_of;

TEST(Pack, ConcatenatesMolecules) {
  const std::vector<MolecularGraph> graphs = {chain_of(3), graph_of(1, {}), cubane(), graph_of(4, {{0, 2}, {1, 3}})};
  std::vector<GraphView> views;
  for (const auto& graph : graphs) views.push_back(graph.view());
  const std::vector<std::int64_t> rows = {7, 0, 99, 12345678901};
  const GraphBatch batch = pack(views, rows);

  EXPECT_EQ(batch.size(), 4);
  EXPECT_EQ(batch.row, rows);
  EXPECT_EQ(batch.atom_offset, (std::vector<std::int64_t>{0, 3, 4, 12, 16}));
  EXPECT_EQ(batch.token_offset, (std::vector<std::int64_t>{0, 4, 6, 15, 20}));
  EXPECT_EQ(batch.pair_offset, (std::vector<std::int64_t>{0, 16, 20, 101, 126}));
  EXPECT_EQ(batch.num_tokens(), 20);
  EXPECT_EQ(batch.num_pairs(), 126);
  EXPECT_EQ(batch.degree, (std::vector<std::int32_t>{1, 2, 1, 0, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1}));
  EXPECT_EQ(batch.paths.levels(), 0);
  for (std::size_t b = 0; b < graphs.size(); ++b) {
    const PairRelations own = pair_relations(views[b]);
    EXPECT_TRUE(std::equal(own.topology.begin(), own.topology.end(), batch.topology.begin() + batch.pair_offset[b]));
    EXPECT_TRUE(std::equal(own.edge.begin(), own.edge.end(), batch.edge.begin() + batch.pair_offset[b]));
    EXPECT_TRUE(
        std::equal(graphs[b].atoms.begin(), graphs[b].atoms.end(), batch.atoms.begin() + 9 * batch.atom_offset[b]));
  }
}

TEST(Pack, EmptyBatch) {
  const GraphBatch batch = pack({}, {}, {.paths = true});
  EXPECT_EQ(batch.size(), 0);
  EXPECT_EQ(batch.num_tokens(), 0);
  EXPECT_EQ(batch.num_pairs(), 0);
  EXPECT_EQ(batch.paths.levels(), 0);
}

TEST(Pack, RejectsInconsistentInput) {
  const std::vector<MolecularGraph> graphs = {chain_of(3), cubane()};
  std::vector<GraphView> views{graphs[0].view(), graphs[1].view()};
  const std::vector<std::int64_t> rows{0, 1}, fewer{0};
  EXPECT_NO_THROW(pack(views, rows));
  EXPECT_THROW(pack(views, fewer), std::invalid_argument);
  MolecularGraph zinc = chain_of(3);  // one column per atom; the others have nine
  zinc.features = Features::zinc;
  zinc.atoms.resize(3);
  views[1] = zinc.view();
  EXPECT_THROW(pack(views, rows), std::invalid_argument);
  MolecularGraph out_of_range = chain_of(3);
  out_of_range.bond_atoms[3] = 3;
  views[1] = out_of_range.view();
  EXPECT_THROW(pack(views, rows), std::invalid_argument);
}

}  // namespace
}  // namespace molgraph

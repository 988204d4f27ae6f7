// Compares the edge-path bias with sums over paths: hand calculations for small graphs; for random graphs, the formula,
// which enumerates every path.
#include "attention/reference/path_bias.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "attention/formula/pair_terms.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::test {
namespace {

struct Bond {
  std::uint16_t from, to;  // atoms
  int type;
};

/// `zinc` has one bond column, so that the embedding of a bond is one row of the table.
MolecularGraph zinc_graph(int atoms, const std::vector<Bond>& bonds) {
  MolecularGraph graph;
  graph.features = Features::zinc;
  graph.atoms.assign(static_cast<std::size_t>(atoms), 0);
  for (const Bond& bond : bonds) {
    graph.bond_atoms.insert(graph.bond_atoms.end(), {bond.from, bond.to});
    graph.bonds.push_back(static_cast<std::uint8_t>(bond.type));
  }
  return graph;
}

GraphBatch batch_of(const std::vector<MolecularGraph>& graphs, PathRule rule) {
  std::vector<GraphView> views;
  for (const auto& graph : graphs) views.push_back(graph.view());
  return pack(views, std::vector<std::int64_t>(graphs.size(), 0), {.paths = true, .path_rule = rule});
}

/// The bias [n, n, H] of the atom pairs of molecule b.
torch::Tensor atom_pairs_of(const torch::Tensor& bias, const GraphBatch& batch, std::size_t b) {
  const std::int64_t n = batch.token_offset[b + 1] - batch.token_offset[b];
  return bias.slice(0, batch.pair_offset[b], batch.pair_offset[b + 1]).view({n, n, -1}).slice(0, 1).slice(1, 1);
}

/// A path term with its parameters.
struct Path {
  /// Random parameters.
  Path(Features features, int heads, int max_hops)
      : bond(torch::randn({features == Features::zinc ? 4 : 13, heads}, torch::kFloat64).requires_grad_()),
        hop_weight(torch::randn({max_hops, heads, heads}, torch::kFloat64).requires_grad_()) {}
  torch::Tensor operator()(const GraphBatch& batch) const { return path_values(bond, hop_weight, batch); }

  torch::Tensor bond, hop_weight;
};

/// One head, values 1, 10 and 100 for the bond types, weights 1, 2 and 4 for the hops: every path has a different sum.
Path one_head(int max_hops) {
  Path path(Features::zinc, 1, max_hops);
  torch::NoGradGuard no_grad;
  path.bond.copy_(torch::tensor({0.0, 1.0, 10.0, 100.0}).view({4, 1}));
  path.hop_weight.copy_(torch::tensor({1.0, 2.0, 4.0}).slice(0, 0, max_hops).view({max_hops, 1, 1}));
  return path;
}

double bias_between(const GraphBatch& batch, const Path& path, int i, int j) {
  return atom_pairs_of(path(batch), batch, 0)[i][j][0].item<double>();
}

const std::vector<Bond> kChain{{0, 1, 1}, {1, 2, 2}, {2, 3, 3}};
const std::vector<Bond> kRing{{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 0, 1}};

TEST(PathBias, ChainMatchesHandCalculation) {
  const GraphBatch batch = batch_of({zinc_graph(4, kChain)}, PathRule::mean);
  Path path = one_head(3);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 0, 1), 1.0);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 0, 2), (1.0 + 2 * 10) / 2);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 0, 3), (1.0 + 2 * 10 + 4 * 100) / 3);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 3, 0),
                   (100.0 + 2 * 10 + 4 * 1) / 3);  // hops are counted from the query atom
}

TEST(PathBias, HopsAboveTheLimitAreIgnored) {
  const GraphBatch batch = batch_of({zinc_graph(4, kChain)}, PathRule::mean);
  Path path = one_head(2);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 0, 3), (1.0 + 2 * 10) / 2);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 3, 0), (100.0 + 2 * 10) / 2);
  path = one_head(1);
  EXPECT_DOUBLE_EQ(bias_between(batch, path, 0, 3), 1.0);
}

TEST(PathBias, TiedPathsInRingFollowThePathRule) {
  const MolecularGraph ring = zinc_graph(4, kRing);
  Path path = one_head(3);
  const double over_1 = (1.0 + 2 * 10) / 2, over_3 = (1.0 + 2 * 100) / 2;  // 0 -> 2
  const double back_over_1 = (10.0 + 2 * 1) / 2, back_over_3 = (100.0 + 2 * 1) / 2;
  const GraphBatch mean = batch_of({ring}, PathRule::mean);
  EXPECT_DOUBLE_EQ(bias_between(mean, path, 0, 2), (over_1 + over_3) / 2);
  EXPECT_DOUBLE_EQ(bias_between(mean, path, 2, 0), (back_over_1 + back_over_3) / 2);
  const GraphBatch single = batch_of({ring}, PathRule::single);
  EXPECT_DOUBLE_EQ(bias_between(single, path, 0, 2), over_1);
  EXPECT_DOUBLE_EQ(bias_between(single, path, 2, 0), back_over_1);
}

TEST(PathBias, OgbBondIsMeanOfColumnsAndInputHeadIsFirstIndex) {
  MolecularGraph graph;
  graph.atoms.assign(18, 0);
  graph.bond_atoms = {0, 1};
  graph.bonds = {3, 2, 1};  // rows 3, 5 + 2 and 11 + 1
  const GraphBatch batch = batch_of({graph}, PathRule::mean);
  Path path(Features::ogb, 2, 1);
  {
    torch::NoGradGuard no_grad;
    path.bond.zero_();
    path.bond[3] = torch::tensor({3.0, 0.0});
    path.bond[7] = torch::tensor({30.0, 6.0});
    path.bond[12] = torch::tensor({300.0, 0.0});
    path.hop_weight.copy_(torch::tensor({1.0, 5.0, 7.0, 1000.0}).view({1, 2, 2}));
  }
  const torch::Tensor bias = atom_pairs_of(path(batch), batch, 0)[0][1];  // mean (111, 2)
  EXPECT_DOUBLE_EQ(bias[0].item<double>(), 111 * 1 + 2 * 7);
  EXPECT_DOUBLE_EQ(bias[1].item<double>(), 111 * 5 + 2 * 1000);
}

TEST(PathBias, ZeroForTokenZeroSelfAndOtherFragments) {
  const GraphBatch batch = batch_of({zinc_graph(1, {}), zinc_graph(3, {{0, 1, 1}})}, PathRule::mean);
  Path path = one_head(3);
  const torch::Tensor bias = path(batch);
  ASSERT_EQ(bias.size(0), 4 + 16);
  EXPECT_EQ(bias.count_nonzero().item<std::int64_t>(), 2);  // 0-1 and 1-0
  EXPECT_DOUBLE_EQ(atom_pairs_of(bias, batch, 1)[1][0].item<double>(), 1.0);
  const GraphBatch atom = batch_of({zinc_graph(1, {})}, PathRule::mean);
  EXPECT_EQ(path(atom).count_nonzero().item<std::int64_t>(), 0);
}

/// A random graph of up to three fragments with many tied paths.
std::vector<Bond> random_bonds(int atoms, std::mt19937& random) {
  std::vector<Bond> bonds;
  for (std::uint16_t a = 0; a < atoms; ++a)
    for (std::uint16_t b = a + 1; b < atoms; ++b)
      if (random() % 100 < 30) bonds.push_back({a, b, static_cast<int>(random() % 4)});
  std::shuffle(bonds.begin(), bonds.end(), random);
  return bonds;
}

formula::Matrix matrix_of(const torch::Tensor& x) {
  const torch::Tensor rows = x.detach().reshape({-1, x.size(-1)}).contiguous();
  formula::Matrix matrix(rows.size(0), rows.size(1));
  std::copy_n(rows.const_data_ptr<double>(), rows.numel(), matrix.values.data());
  return matrix;
}

// The formula enumerates every path; the reference does not.
TEST(PathBias, RandomGraphsMatchPathEnumeration) {
  std::mt19937 random(7);
  torch::manual_seed(7);
  constexpr int kAtoms = 9, kHops = 3;
  std::int64_t ties = 0, capped = 0;
  for (int round = 0; round < 20; ++round) {
    const std::vector<Bond> bonds = random_bonds(kAtoms, random);
    const Path path(Features::zinc, 2, kHops);
    const MolecularGraph chain = zinc_graph(4, kChain);  // its paths must not mix with those of the second molecule
    for (const PathRule rule : {PathRule::mean, PathRule::single}) {
      const GraphBatch batch = batch_of({chain, zinc_graph(kAtoms, bonds)}, rule);
      const torch::Tensor actual = atom_pairs_of(path(batch), batch, 1);
      const auto expected =
          formula::path_values(formula::Molecule(batch, 1), matrix_of(path.bond), matrix_of(path.hop_weight), rule);
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < kAtoms; ++i)
          for (std::int64_t j = 0; j < kAtoms; ++j)
            ASSERT_NEAR(actual[i][j][h].item<double>(), expected[static_cast<std::size_t>(h)](i + 1, j + 1), 1e-12)
                << "round " << round << " pair " << i << " " << j;
      ties += std::count_if(batch.paths.weight.begin(), batch.paths.weight.end(),
                            [](double weight) { return weight < 0.5; });
      capped += batch.paths.levels() > kHops ? batch.paths.level_pairs.back() - batch.paths.level_pairs[kHops] : 0;
    }
  }
  EXPECT_GT(ties, 50);  // the graphs have enough ties for a meaningful test
  EXPECT_GT(capped, 50);
}

TEST(PathBias, GradientMatchesFiniteDifferences) {
  torch::manual_seed(3);
  std::vector<Bond> ring_and_tail = kRing;
  ring_and_tail.push_back({3, 4, 2});
  const GraphBatch batch = batch_of({zinc_graph(4, kChain), zinc_graph(5, ring_and_tail)}, PathRule::mean);
  Path path(Features::zinc, 2, 2);
  const torch::Tensor weights = torch::randn({batch.num_pairs(), 2}, torch::kFloat64);
  const auto loss = [&] { return (path(batch).sin() * weights).sum(); };
  loss().backward();
  for (const torch::Tensor& parameter : {path.bond, path.hop_weight}) {
    const torch::Tensor gradient = parameter.grad().clone();
    torch::NoGradGuard no_grad;
    double* value = parameter.data_ptr<double>();
    for (std::int64_t k = 0; k < parameter.numel(); ++k) {
      const double original = value[k], step = 1e-5;
      value[k] = original + step;
      const double above = loss().item<double>();
      value[k] = original - step;
      const double below = loss().item<double>();
      value[k] = original;
      EXPECT_NEAR(gradient.view(-1)[k].item<double>(), (above - below) / (2 * step), 1e-7) << k;
    }
  }
}

}  // namespace
}  // namespace molgraph::test

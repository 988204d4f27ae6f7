// The hash differs for everything that must not change when a run is resumed.
#include "datasets/store/content_hash.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace molgraph {
namespace {

MoleculeSet some_set() {
  MoleculeSet set;
  set.task.names = {"y"};
  set.row = {0, 1, 2, 4};
  set.smiles = TextList({"C", "CC", "CCO", "CN"});
  set.targets = {1, 2, std::numeric_limits<double>::quiet_NaN(), 4};
  set.bound = {0, 0, 0, 1};
  set.weight = {1, 1, 1, 0.5f};
  return set;
}

const Split kSplit{{0, 1}, {2}, {3}};

TEST(ContentHash, ChangesWithMoleculesLabelsAndSets) {
  const MoleculeSet set = some_set();
  const std::uint64_t hash = content_hash(set, kSplit);
  EXPECT_EQ(content_hash(some_set(), kSplit), hash);
  const std::vector<Split> splits{{{1, 0}, {2}, {3}}, {{0, 1}, {3}, {2}}, {{0, 1}, {2}, {}, {3}}, {{0, 1, 2}, {}, {3}}};
  for (std::size_t k = 0; k < splits.size(); ++k) EXPECT_NE(content_hash(set, splits[k]), hash) << k;
  const std::vector<std::function<void(MoleculeSet&)>> changes{
      [](MoleculeSet& s) { s.row[1] = 3; },
      [](MoleculeSet& s) {
        s.smiles = TextList({"C", "CC", "CCO", "CF"});
      },
      [](MoleculeSet& s) { s.targets[0] = 7; },
      [](MoleculeSet& s) { s.targets[2] = 7; },
      [](MoleculeSet& s) { s.bound[3] = -1; },
      [](MoleculeSet& s) { s.weight[3] = 1; },
      [](MoleculeSet& s) { s.targets[1] = std::numeric_limits<double>::quiet_NaN(); }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    MoleculeSet other = some_set();
    changes[k](other);
    EXPECT_NE(content_hash(other, kSplit), hash) << k;
  }
}

TEST(ContentHash, OfACorpusCoversMeasuredLabelsOnly) {
  MoleculeSet set = some_set();
  set.task.names = {"computed", "measured"};
  set.targets.clear(), set.bound.clear();
  set.computed_targets = {1, 2, 3, 4};
  set.sparse.targets = 1;
  for (const float value : {0.0f, 1.0f, 0.0f, 1.0f}) set.sparse.add({{0, value, 0}});
  const std::uint64_t hash = content_hash(set, kSplit);
  MoleculeSet other = set;
  other.computed_targets[1] = 7;
  EXPECT_EQ(content_hash(other, kSplit), hash);
  other.sparse.value[2] = 1;
  EXPECT_NE(content_hash(other, kSplit), hash);
}

}  // namespace
}  // namespace molgraph

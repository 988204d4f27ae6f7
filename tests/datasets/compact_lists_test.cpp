// Lists that take little memory: whole numbers of 1, 2 or 4 bytes, and rows of bytes of which few differ.
#include "datasets/store/compact_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {
namespace {

TEST(NarrowNumbers, TakeAsManyBytesAsTheLargestNumberNeeds) {
  NarrowNumbers list;
  const std::vector<std::uint32_t> numbers{0, 255, 256, 7, 65535, 65536, 1, 2147483647};
  const std::vector<std::size_t> widths{1, 1, 2, 2, 2, 4, 4, 4};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    list.push_back(numbers[i]);
    ASSERT_EQ(list.size(), i + 1);
    EXPECT_EQ(list.view().width, widths[i]) << numbers[i];
    for (std::size_t k = 0; k <= i; ++k) EXPECT_EQ(list.view()[k], static_cast<int>(numbers[k])) << numbers[i];
    EXPECT_EQ(list.view(i)[0], static_cast<int>(numbers[i]));
  }
}

TEST(DistinctRows, KeepEveryRowInOrder) {
  constexpr int kColumns = 3;
  std::vector<std::uint8_t> rows;
  for (unsigned i = 0; i < 70'000; ++i)  // more than 65,536 distinct rows
    for (const unsigned value : {i % 256, i / 256 % 256, i / 65'536}) rows.push_back(static_cast<std::uint8_t>(value));
  DistinctRows list;
  const auto check = [&](std::size_t count, std::size_t width) {
    ASSERT_EQ(list.size(), count);
    EXPECT_EQ(list.view().code.width, width);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < kColumns; ++c) ASSERT_EQ(list.view()[i][c], rows[i * kColumns + c]) << i << ' ' << c;
    EXPECT_EQ(list.view(count - 1)[0][0], rows[(count - 1) * kColumns]);
  };
  const auto append = [&](std::size_t first, std::size_t last) {
    list.append(std::span(rows).subspan(first * kColumns, (last - first) * kColumns), kColumns);
  };
  append(0, 256);
  check(256, 1);
  append(256, 257);
  check(257, 2);
  append(257, 70'000);
  check(70'000, 4);
  append(3, 5);
  EXPECT_EQ(list.view(70'000)[1][0], 4);
  EXPECT_EQ(list.view()[70'000], list.view()[3]);  // found again after the table has grown
}

TEST(DistinctRows, DifferInAnyColumn) {
  constexpr std::size_t kColumns = kMaxAtomColumns;
  std::vector<std::uint8_t> rows(kColumns * (kColumns + 1), 1);
  for (std::size_t c = 0; c < kColumns; ++c) rows[c * kColumns + c] = 2;  // row c differs in column c
  DistinctRows list;
  list.append(rows, kMaxAtomColumns);
  for (std::size_t i = 0; i <= kColumns; ++i)
    EXPECT_TRUE(std::equal(list.view()[i], list.view()[i] + kColumns, rows.data() + i * kColumns)) << i;
}

TEST(DistinctRows, EqualRowsHaveOneCopy) {
  const std::vector<std::uint8_t> rows{1, 2, 3, 4, 1, 2};
  DistinctRows list, other;
  list.append(rows, 2);
  EXPECT_EQ(list.view()[0], list.view()[2]);
  EXPECT_NE(list.view()[0], list.view()[1]);
  other.append(rows, 2);
  EXPECT_EQ(list, other);
  other.append(std::span(rows).first(2), 2);
  EXPECT_NE(list, other);
}

TEST(MoleculeSet, ReturnsTheGraphsThatWereAdded) {
  // Atoms 256 and more of a large molecule need two bytes in bond_atoms.
  MolecularGraph large, small;
  large.features = small.features = Features::zinc;
  for (int a = 0; a < 300; ++a) large.atoms.push_back(static_cast<std::uint8_t>(a % 28));
  for (int b = 0; b + 1 < 300; ++b) {
    large.bond_atoms.insert(large.bond_atoms.end(), {static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(b + 1)});
    large.bonds.push_back(static_cast<std::uint8_t>(1 + b % 3));
  }
  small.atoms = {5};
  MoleculeSet set;
  set.featurizer.features = Features::zinc;
  for (const MolecularGraph* graph : {&small, &large, &small, &large}) set.add(*graph, set.size(), "", "C", {});
  for (std::int64_t g = 0; g < 4; ++g) {
    const MolecularGraph &expected = g % 2 == 0 ? small : large, found = MolecularGraph::copy_of(set.graph(g));
    EXPECT_EQ(found.features, expected.features);
    EXPECT_EQ(found.atoms, expected.atoms) << g;
    EXPECT_EQ(found.bond_atoms, expected.bond_atoms) << g;
    EXPECT_EQ(found.bonds, expected.bonds) << g;
  }
}

}  // namespace
}  // namespace molgraph

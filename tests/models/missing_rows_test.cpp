// Molecules with features for which an imported model has no table rows.
#include "attention/spec/missing_rows.hpp"

#include <gtest/gtest.h>

#include "tests/featurize/small_graphs.hpp"

namespace molgraph::test {
namespace {

TEST(MissingRows, ReasonNamesTheFirstMissingRow) {
  const MolecularGraph graph =
      graph_of(5, {{0, 1}, {1, 2}, {2, 3}});  // types 0 .. 4, bond ids 0, 15, 28, an isolated atom
  const auto reason = [&](const MissingRows& missing, int max_distance = 2) {
    return missing_rows_reason(graph.view(), max_distance, missing);
  };
  constexpr TopologyClasses kTwo{2};
  EXPECT_EQ(reason({}), "");
  EXPECT_EQ(reason({.atoms = {77}, .bonds = {59}, .topology = {kTwo.far() + 100}}), "");
  EXPECT_EQ(reason({.atoms = {77, 3}}), "atom 4 has the value 3 in column 1, for which the imported model has no row");
  EXPECT_NE(reason({.atoms = {119}}).find("atom 1 has the value 0 in column 2"), std::string::npos);
  EXPECT_EQ(bond_id(Features::ogb, graph.bonds.data() + 3), 15);
  EXPECT_NE(reason({.bonds = {15}}).find("the bond of atoms 2 and 3"), std::string::npos);
  EXPECT_NE(reason({.topology = {kTwo.far()}}).find("atoms 1 and 4 are 3 bonds apart"), std::string::npos);
  EXPECT_NE(reason({.topology = {kTwo.unreachable()}}).find("atoms 1 and 5 are in different fragments"),
            std::string::npos);
  EXPECT_EQ(reason({.topology = {TopologyClasses{3}.far()}}, 3), "") << "no distance exceeds 3";
}

}  // namespace
}  // namespace molgraph::test

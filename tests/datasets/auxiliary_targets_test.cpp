#include "datasets/auxiliary_targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;

/// Two molecules with three numbers and a class; the second's first number and the first's second one are limits.
MoleculeSet set_of_two() {
  MoleculeSet set;
  set.task = {.kind = TaskKind::mixed, .names = {"a", "b", "c", "d"}, .units = {"", "mg", "", ""}};
  set.task.kinds = {TaskKind::regression, TaskKind::regression, TaskKind::regression, TaskKind::binary};
  set.row = {0, 1};
  set.targets = {1, 2, 3, 0, 4, 5, 6, 1};
  set.bound = {0, 1, 0, 0, -1, 0, 0, 0};
  return set;
}

TEST(AuxiliaryTargets, AreMovedOutOfTheSetAndBack) {
  MoleculeSet set = set_of_two();
  const AuxiliaryTargets auxiliary = take_auxiliary(set, {"d", "B"});
  EXPECT_THAT(set.task.names, ElementsAre("a", "c"));
  EXPECT_EQ(set.task.kind, TaskKind::regression);
  EXPECT_THAT(set.task.kinds, IsEmpty());
  EXPECT_THAT(set.targets, ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(set.bound, ElementsAre(0, 0, -1, 0));
  EXPECT_THAT(auxiliary.task.names, ElementsAre("d", "b"));
  EXPECT_THAT(auxiliary.task.units, ElementsAre("", "mg"));
  EXPECT_THAT(auxiliary.values, ElementsAre(0, 2, 1, 5));
  EXPECT_THAT(auxiliary.bound, ElementsAre(0, 1, 0, 0));
  const MoleculeSet all = with_auxiliary(set, auxiliary, {1});
  EXPECT_THAT(all.task.names, ElementsAre("a", "c", "d", "b"));
  EXPECT_THAT(all.task.kinds,
              ElementsAre(TaskKind::regression, TaskKind::regression, TaskKind::binary, TaskKind::regression));
  EXPECT_THAT(all.targets, ElementsAre(1, 3, IsNan(), IsNan(), 4, 6, 1, 5)) << "the first molecule is not trained on";
  EXPECT_THAT(all.bound, ElementsAre(0, 0, 0, 1, -1, 0, 0, 0));
}

TEST(AuxiliaryTargets, BoundsOfOneSideAreZerosOfTheOther) {
  MoleculeSet set = set_of_two();
  set.bound = {0, 1, 0, 0, 0, 0, 0, 0};
  const AuxiliaryTargets auxiliary = take_auxiliary(set, {"b"});
  EXPECT_THAT(set.bound, IsEmpty()) << "all are exact";
  EXPECT_THAT(with_auxiliary(set, auxiliary, {0, 1}).bound, ElementsAre(0, 0, 0, 1, 0, 0, 0, 0));
  set = set_of_two();
  set.bound = {};
  const AuxiliaryTargets exact = take_auxiliary(set, {"a", "b", "c"});
  EXPECT_EQ(set.task.kind, TaskKind::binary);
  EXPECT_THAT(with_auxiliary(set, exact, {0, 1}).bound, IsEmpty());
  EXPECT_THAT(with_auxiliary(set, exact, {0, 1}).targets, ElementsAre(0, 1, 2, 3, 1, 4, 5, 6));
}

TEST(AuxiliaryTargets, OfNoNamesThereAreNone) {
  MoleculeSet set = set_of_two();
  EXPECT_TRUE(take_auxiliary(set, {}).empty());
  EXPECT_EQ(set.targets, set_of_two().targets);
}

TEST(AuxiliaryTargets, WhatCannotBeIsAnError) {
  MoleculeSet set = set_of_two();
  EXPECT_THROW(take_auxiliary(set, {"e"}), DataError);
  EXPECT_THROW(take_auxiliary(set, {"a", "A"}), UsageError);
  EXPECT_THROW(take_auxiliary(set, {"a", "b", "c", "d"}), DataError);
  set.task.kind = TaskKind::multiclass, set.task.kinds = {};
  EXPECT_THROW(take_auxiliary(set, {"a"}), UsageError);
}

}  // namespace
}  // namespace molgraph

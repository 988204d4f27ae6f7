#include "apps/programs/train/plan_position.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

std::vector<PlannedWork> works() { return {{"Training", 10}, {"Training", 10}, {"Trees", 20}, {"Keeping", 0}}; }

TEST(PlanPosition, CountsByTheEstimatedSeconds) {
  PlanPosition at(works());
  EXPECT_EQ(at.share(), 0);
  EXPECT_EQ(at.seconds_left(), 40);
  at.begin("Training", 100);
  at.advance(0.5, 105);  // as fast as was estimated
  EXPECT_DOUBLE_EQ(at.share(), 5 / 40.0);
  EXPECT_DOUBLE_EQ(at.seconds_left(), 35);
  at.advance(1, 110);
  at.end(110);
  at.begin("Training", 110);
  EXPECT_DOUBLE_EQ(at.share(), 10 / 40.0);
  at.end(110);
  at.begin("Trees", 110);
  at.advance(0.75, 125);
  EXPECT_DOUBLE_EQ(at.share(), 35 / 40.0);
  at.end(130);
  at.begin("Keeping", 130);
  EXPECT_EQ(at.share(), 1);
  EXPECT_EQ(at.seconds_left(), 0);
}

TEST(PlanPosition, WorksOfOneNameKeepTheirPace) {
  PlanPosition at(works());
  at.begin("Training", 0);
  at.advance(0.5, 20);  // four times as slow
  EXPECT_DOUBLE_EQ(at.seconds_left(), 20 + 40 + 20);
  at.advance(1, 40);
  at.end(40);
  EXPECT_DOUBLE_EQ(at.seconds_left(), 40 + 20) << "trees have their own";
  at.begin("Training", 40);
  at.advance(0.01, 40.1);  // too little to know a pace by
  EXPECT_DOUBLE_EQ(at.seconds_left(), 9.9 * 4 + 20);
}

TEST(PlanPosition, AWorkThatEndsEarlyKeepsItsPace) {
  PlanPosition at(works());
  at.begin("Training", 0);
  at.advance(0.2, 4);  // early stopping, at half the speed
  at.end(4);
  EXPECT_DOUBLE_EQ(at.share(), 10 / 40.0);
  EXPECT_DOUBLE_EQ(at.seconds_left(), 20 + 20);
}

TEST(PlanPosition, WorksThatAreNotNeededArePassedOver) {
  PlanPosition at(works());
  at.begin("Trees", 0);
  EXPECT_DOUBLE_EQ(at.share(), 20 / 40.0);
  at.end(0);
  at.begin("Trees", 1);  // unknown here
  at.advance(0.5, 2);
  EXPECT_EQ(at.share(), 1);
  EXPECT_EQ(at.seconds_left(), 0);
  EXPECT_EQ(PlanPosition({}).share(), 1);
}

}  // namespace
}  // namespace molgraph

#include "apps/programs/train/plan_position.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

std::vector<PlannedWork> tasks() { return {{"Training", 10}, {"Training", 10}, {"Trees", 20}, {"Keeping", 0}}; }

TEST(PlanPosition, WeightsTasksByEstimatedSeconds) {
  PlanPosition position(tasks());
  EXPECT_EQ(position.share(), 0);
  EXPECT_EQ(position.seconds_left(), 40);
  position.begin("Training", 100);
  position.advance(0.5, 105);  // at the estimated speed
  EXPECT_DOUBLE_EQ(position.share(), 5 / 40.0);
  EXPECT_DOUBLE_EQ(position.seconds_left(), 35);
  position.advance(1, 110);
  position.end(110);
  position.begin("Training", 110);
  EXPECT_DOUBLE_EQ(position.share(), 10 / 40.0);
  position.end(110);
  position.begin("Trees", 110);
  position.advance(0.75, 125);
  EXPECT_DOUBLE_EQ(position.share(), 35 / 40.0);
  position.end(130);
  position.begin("Keeping", 130);
  EXPECT_EQ(position.share(), 1);
  EXPECT_EQ(position.seconds_left(), 0);
}

TEST(PlanPosition, ScalesEstimatesByEarlierTasksOfTheSameName) {
  PlanPosition position(tasks());
  position.begin("Training", 0);
  position.advance(0.5, 20);  // at a quarter of the estimated speed
  EXPECT_DOUBLE_EQ(position.seconds_left(), 20 + 40 + 20);
  position.advance(1, 40);
  position.end(40);
  EXPECT_DOUBLE_EQ(position.seconds_left(), 40 + 20) << "the estimate for the trees is not scaled";
  position.begin("Training", 40);
  position.advance(0.01, 40.1);  // too little progress to measure the speed
  EXPECT_DOUBLE_EQ(position.seconds_left(), 9.9 * 4 + 20);
}

TEST(PlanPosition, TaskThatEndsEarlyScalesLaterEstimates) {
  PlanPosition position(tasks());
  position.begin("Training", 0);
  position.advance(0.2, 4);  // early stopping, at half the estimated speed
  position.end(4);
  EXPECT_DOUBLE_EQ(position.share(), 10 / 40.0);
  EXPECT_DOUBLE_EQ(position.seconds_left(), 20 + 20);
}

TEST(PlanPosition, SkipsTasksThatAreNotNeeded) {
  PlanPosition position(tasks());
  position.begin("Trees", 0);
  EXPECT_DOUBLE_EQ(position.share(), 20 / 40.0);
  position.end(0);
  position.begin("Trees", 1);  // no task with this name remains
  position.advance(0.5, 2);
  EXPECT_EQ(position.share(), 1);
  EXPECT_EQ(position.seconds_left(), 0);
  EXPECT_EQ(PlanPosition({}).share(), 1);
}

}  // namespace
}  // namespace molgraph

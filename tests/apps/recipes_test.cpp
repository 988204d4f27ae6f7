// The settings of papers.
#include "apps/training/recipes.hpp"

#include <gtest/gtest.h>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

// docs/formula.md section 7, one figure of each recipe that the others do not share.
TEST(Recipes, AreThePapersSettings) {
  EXPECT_EQ(recipe("urpe-zinc").options.model.gate.use, Switch::on);
  EXPECT_EQ(recipe("urpe-zinc").options.training.steps, 600000);
  EXPECT_DOUBLE_EQ(recipe("urpe-zinc").options.training.lr, 4e-4);
  EXPECT_EQ(recipe("graphormer-zinc").options.model.gate.use, Switch::off);
  EXPECT_EQ(recipe("graphormer-zinc").options.model.max_distance, 38);
  EXPECT_EQ(recipe("graphormer-zinc").options.training.warmup_steps, 40000);
  EXPECT_EQ(recipe("graphormer-zinc").options.model.path_rule, PathRule::single);
  EXPECT_DOUBLE_EQ(recipe("grpe-zinc").options.model.perturb_noise, 0.2);
  EXPECT_EQ(recipe("grpe-zinc").options.model.key_term, KeyTerm::row);
  EXPECT_EQ(recipe("grpe-zinc").options.training.grad_clip, 0.0);
  EXPECT_FALSE(recipe("grpe-zinc").options.training.scale_targets);
  EXPECT_EQ(recipe("grpe-pcqm4m").options.training.warmup_epochs, 3);
  EXPECT_EQ(recipe("graphormer-molhiv").options.model.flag, "2,0.2,0");
  EXPECT_EQ(recipe("urpe-pcqm4m").options.model.size, "small");
  EXPECT_THROW(recipe("urpe"), UsageError);
}

}  // namespace
}  // namespace molgraph

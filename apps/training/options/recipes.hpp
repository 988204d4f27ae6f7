// Recipes: the papers' settings (docs/models/formula.md section 7) with the results to reproduce, and molgraph's own
// settings for the same benchmarks.
#pragma once

#include <string>
#include <vector>

#include "apps/training/options/train_options.hpp"

namespace molgraph {

struct Recipe {
  std::string name;
  std::string what;          ///< one line: model, data, paper
  double low = 0, high = 0;  ///< range of the test (or validation) metric; both 0 = not given
  std::string band;          ///< the range as text: "test MAE 0.122 +- 0.006"
  bool band_is_validation = false;
  TrainOptions options;   ///< base options of `--recipe NAME`
  bool measured = false;  ///< molgraph's own recipe, not a paper's: the range was measured
};

const std::vector<Recipe>& recipes();
/// Throws UsageError with the list of all names if there is no such recipe.
const Recipe& recipe(const std::string& name);

}  // namespace molgraph

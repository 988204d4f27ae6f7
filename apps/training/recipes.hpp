// The settings of the papers (docs/models/formula.md section 7) with the results they must reproduce, and our own for
// their benchmarks.
#pragma once

#include <string>
#include <vector>

#include "apps/training/train_options.hpp"

namespace molgraph {

struct Recipe {
  std::string name;
  std::string what;          ///< one line: model, data, paper
  double low = 0, high = 0;  ///< band of the test (or valid) metric; equal and 0 = none stated
  std::string band;          ///< the band in words: "test MAE 0.122 +- 0.006"
  bool band_is_validation = false;
  TrainOptions options;  ///< what `--recipe NAME` starts from
  bool own = false;      ///< ours, not a paper's: the band is what was measured
};

const std::vector<Recipe>& recipes();
/// Throws UsageError with all names.
const Recipe& recipe(const std::string& name);

}  // namespace molgraph

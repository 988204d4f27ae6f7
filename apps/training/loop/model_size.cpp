#include "apps/training/loop/model_size.hpp"

#include "attention/spec/parameters.hpp"
#include "datasets/system/machine.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

void check_model_fits(const ModelPlan& plan, const KeptArrays& kept) {
  const std::int64_t parameters = parameters_of(plan).numbers();
  const int arrays = 1 + (kept.trains ? 3 : 0) + (kept.average ? 1 : 0) + (kept.engine ? 2 : 0);
  const double needed = static_cast<double>(parameters) * arrays * sizeof(float), memory = machine_memory();
  if (needed <= memory) return;
  constexpr double kGigabyte = 1e9;
  throw UsageError(
      "a model of " + with_thousands(parameters) + " parameters does not fit into memory: training needs at least " +
      sensible_number(needed / kGigabyte) + " GB, but this process may use only " +
      sensible_number(memory / kGigabyte) + " GB; reduce --layers, --width, --ffn, --heads or the size of the tables");
}

}  // namespace molgraph

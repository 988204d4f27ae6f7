#include "datasets/row_weights.hpp"

#include <algorithm>

#include "datasets/dataset_warnings.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

void leave_out_weightless(LoadedData& data) {
  const std::vector<float>& weight = data.set.weight;
  if (weight.empty()) return;
  const auto clean = [&](Split& split) {
    const auto left_out =
        std::erase_if(split.train, [&](std::int64_t g) { return weight[static_cast<std::size_t>(g)] == 0; });
    if (split.train.empty())
      throw DataError(data.set.source.name + ": no row of the training part has a weight above 0");
    return static_cast<std::int64_t>(left_out);
  };
  const std::int64_t left_out = clean(data.split);
  for (Split& fold : data.folds) clean(fold);
  const auto [least, most] = std::ranges::minmax(weight);
  data.notes.push_back("row weights from " + number_text(least) + " to " + number_text(most) +
                       (left_out == 0
                            ? ""
                            : "; " + with_commas(left_out) +
                                  (left_out == 1 ? " training row of weight 0 is" : " training rows of weight 0 are") +
                                  " not trained on"));
}

}  // namespace molgraph

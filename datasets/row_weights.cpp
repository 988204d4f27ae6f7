#include "datasets/row_weights.hpp"

#include <algorithm>
#include <cmath>

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
      throw DataError(data.set.source.name + ": no row of the training set has a weight above 0");
    return static_cast<std::int64_t>(left_out);
  };
  const std::int64_t left_out = clean(data.split);
  for (Split& fold : data.folds) clean(fold);
  const auto [min_weight, max_weight] = std::ranges::minmax(weight);
  data.notes.push_back("row weights from " + number_text(min_weight) + " to " + number_text(max_weight) +
                       (left_out == 0
                            ? ""
                            : "; " + with_commas(left_out) +
                                  (left_out == 1 ? " training row of weight 0 is" : " training rows of weight 0 are") +
                                  " not trained on"));
}

bool has_label(const LoadedData& data, std::int64_t molecule) {
  const auto any_of = [&](const std::vector<double>& values, std::size_t targets) {
    const auto first = values.begin() + molecule * static_cast<std::ptrdiff_t>(targets);
    return std::any_of(first, first + static_cast<std::ptrdiff_t>(targets), [](double v) { return !std::isnan(v); });
  };
  return any_of(data.set.targets, data.set.task.names.size()) ||
         any_of(data.auxiliary.values, data.auxiliary.task.names.size());
}

bool is_trainable(const LoadedData& data, std::int64_t molecule) {
  return (data.set.weight.empty() || data.set.weight[static_cast<std::size_t>(molecule)] > 0) &&
         has_label(data, molecule);
}

void leave_out_unlabelled(LoadedData& data) {
  if (data.set.targets.empty()) return;
  const auto clean = [&](Split& split) {
    const auto left_out = std::erase_if(split.train, [&](std::int64_t g) { return !has_label(data, g); });
    if (split.train.empty()) throw DataError(data.set.source.name + ": no row of the training set has a label");
    return static_cast<std::int64_t>(left_out);
  };
  const std::int64_t left_out = clean(data.split);
  for (auto* splits : {&data.folds, &data.member_splits, &data.inner})
    for (Split& one : *splits) clean(one);
  if (left_out > 0)
    data.notes.push_back(with_commas(left_out) + (left_out == 1 ? " training row has" : " training rows have") +
                         " no label and " + (left_out == 1 ? "is" : "are") + " not trained on" +
                         (data.folds.empty() ? "" : " in the first split"));
}

}  // namespace molgraph

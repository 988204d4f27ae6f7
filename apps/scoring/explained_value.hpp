// The quantity that explanations explain: a value or, for classes, a logit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "datasets/tables/task.hpp"

namespace molgraph {

/// The position of one target's outputs.
struct TargetPlace {
  TaskKind kind = TaskKind::regression;
  std::size_t first = 0, count = 1;  ///< outputs
};

inline std::vector<TargetPlace> places_of(const Task& task) {
  std::vector<TargetPlace> places;
  for (std::size_t t = 0; t < task.names.size(); ++t) {
    const std::size_t count = task.kind == TaskKind::multiclass ? static_cast<std::size_t>(task.classes) : 1;
    places.push_back({task.kind_of(t), t * count, count});
  }
  return places;
}

/// The explained quantity of a prediction [outputs]: the value itself, or the logit of its probabilities. `chosen`: the
/// predicted class of a multiclass target.
inline double explained_value(const double* values, const TargetPlace& target, std::size_t chosen) {
  values += target.first;
  const auto logarithm = [](double p) { return std::log(std::max(p, 1e-300)); };
  if (target.kind == TaskKind::regression) return *values;
  if (target.kind == TaskKind::binary) return logarithm(*values) - logarithm(1 - *values);
  double mean = 0;
  for (std::size_t c = 0; c < target.count; ++c) mean += logarithm(values[c]) / static_cast<double>(target.count);
  return logarithm(values[chosen]) - mean;
}

}  // namespace molgraph

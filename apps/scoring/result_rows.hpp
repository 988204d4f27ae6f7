// Rows of results: numbers that are not finite, embeddings alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/scoring/calibrated_prediction.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// Returns "nan", "inf" or, if all values are finite floats, "".
template <class Number>
std::string not_finite(std::span<const Number> values) {
  const auto bad = std::ranges::find_if_not(values, is_finite_float);
  return bad == values.end() ? "" : std::isnan(*bad) ? "nan" : "inf";
}

/// Marks a row that contains a non-finite number, so that none of its results is used.
inline void mark_not_finite(Prediction& row, std::string reason) {
  row.status = RowStatus::not_finite;
  row.reason = std::move(reason);
}

inline void clear_results(Prediction& row) {
  for (auto& member : row.members) std::ranges::fill(member, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(row.embedding, std::numeric_limits<float>::quiet_NaN());
}

inline std::vector<Embedding> embeddings_of(std::vector<Prediction> predictions) {
  std::vector<Embedding> embeddings;
  embeddings.reserve(predictions.size());
  for (Prediction& one : predictions)
    embeddings.push_back({one.status, std::move(one.reason), std::move(one.embedding)});
  return embeddings;
}

}  // namespace molgraph

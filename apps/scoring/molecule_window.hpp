// Prepares a call's molecules for the engine (removes duplicates, forms batches of similar size) and pools its states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// The molecules of a window that have a graph, in batches of similar size.
struct Batches {
  std::vector<std::size_t> order;   ///< indices into the window, by size, then by position
  std::vector<std::size_t> offset;  ///< [batches + 1] into `order`
  std::int64_t size() const { return static_cast<std::int64_t>(offset.size()) - 1; }
};
Batches make_batches(const std::vector<FeaturizeResult>& molecules, std::int64_t pairs_per_batch);

/// Molecules and their measured columns, without duplicates.
struct DistinctRows {
  std::vector<std::string> texts;
  std::vector<float> columns;           ///< [texts, K]
  std::vector<std::size_t> text_index;  ///< [all] index of each input row in `texts`

  /// `numbers` [all, K = per_row], or empty = all missing. Throws UsageError if its size is wrong.
  DistinctRows(std::span<const std::string> all, std::span<const float> numbers, std::size_t per_row);

  /// Expands one result per distinct row to one per input row.
  template <class Result>
  std::vector<Result> expand(std::vector<Result> results) const {
    if (results.size() == text_index.size()) return results;
    std::vector<Result> all;
    all.reserve(text_index.size());
    for (const std::size_t p : text_index) all.push_back(results[p]);
    return all;
  }
};

/// Replaces `token` by sum or mean if the model has another readout than the virtual node.
Pooling pooling_of(Pooling requested, const ModelConfig& config);
/// Pools the rows [tokens, width] of one molecule into `out` [width]; row 0 is the virtual node.
void pool(Pooling pooling, const float* rows, std::int64_t tokens, std::int64_t width, float* out);
void scale_to_length_one(std::vector<float>& row);

}  // namespace molgraph

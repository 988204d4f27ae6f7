// Explanations by occlusion: how a prediction changes if a fragment of the molecule is removed.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/explanation.hpp"
#include "apps/scoring/predictor.hpp"

namespace molgraph {

/// The molecules of a call: texts and their input columns [texts, K] (empty = all missing).
struct OccludedRows {
  std::span<const std::string> texts;
  std::span<const float> columns;
  bool mol_blocks = false;
};

/// Returns predictions of SMILES with these input columns, as for OccludedRows, without standardisation.
using PredictSmiles = std::function<std::vector<Prediction>(std::span<const std::string>, std::span<const float>)>;

/// Explanation::fragment and TargetExplanation::fragments of every row. `whole`: the predictions of the rows;
/// `threads` compute the fragments.
std::vector<Explanation> explain_fragments(const OccludedRows& rows, const std::vector<Prediction>& whole,
                                           const FeaturizerOptions& featurizer, const Task& task, int threads,
                                           const PredictSmiles& predict);

}  // namespace molgraph

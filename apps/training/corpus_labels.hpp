// Measured labels of a corpus as targets beside its descriptors: their scales, their weights in the loss, and how well
// a model predicts them. See docs/reference/pretraining.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scoring/run_record.hpp"
#include "apps/training/train_settings.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// A target is clipped at so many of its scales around its centre.
inline constexpr double kLabelClip = 6;
/// A target with fewer labels in a part is not judged there.
inline constexpr std::int64_t kFewestJudged = 20;

/// The labels of `measured` (data.set.sparse) become targets behind those that the set has. A number is scaled by its
/// median and 1.4826 times the median absolute deviation in the training part (the standard deviation where that is 0)
/// and clipped at kLabelClip of these; a class is 0 or 1. Targets that are constant in the training part are left out
/// with a note. Fills target_center, target_scale and target_weight. Throws DataError for a column with the name of
/// another target, and where no target is left.
void append_labels(LoadedData& data, const Task& measured, const LabelOptions& options);

/// How well the targets of each kind are predicted: of predictions [n, T] and exact targets [n, T] of a corpus with
/// labels; empty without labels.
std::vector<KindQuality> quality_by_kind(const MoleculeSet& set, const std::vector<double>& predictions,
                                         const std::vector<double>& targets);

/// What run.json says of them; `valid`: of the validation part.
MeasuredLabels measured_labels(const MoleculeSet& set, std::vector<KindQuality> valid);

}  // namespace molgraph

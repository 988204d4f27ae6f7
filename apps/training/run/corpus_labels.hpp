// Measured labels of a corpus as targets in addition to its descriptors: their scales, their weights in the loss, and
// the accuracy of their predictions. See docs/reference/pretraining.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scoring/run_record.hpp"
#include "apps/training/options/train_settings.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// A label is clipped at this number of scales from the centre of its target.
inline constexpr double kLabelClip = 6;
/// A target with fewer labels in a set is not evaluated there.
inline constexpr std::int64_t kMinJudged = 20;

/// Appends the labels of `measured` (data.set.sparse) to the targets of the set. Numbers are centred on the median of
/// the training set, divided by a scale of 1.4826 times the median absolute deviation of the training set (the standard
/// deviation if that is 0) and clipped at kLabelClip scales. Classes are 0 or 1. Targets that are constant in the
/// training set are left out, with a note. Fills target_center, target_scale and target_weight. Throws DataError if a
/// column has the name of another target or no target is left.
void append_labels(LoadedData& data, const Task& measured, const LabelOptions& options);

/// Returns the accuracy for each kind of target, from predictions [n, T] and exact targets [n, T] of a corpus with
/// labels; empty if the corpus has no labels.
std::vector<KindQuality> quality_by_kind(const MoleculeSet& set, const std::vector<double>& predictions,
                                         const std::vector<double>& targets);

/// Returns the entry for run.json. `valid`: accuracy on the validation set.
MeasuredLabels measured_labels(const MoleculeSet& set, std::vector<KindQuality> valid);

}  // namespace molgraph

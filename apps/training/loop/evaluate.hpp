// Predictions and target statistics for part of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/training/loop/run_control.hpp"
#include "attention/reference/graph_model.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

using PredictFunction = std::function<ModelOutput(const GraphBatch&, const ForwardMode&)>;

/// Returns predictions [n, outputs] in the target's unit or as probabilities, in the order of `indices`. Molecules are
/// sorted by size and predicted in batches of about `kTokensPerBatch` tokens. Throws Stopped if a stop is requested.
std::vector<double> predict_molecules(const PredictFunction& run, const PackOptions& pack, const MoleculeSet& set,
                                      const std::vector<std::int64_t>& indices, const RunControl& control = {});

/// Returns the exact targets [n, T] of the molecules `indices`. Missing and censored labels are NaN.
std::vector<double> targets_of(const MoleculeSet& set, const std::vector<std::int64_t>& indices);
/// Returns the number of values [n, T] of one target that are not NaN.
std::int64_t count_labels(const std::vector<double>& values, std::size_t target, std::size_t targets);

/// Mean and population standard deviation [T] of the exact labels of each target; of the censored labels' limits if
/// there are no exact ones; 0 if there are no labels.
struct TargetStatistics {
  std::vector<double> mean, deviation;
};
TargetStatistics target_statistics(const MoleculeSet& set, const std::vector<std::int64_t>& indices);

/// Returns the scaling of targets in a model that standardises them: mean and deviation of regression targets, with
/// deviation 1 for constant targets; 0 and 1 for classes. A label beyond the label_limits() of `indices` counts as the
/// limit. Computed targets have the scaling of the set.
TargetStatistics target_scaling_of(const MoleculeSet& set, const std::vector<std::int64_t>& indices);

}  // namespace molgraph

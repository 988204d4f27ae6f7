// A model over part of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/training/run_control.hpp"
#include "attention/reference/graph_model.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

using PredictFunction = std::function<ModelOutput(const GraphBatch&, const ForwardMode&)>;

/// Predictions [n, outputs] as users see them (target's unit, probabilities), in the order of `indices`.
/// Molecules are taken by size, in batches of about `kTokensPerBatch` tokens. Throws Stopped if the run control asks to
/// stop.
std::vector<double> predict_molecules(const PredictFunction& run, const PackOptions& pack, const MoleculeSet& set,
                                      const std::vector<std::int64_t>& indices, const RunControl& control = {});

/// Targets [n, T] of the molecules `indices` that are exact: what is missing or censored is NaN.
std::vector<double> targets_of(const MoleculeSet& set, const std::vector<std::int64_t>& indices);
/// How many of these values [n, T] of one target there are.
std::int64_t count_labels(const std::vector<double>& values, std::size_t target, std::size_t targets);

/// [T] of those that are present and exact, else of the numbers of censored ones; 0 where there is none. The deviation
/// is the population's.
struct TargetStatistics {
  std::vector<double> mean, deviation;
};
TargetStatistics target_statistics(const MoleculeSet& set, const std::vector<std::int64_t>& indices);

/// What targets are scaled by in a model that standardises them: mean and deviation of regression targets, 1 instead of
/// the deviation of constant ones; 0 and 1 of classes. A label beyond the label_limits() of `indices` counts as that
/// limit. Of computed targets it is the set's own.
TargetStatistics target_scaling_of(const MoleculeSet& set, const std::vector<std::int64_t>& indices);

}  // namespace molgraph

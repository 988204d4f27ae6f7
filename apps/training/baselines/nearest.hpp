// Nearest neighbour: predicts the label of the most similar training molecule.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/training/baselines/feature_rows.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Returns predictions [queries, outputs] (0 or 1 for classes) for the molecules `queries`. All indices refer to `rows`
/// and `set`. The similarity is the Tanimoto coefficient of the fingerprint counts, sum(min)/sum(max); of equally
/// similar molecules, the first in `train` is used. For each target, the neighbour is the most similar molecule with an
/// exact label; NaN if there is none. A molecule of `train` is never its own neighbour. `progress` receives the number
/// of queries finished since the last call; it is called by several threads and may throw.
std::vector<double> nearest_predictions(const FeatureRows& rows, const MoleculeSet& set,
                                        const std::vector<std::int64_t>& train,
                                        const std::vector<std::int64_t>& queries, int threads,
                                        const std::function<void(std::int64_t more)>& progress = {});

/// Returns the exact labels of one target of at most `limit` molecules of `train`, the most similar molecule first.
/// `similarity` [train] is the similarity to the molecule `query`, which is not its own neighbour.
std::vector<double> nearest_labels(const MoleculeSet& set, const std::vector<std::int64_t>& train,
                                   const std::vector<double>& similarity, std::int64_t query, std::size_t target,
                                   std::size_t limit);

}  // namespace molgraph

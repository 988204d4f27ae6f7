// The nearest neighbour: a molecule is predicted to be what the most similar molecule of the training part is.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/training/baselines/feature_rows.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Predictions [queries, outputs] (of classes 0 or 1) of the molecules `queries`, all indices into `rows` and `set`.
/// Similar by Tanimoto's coefficient of the fingerprints' counts, sum(min)/sum(max); of equally similar ones the first
/// in `train`. Per target the neighbour is the most similar one that has an exact label; NaN where none has. A molecule
/// of `train` is never its own neighbour. `progress`: so many queries more are done; called by several threads, may
/// throw.
std::vector<double> nearest_predictions(const FeatureRows& rows, const MoleculeSet& set,
                                        const std::vector<std::int64_t>& train,
                                        const std::vector<std::int64_t>& queries, int threads,
                                        const std::function<void(std::int64_t more)>& progress = {});

/// Labels of one target, of at most `most` molecules of `train` that have an exact one: the most similar first.
/// `similarity` [train] with the molecule `query`, which is not its own neighbour.
std::vector<double> nearest_labels(const MoleculeSet& set, const std::vector<std::int64_t>& train,
                                   const std::vector<double>& similarity, std::int64_t query, std::size_t target,
                                   std::size_t most);

}  // namespace molgraph

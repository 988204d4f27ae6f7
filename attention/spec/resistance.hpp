// The resistance distance of a molecule's atoms, and the Gaussians that a model sees of it.
#pragma once

#include <cmath>
#include <cstdint>

#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// R_ij of every pair of atoms of a molecule: the resistance between them when every bond is a resistor of 1 (Klein & Randic 1993).
/// R = 0 at i = j; -1 for atoms of different fragments. R <= distance, equal where there is one path only: unlike the distance it tells
/// whether a bond or an atom is all that holds two parts together (Zhang et al. 2023, arXiv:2301.09505, section 4).
/// `out` [atoms, atoms].
void resistance_distances(const GraphBatch& batch, std::int64_t molecule, double* out);

/// Added to the absolute value of a learned width, so that a Gaussian stays one.
inline constexpr double kLeastGaussianWidth = 0.01;

/// The normal density of mean `mean` and deviation |width| + kLeastGaussianWidth at `x`.
template <class T>
T gaussian(T x, T mean, T width) {
  const T deviation = std::abs(width) + static_cast<T>(kLeastGaussianWidth), distance = (x - mean) / deviation;
  return static_cast<T>(0.3989422804014327) / deviation * std::exp(static_cast<T>(-0.5) * distance * distance);
}

}  // namespace molgraph

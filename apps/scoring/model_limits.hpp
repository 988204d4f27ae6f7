// Limits of model sizes, for options and model files.
#pragma once

#include <cstdint>

namespace molgraph {

inline constexpr std::int64_t kMostMembers = 1'000'000;  ///< models of a run directory
inline constexpr int kMostLayers = 1000;
inline constexpr int kMostHeads = 4096;
inline constexpr int kMostWidth = 65536;
inline constexpr int kMostFfn = 262144;
inline constexpr int kMostInputs = 65536;     ///< numeric inputs of the head
inline constexpr int kMostPositions = 1024;   ///< eigenvectors, or steps of an atom's random walk
inline constexpr int kMostWalkSteps = 64;     ///< of walks between two atoms (values per pair)
inline constexpr int kMostDistance = 65000;   ///< topology classes, degrees and hops
inline constexpr int kMostForbidden = 65533;  ///< --spatial-pos-max
inline constexpr double kMostDropout = 0.999;
inline constexpr double kMostNoise = 1000;

}  // namespace molgraph

// Limits of model sizes, for options and model files.
#pragma once

#include <cstdint>

namespace molgraph {

inline constexpr std::int64_t kMaxMembers = 1'000'000;  ///< models of a run directory
inline constexpr int kMaxLayers = 1000;
inline constexpr int kMaxHeads = 4096;
inline constexpr int kMaxWidth = 65536;
inline constexpr int kMaxFfn = 262144;
inline constexpr int kMaxInputs = 65536;      ///< numeric inputs of the head
inline constexpr int kMaxPositions = 1024;    ///< eigenvectors, or steps of an atom's random walk
inline constexpr int kMaxWalkSteps = 64;      ///< of walks between two atoms (values per pair)
inline constexpr int kMaxDistance = 65000;    ///< topology classes, degrees and hops
inline constexpr int kMaxSpatialPos = 65533;  ///< --spatial-pos-max
inline constexpr double kMaxDropout = 0.999;
inline constexpr double kMaxNoise = 1000;

}  // namespace molgraph

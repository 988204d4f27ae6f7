// Where molecules and tokens stand, as kernels read it.
#pragma once

#include <cstdint>

#include "attention/spec/scalar.hpp"

namespace molgraph::cuda {

/// Dropout of one site; threshold 0 = none.
struct Dropout {
  std::uint32_t threshold = 0, place = 0;  ///< place: draw_place()
  float scale = 1;
  const DrawKey* key = nullptr;  ///< on the device, so that a recorded step can be run again with other numbers
};
/// Of probability p; none without `key`.
inline Dropout dropout_at(const DrawKey* key, std::uint32_t layer, RandomSite site, double p) {
  if (key == nullptr) return {};
  const std::uint32_t threshold = dropout_threshold(p);
  return {threshold, draw_place(layer, site), static_cast<float>(dropout_scale(threshold)), key};
}

/// Where a token row stands: key of its molecule's random numbers, and its number there. Rows that only fill up:
/// molecule -1.
struct TokenPlace {
  std::uint32_t row = 0, index = 0;
  std::int32_t molecule = -1;
};

/// One molecule of a batch: where it stands in the batch, and where in the resident molecules.
struct Molecule {
  std::uint32_t row;  ///< key of its random numbers
  std::int32_t tokens, relations;
  std::int32_t longest;                                  ///< of its distances
  std::int64_t token, pair, relation;                    ///< first one within the batch
  std::int64_t atom_at, pair_at, relation_at, input_at;  ///< first one within the resident arrays
};

/// What changes from update to update; in device memory, so that a recorded step can be run again.
struct StepNumbers {
  DrawKey draws{};
  AdamStep adam{};
  float keep = 1;      ///< of weights that decay: 1 - lr decay
  double clip = 0;     ///< bound of the gradient's norm; 0 = none
  float average = 0;   ///< what an update adds of the weights to their average: 1 - decay
  double targets = 0;  ///< present in the whole batch; 0 = all its molecules are here
};

/// Molecules up to so many tokens can do with half a warp in the attention.
inline constexpr int kHalfWarp = 16;

/// The class word of what fills a batch up: no relation.
inline constexpr std::uint32_t kNoClass = 0xFFFFFFFFu;

}  // namespace molgraph::cuda

// Positions of molecules and tokens in the form that kernels read.
#pragma once

#include <cstdint>

#include "attention/spec/scalar.hpp"

namespace molgraph::cuda {

/// Dropout of one site; threshold 0 = none.
struct Dropout {
  std::uint32_t threshold = 0, place = 0;  ///< place: draw_place()
  float scale = 1;
  const DrawKey* key = nullptr;  ///< on the device, so that a recorded step can run again with other numbers
};
/// Returns dropout of probability p; none without `key`.
inline Dropout dropout_at(const DrawKey* key, std::uint32_t layer, RandomSite site, double p) {
  if (key == nullptr) return {};
  const std::uint32_t threshold = dropout_threshold(p);
  return {threshold, draw_place(layer, site), static_cast<float>(dropout_scale(threshold)), key};
}

/// Position of a token row: the key of its molecule's random numbers and its index in the molecule. Filler rows have
/// molecule -1.
struct TokenPlace {
  std::uint32_t row = 0, index = 0;
  std::int32_t molecule = -1;
};

/// Position of a molecule in the batch and in the resident molecules.
struct Molecule {
  std::uint32_t row;  ///< key of its random numbers
  std::int32_t tokens, relations;
  std::int32_t longest;                                  ///< largest distance
  std::int64_t token, pair, relation;                    ///< offsets of the first one in the batch
  std::int64_t atom_at, pair_at, relation_at, input_at;  ///< offsets of the first one in the resident arrays
};

/// Values that change with every update. They are in device memory, so a recorded step can run again.
struct StepNumbers {
  DrawKey draws{};
  AdamStep adam{};
  float keep = 1;      ///< factor of weights that decay: 1 - lr decay
  double clip = 0;     ///< maximum norm of the gradient; 0 = none
  float average = 0;   ///< weight of the new parameters in the moving average: 1 - decay
  double targets = 0;  ///< number of labels in the whole batch; 0 = all of its molecules are here
};

/// Molecules with at most this number of tokens need only half a warp in the attention.
inline constexpr int kHalfWarp = 16;

/// Class word of filler: no relation.
inline constexpr std::uint32_t kNoClass = 0xFFFFFFFFu;

}  // namespace molgraph::cuda

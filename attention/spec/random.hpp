// Counter-based random draws: equal for every backend, thread count and batch (docs/models/formula.md section 2).
#pragma once

#include <cstdint>

#include "attention/spec/scalar.hpp"

namespace molgraph {

/// The source of a training pass's random numbers. If `training` is false, none are drawn.
struct RandomMode {
  bool training = false;
  std::uint64_t seed = 0;
  std::uint32_t step = 0, ascent = 0;
};

/// Identifies the sequence of draws of one molecule at one site in one update step.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t row = 0;    ///< row of the molecule in its data set
  std::uint32_t layer = 0;  ///< counted from 0
  RandomSite site = RandomSite::attention_weights;
  std::uint32_t ascent = 0;  ///< FLAG's pass, counted from 0
};

/// Writes draws [0, count) of the stream, uniform over 16 bits. Draw e is half-word e mod 8 (low half of a word first)
/// of philox4x32_10 with key = seed (low word first) and counter = (step, row, 16*layer + site + ascent*2^20, e div 8):
/// scalar.hpp.
void random_draws(const RandomStream& stream, std::int64_t count, std::uint16_t* out);

}  // namespace molgraph

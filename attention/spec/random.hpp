// Counter-based random draws, the same for every backend, thread count and batch (docs/formula.md section 2).
#pragma once

#include <cstdint>

namespace molgraph {

/// Where in the model a random number is used. The element's index within a molecule of N tokens stands behind each.
enum class RandomSite : std::uint32_t {
  attention_weights = 0,    ///< (h*N + i)*N + j
  attention_residual = 1,   ///< i*C + c
  ffn_residual = 2,         ///< i*C + c
  ffn_activation = 3,       ///< i*F + f
  input_dropout = 4,        ///< i*C + c, layer 0 only, as are the rest
  input_noise = 5,          ///< i*C + c
  laplacian_sign = 6,
  flag = 7,                 ///< i*C + c, the first perturbation
};

/// Where a training pass takes its random numbers; `training` off = none are drawn.
struct RandomMode {
  bool training = false;
  std::uint64_t seed = 0;
  std::uint32_t step = 0, ascent = 0;
};

/// Names one sequence of draws: that of one molecule at one site in one update step.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t row = 0;     ///< of the molecule in its data set
  std::uint32_t layer = 0;   ///< from 0
  RandomSite site = RandomSite::attention_weights;
  std::uint32_t ascent = 0;  ///< of FLAG, from 0
};

/// Writes draws [0, count) of the stream, uniform over 16 bits. Draw e is half-word e mod 8 (low half of a word first)
/// of philox4x32_10 with key = seed (low word first) and counter = (step, row, 16*layer + site + ascent*2^20, e div 8).
void random_draws(const RandomStream& stream, std::int64_t count, std::uint16_t* out);

/// An element is dropped iff its draw is below this: round(65536 p). p in [0, 1).
std::uint32_t dropout_threshold(double p);

/// What survivors are multiplied with: 1/(1 - threshold/65536), so that the expectation is exact although p is rounded.
double dropout_scale(std::uint32_t threshold);

/// Uniform noise of half-width a from one draw: a*((2*draw + 1)/65536 - 1), symmetric around zero and never zero.
inline double noise_from_draw(double a, std::uint16_t draw) { return a * ((2.0 * draw + 1.0) / 65536.0 - 1.0); }

}  // namespace molgraph

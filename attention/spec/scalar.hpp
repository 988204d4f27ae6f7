// Scalar formulas (docs/models/formula.md), each written once for host and device. Engines differ in their loops, not
// in these functions. Do not change the order of operations: the exact bits of trained models depend on it.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>

#include "featurize/graph/philox.hpp"  // MOLGRAPH_HOST_DEVICE

namespace molgraph {

// --- GELU(x) = x Phi(x), exact (Hendrycks & Gimpel 2016) ---

inline constexpr double kRootHalf = 0.70710678118654752440;          ///< 1/sqrt(2)
inline constexpr double kInverseRootTwoPi = 0.39894228040143267794;  ///< 1/sqrt(2 pi)

/// Phi(x), the distribution function of the standard normal distribution.
template <class T>
MOLGRAPH_HOST_DEVICE inline T normal_distribution(T x) {
  return T(0.5) * (T(1) + std::erf(x * T(kRootHalf)));
}
template <class T>
MOLGRAPH_HOST_DEVICE inline T gelu(T x) {
  return x * normal_distribution(x);
}
/// Also writes the derivative to `slope`.
template <class T>
MOLGRAPH_HOST_DEVICE inline T gelu(T x, T* slope) {
  const T phi = normal_distribution(x);
  *slope = phi + x * T(kInverseRootTwoPi) * std::exp(T(-0.5) * x * x);
  return x * phi;
}
template <class T>
MOLGRAPH_HOST_DEVICE inline T gelu_slope(T x) {
  T slope;
  (void)gelu(x, &slope);
  return slope;
}

// --- degrees and readout ---

/// log(1 + degree) for EncoderOptions::degree_scaler; `degree` is 0 for the virtual node.
MOLGRAPH_HOST_DEVICE inline double log_degree(std::int64_t degree) { return std::log1p(static_cast<double>(degree)); }

inline constexpr std::int64_t kReadoutAtoms = 16;
/// Weight of each of `atoms` rows in their sum (Readout::sum) or mean.
template <class T>
MOLGRAPH_HOST_DEVICE inline T readout_share(bool mean, std::int64_t atoms) {
  return T(1) / static_cast<T>(mean ? atoms : kReadoutAtoms);
}

// --- resistance distances (Zhang et al. 2023, arXiv:2301.09505, section 4) ---

/// Added to the absolute value of a Gaussian's learned width to keep it above zero.
inline constexpr double kDeviationOffset = 0.01;
template <class T>
MOLGRAPH_HOST_DEVICE inline T gaussian_deviation(T width) {
  return std::abs(width) + T(kDeviationOffset);
}
/// The normal density at x.
template <class T>
MOLGRAPH_HOST_DEVICE inline T gaussian(T x, T mean, T deviation) {
  const T distance = (x - mean) / deviation;
  return T(kInverseRootTwoPi) / deviation * std::exp(T(-0.5) * distance * distance);
}

// --- attention ---

/// alpha = 1/sqrt(score_terms d), where d is the width of a head.
template <class T>
MOLGRAPH_HOST_DEVICE inline T score_scale(int head_width, int score_terms) {
  return T(1) / std::sqrt(static_cast<T>(head_width) * static_cast<T>(score_terms));
}
/// Score of a masked pair: its weight is zero if the row has any unmasked pair.
inline constexpr float kForbidden = -1e30f;

/// A pair's relation as one word: its topology class and its edge class.
MOLGRAPH_HOST_DEVICE inline std::uint32_t relation_word(std::uint32_t topology, std::uint32_t edge) {
  return topology + (edge << 16);
}
MOLGRAPH_HOST_DEVICE inline std::uint32_t topology_of(std::uint32_t relation) { return relation & 0xFFFF; }
MOLGRAPH_HOST_DEVICE inline std::uint32_t edge_of(std::uint32_t relation) { return relation >> 16; }

// --- random numbers: 16-bit draws, a pure function of seed, step, row, layer, site, ascent and element ---

/// Where in the model a random number is used. The comments give the element's index in a molecule of N tokens.
enum class RandomSite : std::uint32_t {
  attention_weights = 0,   ///< (h*N + i)*N + j
  attention_residual = 1,  ///< i*C + c
  ffn_residual = 2,        ///< i*C + c
  ffn_activation = 3,      ///< i*F + f
  input_dropout = 4,       ///< i*C + c; layer 0, as for all sites below
  input_noise = 5,         ///< i*C + c
  laplacian_sign = 6,      ///< index of the eigenvector
  flag = 7,                ///< i*C + c, the first perturbation
  head_input = 8,          ///< index among the head's C + D inputs
};

/// The part of the key that is the same for all draws of a pass.
struct DrawKey {
  std::uint32_t seed[2] = {0, 0};  ///< low word first
  std::uint32_t step = 0, ascent = 0;
};
inline DrawKey draw_key(std::uint64_t seed, std::uint32_t step, std::uint32_t ascent) {
  return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}, step, ascent};
}
/// Combines a layer (counted from 0) and a site.
MOLGRAPH_HOST_DEVICE inline std::uint32_t draw_place(std::uint32_t layer, RandomSite site) {
  return 16 * layer + static_cast<std::uint32_t>(site);
}
/// Philox counter of a block of eight draws. `row` is the molecule's row in its data set. The key is DrawKey::seed.
MOLGRAPH_HOST_DEVICE inline void draw_counter(const DrawKey& key, std::uint32_t row, std::uint32_t place,
                                              std::uint32_t block, std::uint32_t counter[4]) {
  counter[0] = key.step;
  counter[1] = row;
  counter[2] = place + (key.ascent << 20);
  counter[3] = block;
}
/// Draw of `element` in its block (number element div 8): half-word element mod 8, low half of each word first.
MOLGRAPH_HOST_DEVICE inline std::uint32_t pick_draw(const std::uint32_t words[4], std::uint32_t element) {
  const std::uint32_t half = (element / 2) % 4;
  const std::uint32_t word = half == 0 ? words[0] : half == 1 ? words[1] : half == 2 ? words[2] : words[3];
  return element % 2 == 0 ? word & 0xFFFF : word >> 16;
}

/// An element is dropped iff its draw is below this: round(65536 p). p in [0, 1).
inline std::uint32_t dropout_threshold(double p) {
  assert(p >= 0 && p < 1);
  return static_cast<std::uint32_t>(std::lround(65536.0 * p));
}
/// Factor of elements that are kept: 1/(1 - threshold/65536), so the expectation is exact although p is rounded.
inline double dropout_scale(std::uint32_t threshold) {
  assert(threshold < 65536);
  return 1.0 / (1.0 - threshold / 65536.0);
}
/// Uniform noise of half-width a from one draw; symmetric around zero, never zero.
MOLGRAPH_HOST_DEVICE inline double noise_from_draw(double a, std::uint32_t draw) {
  return a * ((2.0 * draw + 1.0) / 65536.0 - 1.0);
}
/// In training, each Laplacian eigenvector gets either sign with equal probability (Dwivedi & Bresson 2020).
MOLGRAPH_HOST_DEVICE inline bool flips_sign(std::uint32_t draw) { return draw >= 32768; }

// --- losses of one target: functions of the model's raw output and the label in the model's unit ---

enum class Loss : std::uint8_t { l1, mse, huber, bce, ce };

/// All losses except ce. `scaled` is the raw output and `wanted` the label; for bce, `scaled` is the log-odds and
/// `wanted` is 0 or 1.
template <class T>
MOLGRAPH_HOST_DEVICE inline T target_loss(Loss loss, T scaled, T wanted) {
  const T difference = scaled - wanted, size = std::abs(difference);
  switch (loss) {
    case Loss::l1: return size;
    case Loss::mse: return difference * difference;
    case Loss::huber: return size < 1 ? difference * difference / 2 : size - T(0.5);
    default:
      return (scaled > 0 ? scaled : T(0)) - scaled * wanted +
             std::log1p(std::exp(-std::abs(scaled)));  // log(1 + exp(x)) - x y
  }
}
/// Derivative of target_loss() with respect to `scaled`.
template <class T>
MOLGRAPH_HOST_DEVICE inline T target_slope(Loss loss, T scaled, T wanted) {
  const T difference = scaled - wanted;
  switch (loss) {
    case Loss::l1: return static_cast<T>((difference > 0) - (difference < 0));
    case Loss::mse: return 2 * difference;
    case Loss::huber: return difference < T(-1) ? T(-1) : difference > T(1) ? T(1) : difference;
    default: return 1 / (1 + std::exp(-scaled)) - wanted;
  }
}
/// True if the prediction is within the limit of a censored label; the loss is then zero. With bound +1, the true value
/// is above `wanted`; with -1, below it; 0 is an exact label.
template <class T>
MOLGRAPH_HOST_DEVICE inline bool keeps_bound(T scaled, T wanted, int bound) {
  return bound != 0 && static_cast<T>(bound) * (scaled - wanted) > 0;
}
/// Loss of a label with a bound: zero within the limit, else the loss of an exact label.
template <class T>
MOLGRAPH_HOST_DEVICE inline T target_loss(Loss loss, T scaled, T wanted, int bound) {
  return keeps_bound(scaled, wanted, bound) ? T(0) : target_loss(loss, scaled, wanted);
}
/// Derivative of the loss with a bound with respect to `scaled`.
template <class T>
MOLGRAPH_HOST_DEVICE inline T target_slope(Loss loss, T scaled, T wanted, int bound) {
  return keeps_bound(scaled, wanted, bound) ? T(0) : target_slope(loss, scaled, wanted);
}
/// ce: -log softmax(scaled)[label]. `slope` [classes] gets its derivative times `factor`: softmax minus the one-hot
/// label.
template <class T>
MOLGRAPH_HOST_DEVICE inline T cross_entropy(const T* scaled, int classes, int label, T factor, T* slope) {
  T largest = scaled[0], total = 0;
  for (int c = 1; c < classes; ++c) largest = scaled[c] > largest ? scaled[c] : largest;
  for (int c = 0; c < classes; ++c) total += std::exp(scaled[c] - largest);
  for (int c = 0; c < classes; ++c)
    slope[c] = factor * (std::exp(scaled[c] - largest) / total - (c == label ? T(1) : T(0)));
  return std::log(total) + largest - scaled[label];
}

// --- AdamW (Loshchilov & Hutter 2019, algorithm 2) ---

inline constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamEpsilon = 1e-8;

/// The factors of one update.
struct AdamStep {
  float step = 0;  ///< lr/(1 - beta1^t)
  float root = 1;  ///< 1/sqrt(1 - beta2^t)
};
/// Factors of update t, counted from 1.
inline AdamStep adam_step(double learning_rate, std::int64_t t) {
  return {static_cast<float>(learning_rate / (1 - std::pow(kBeta1, static_cast<double>(t)))),
          static_cast<float>(1 / std::sqrt(1 - std::pow(kBeta2, static_cast<double>(t))))};
}
/// Factor of a weight that decays.
inline float adam_keep(double learning_rate, double decay) { return static_cast<float>(1 - learning_rate * decay); }
/// Factor that limits a gradient with this norm to the norm `bound`; 1 if bound is 0.
MOLGRAPH_HOST_DEVICE inline double clip_factor(double bound, double norm) {
  const double factor = bound / (norm + 1e-6);
  return bound > 0 && factor < 1 ? factor : 1.0;
}
/// Updates one weight; `mean` and `square` are the moments m and v.
MOLGRAPH_HOST_DEVICE inline void adam_update(AdamStep u, float keep, float clip, float gradient, float& mean,
                                             float& square, float& weight) {
  constexpr auto kMean = static_cast<float>(kBeta1), kSquare = static_cast<float>(kBeta2);
  const float g = gradient * clip;
  mean = kMean * mean + (1 - kMean) * g;
  square = kSquare * square + (1 - kSquare) * g * g;
  weight = keep * weight - u.step * mean / (std::sqrt(square) * u.root + static_cast<float>(kAdamEpsilon));
}
/// Moves an average towards a weight by `share` of their difference.
MOLGRAPH_HOST_DEVICE inline void average_update(float share, float weight, float& average) {
  average += share * (weight - average);
}

}  // namespace molgraph

// Common parts of all kernels: numbers and their rounding, sums over lanes, random draws, positions of molecules and
// tokens, launches.
#pragma once

#include <gpu_language.cuh>  // CUDA's, or the emulated GPU's

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "attention/cuda/memory.hpp"
#include "attention/cuda/places.hpp"
#include "attention/cuda/profile.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cuda {

/// bfloat16: the upper half of a float.
struct Bf16 {
  std::uint16_t bits;
};
__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(Bf16 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
/// Rounds to nearest, ties to even.
template <class E>
__device__ __forceinline__ E from_float(float x) {
  if constexpr (std::is_same_v<E, float>) {
    return x;
  } else {
    return {round_to_bf16(x)};
  }
}

/// Returns the sum over the lanes of a warp, with the same bits in all lanes.
__device__ __forceinline__ float warp_sum(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, mask);
  return x;
}

/// Returns the sum over a block's threads, with the same bits in all threads. `sums`: [Threads] in shared memory, free
/// for reuse afterwards.
template <int Threads>
__device__ __forceinline__ double block_sum(double* sums, double mine) {
  static_assert((Threads & (Threads - 1)) == 0);
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = sums[0];
  __syncthreads();
  return sum;
}

/// Calls load(e) and then store(e, value) for e = first, first + step, ... below `count`. `Together` loads precede the
/// stores, so that they overlap: the compiler may not move a load before a store. load() must not read what store()
/// writes for another e. At the end, load(e) of an element may be called more often than store(e).
template <int Together, class Load, class Store>
__device__ __forceinline__ void load_then_store(int first, int step, int count, const Load& load, const Store& store) {
#pragma unroll 1
  for (int at = first; at < count; at += Together * step) {
    decltype(load(0)) x[Together];
#pragma unroll
    for (int u = 0; u < Together; ++u) x[u] = load(at + u * step < count ? at + u * step : at);
#pragma unroll
    for (int u = 0; u < Together; ++u)
      if (at + u * step < count) store(at + u * step, x[u]);
  }
}

/// to[e*distance] (+)= value(e) for e below `count`.
template <int Together, class Value>
__device__ __forceinline__ void add_each(int count, int distance, float* to, bool overwrite, const Value& value) {
  load_then_store<Together>(
      0, 1, count, [&](int e) { return overwrite ? value(e) : to[e * distance] + value(e); },
      [&](int e, float sum) { to[e * distance] = sum; });
}
/// Calls store(e, load(e) + factor * sum over k < terms of term(e, k)) in the same way. The sums advance together.
template <int Together, class Load, class Term, class Store>
__device__ __forceinline__ void sum_then_store(int first, int step, int count, int terms, float factor,
                                               const Load& load, const Term& term, const Store& store) {
#pragma unroll 1
  for (int at = first; at < count; at += Together * step) {
    float x[Together], sum[Together] = {};
    int e[Together];
#pragma unroll
    for (int u = 0; u < Together; ++u) e[u] = at + u * step < count ? at + u * step : at;
#pragma unroll
    for (int u = 0; u < Together; ++u) x[u] = load(e[u]);
#pragma unroll 1
    for (int k = 0; k < terms; ++k)
#pragma unroll
      for (int u = 0; u < Together; ++u) sum[u] += term(e[u], k);
#pragma unroll
    for (int u = 0; u < Together; ++u)
      if (at + u * step < count) store(e[u], x[u] + factor * sum[u]);
  }
}

// --- random numbers (spec/scalar.hpp) ---

/// Computes the eight draws of block `block` of a stream, two per word.
__device__ __forceinline__ void draw_block(const DrawKey& key, std::uint32_t row, std::uint32_t place,
                                           std::uint32_t block, std::uint32_t words[4]) {
  std::uint32_t counter[4];
  draw_counter(key, row, place, block, counter);
  philox4x32_10(words, counter, key.seed);
}

/// Returns which of the eight elements of a block dropout keeps: bit e.
__device__ __forceinline__ std::uint32_t kept_block(const Dropout& dropout, std::uint32_t row, std::uint32_t block) {
  std::uint32_t words[4], kept = 0;
  draw_block(*dropout.key, row, dropout.place, block, words);
  for (std::uint32_t e = 0; e < 8; ++e)
    kept |= static_cast<std::uint32_t>(pick_draw(words, e) >= dropout.threshold) << e;
  return kept;
}

/// Returns the factor of element `index*width + channel`: 0 or the scale.
__device__ __forceinline__ float keep_factor(const Dropout& dropout, const TokenPlace& token, int width, int channel) {
  if (dropout.threshold == 0) return 1.0f;
  const std::uint32_t element = token.index * static_cast<std::uint32_t>(width) + static_cast<std::uint32_t>(channel);
  std::uint32_t words[4];
  draw_block(*dropout.key, token.row, dropout.place, element / 8, words);
  return pick_draw(words, element) < dropout.threshold ? 0.0f : dropout.scale;
}

/// Returns r_ij[first .. first + 3] of a molecule's query i and key j in MoleculeArrays::pair_walks, for a multiple
/// of 4.
__device__ __forceinline__ const float* walks_of(const float* pair_walks, const Molecule& m, int steps, int i, int j,
                                                 int first) {
  const std::int64_t groups = (steps + 3) / 4;
  return pair_walks + 4 * ((m.pair_at + static_cast<std::int64_t>(j) * m.tokens) * groups + first / 4 * m.tokens + i);
}

// --- launches ---

/// Starts kernel(args...) on the stream. Does nothing for an empty grid.
template <class... P>
void launch(Stream stream, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            std::type_identity_t<P>... args) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const LaunchClock clock(stream, reinterpret_cast<const void*>(kernel));
  start(stream, kernel, grid, block, shared_bytes, args...);
}

inline unsigned blocks_for(std::int64_t count, std::int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace molgraph::cuda

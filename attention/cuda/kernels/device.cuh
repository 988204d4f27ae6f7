// The language of the kernels: CUDA's, or the emulator's (namespace.hpp); the numbers they work on, and how they are started.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "featurize/graph/philox.hpp"
#include "attention/cuda/memory.hpp"

#ifdef MOLGRAPH_CUDA_EMULATED
#include "tests/cuda_emulator/emulator.hpp"
#define MOLGRAPH_SHARED_MEMORY(name) unsigned char* name = molgraph::emulator::shared_memory()
#else
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#define MOLGRAPH_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#endif

namespace molgraph::MOLGRAPH_CUDA {

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
    Bf16 result;
#ifdef MOLGRAPH_CUDA_EMULATED
    std::uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    result.bits = static_cast<std::uint16_t>(x != x ? 0x7FC0 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
#else
    const __nv_bfloat16 rounded = __float2bfloat16_rn(x);
    memcpy(&result.bits, &rounded, sizeof result.bits);
#endif
    return result;
  }
}

/// Sum over the lanes of a warp, the same bits in all of them.
__device__ __forceinline__ float warp_sum(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, mask);
  return x;
}

/// Sum over a block's threads, the same bits in all of them. `sums`: [Threads] in shared memory, free again afterwards.
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

// --- random numbers: docs/formula.md section 2, the same as random.hpp's ---

/// What a pass's draws have in common; in device memory, so that a recorded step can be run again with other numbers.
struct DrawKey {
  std::uint32_t seed[2], step, ascent;
};

/// Eight draws of block `block` of a stream, two to a word.
__device__ __forceinline__ void draw_block(const DrawKey& key, std::uint32_t row, std::uint32_t place, std::uint32_t block,
                                           std::uint32_t words[4]) {
  const std::uint32_t counter[4] = {key.step, row, place + (key.ascent << 20), block};
  philox4x32_10(words, counter, key.seed);
}
__device__ __forceinline__ std::uint32_t pick_draw(const std::uint32_t words[4], std::uint32_t element) {
  const std::uint32_t half = (element / 2) % 4;
  const std::uint32_t word = half == 0 ? words[0] : half == 1 ? words[1] : half == 2 ? words[2] : words[3];
  return element % 2 == 0 ? word & 0xFFFF : word >> 16;
}

/// Dropout of one site; threshold 0 = none.
struct Dropout {
  std::uint32_t threshold = 0, place = 0;   ///< place: 16*layer + site
  float scale = 1;
  const DrawKey* key = nullptr;
};

/// Where a token row stands: key of its molecule's random numbers, and its number there. Rows that only fill up: molecule -1.
struct TokenPlace {
  std::uint32_t row = 0, index = 0;
  std::int32_t molecule = -1;
};

/// The factor of element `index*width + channel`: 0 or the scale.
__device__ __forceinline__ float keep_factor(const Dropout& dropout, const TokenPlace& token, int width, int channel) {
  if (dropout.threshold == 0) return 1.0f;
  const std::uint32_t element = token.index * static_cast<std::uint32_t>(width) + static_cast<std::uint32_t>(channel);
  std::uint32_t words[4];
  draw_block(*dropout.key, token.row, dropout.place, element / 8, words);
  return pick_draw(words, element) < dropout.threshold ? 0.0f : dropout.scale;
}

/// One molecule of a batch: where it stands in the batch, and where in the resident molecules.
struct Molecule {
  std::uint32_t row;              ///< key of its random numbers
  std::int32_t tokens, relations;
  std::int32_t longest;           ///< of its distances
  std::int64_t token, pair, relation;            ///< first one within the batch
  std::int64_t atom_at, pair_at, relation_at;    ///< first one within the resident arrays
};

/// Starts kernel(args...) on the stream; shared memory beyond 48 KiB is asked for.
template <class... P>
void launch(Stream stream, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, std::type_identity_t<P>... args) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const LaunchClock clock(stream, reinterpret_cast<const void*>(kernel));
#ifdef MOLGRAPH_CUDA_EMULATED
  (void)stream;
  emulator::enqueue([=] { emulator::run(grid, block, shared_bytes, [&] { kernel(args...); }); });
#else
  if (shared_bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(args...);
  check(cudaGetLastError());
#endif
}

inline unsigned blocks_for(std::int64_t count, std::int64_t each) { return static_cast<unsigned>((count + each - 1) / each); }

}  // namespace molgraph::MOLGRAPH_CUDA

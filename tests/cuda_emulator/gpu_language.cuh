// The emulated GPU's version of attention/cuda/gpu/gpu_language.cuh, with the same names and guarantees: the language
// of the kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "attention/cuda/gpu/runtime.hpp"
#include "tests/cuda_emulator/emulator.hpp"

using std::isnan;
using std::signbit;

struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

#define __global__ inline
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ __thread  // of `extern __shared__ unsigned char memory[]`, which emulator.cpp defines
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx molgraph::emulator::thread_index
#define blockIdx molgraph::emulator::block_index
#define blockDim molgraph::emulator::block_size
#define gridDim molgraph::emulator::grid_size

inline void __syncthreads() { molgraph::emulator::block_barrier(); }
inline void __syncwarp(unsigned lanes = 0xFFFFFFFFu) {
  molgraph::emulator::warp_barrier(lanes == 0xFFFFFFFFu ? 32 : 16);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  const unsigned char* all = molgraph::emulator::gather(&value, sizeof value);
  T other;
  std::memcpy(&other, all + 64 * ((threadIdx.x % 32) ^ static_cast<unsigned>(mask)), sizeof other);
  molgraph::emulator::warp_barrier();
  return other;
}
inline unsigned __ballot_sync(unsigned, bool mine) {
  const unsigned char* all = molgraph::emulator::gather(&mine, sizeof mine);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) lanes |= static_cast<unsigned>(all[64 * lane] != 0) << lane;
  molgraph::emulator::warp_barrier();
  return lanes;
}
inline int __ffs(unsigned bits) { return __builtin_ffs(static_cast<int>(bits)); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }

namespace molgraph::cuda {

inline std::uint16_t round_to_bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<std::uint16_t>(x != x ? 0x7FC0 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
inline float round_to_tf32(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & ~0x1FFFu;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// c += a b for the 16 x 8 tile of a warp. Every lane passes its `Fragment` of a and b; element(of, left, line, k)
/// selects an element.
template <class Fragment, class Element>
void multiply_fragments(float* c, const Fragment& mine, int depth, Element element) {
  const unsigned char* all = emulator::gather(&mine, sizeof mine);
  const auto of = [&](int lane) {
    Fragment fragment;
    std::memcpy(&fragment, all + 64 * lane, sizeof fragment);
    return fragment;
  };
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int r = 0; r < 2; ++r)
    for (int x = 0; x < 2; ++x)
      for (int k = 0; k < depth; ++k)
        c[2 * r + x] += element(of, true, g + 8 * r, k) * element(of, false, 2 * t + x, k);
  emulator::warp_barrier();
}
inline void mma(float* c, const float* a, const float* b) {
  struct Fragment {
    float a[4], b[2];
  } mine;
  std::memcpy(mine.a, a, sizeof mine.a);
  std::memcpy(mine.b, b, sizeof mine.b);
  multiply_fragments(c, mine, 8, [](const auto& of, bool left, int line, int k) {
    const Fragment f = of(4 * (line % 8) + k % 4);
    return left ? f.a[2 * (k / 4) + line / 8] : f.b[k / 4];
  });
}
inline void mma(float* c, const std::uint32_t* a, const std::uint32_t* b) {
  struct Fragment {
    std::uint16_t a[4][2], b[2][2];
  } mine;
  std::memcpy(mine.a, a, sizeof mine.a);
  std::memcpy(mine.b, b, sizeof mine.b);
  multiply_fragments(c, mine, 16, [](const auto& of, bool left, int line, int k) {
    const Fragment f = of(4 * (line % 8) + k % 8 / 2);
    const std::uint32_t bits = std::uint32_t{left ? f.a[2 * (k / 8) + line / 8][k % 2] : f.b[k / 8][k % 2]} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  });
}

template <class... P>
void start(Stream, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, const P&... args) {
  emulator::enqueue([=] { emulator::run(grid, block, shared_bytes, [&] { kernel(args...); }); });
}

}  // namespace molgraph::cuda

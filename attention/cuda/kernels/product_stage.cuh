// A stage of a matrix product: the parts of both operands that are in shared memory at the same time, and their product
// on tensor cores or in true float32.
#pragma once

#include "attention/cuda/kernels/device.cuh"
#include "attention/spec/precision.hpp"

namespace molgraph::cuda {

inline constexpr int kProductThreads = 128;

/// Depth of a stage.
template <int NT>
inline constexpr int kStage = 8 * NT;
/// Distance of two lines in shared memory. With it, the loads of fragments use every bank once.
template <class E, int NT>
inline constexpr int kLine = kStage<NT> + 16 / static_cast<int>(sizeof(E));

/// Depth of one of `slices` equal parts, in whole stages.
template <int NT>
__host__ __device__ constexpr int slice_depth(int depth, int slices) {
  return ((depth + slices - 1) / slices + kStage<NT> - 1) / kStage<NT> * kStage<NT>;
}

/// c (+)= the product, over one stage, of this warp's 16 lines of a with all 8*NT lines of b.
template <class E, Precision M, int NT>
__device__ __forceinline__ void multiply_stage(const E* a, const E* b, float (*c)[4]) {
  constexpr int kDistance = kLine<E, NT>;
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  const E *a0 = a + g * kDistance, *a1 = a0 + 8 * kDistance;
  if constexpr (M == Precision::bf16) {
    const auto pair = [](const E* from) {  // aligned neighbours
      std::uint32_t word;
      memcpy(&word, from, sizeof word);
      return word;
    };
#pragma unroll
    for (int first = 0; first < kStage<NT>; first += 16) {
      const int k = first + 2 * t;
      const std::uint32_t left[4] = {pair(a0 + k), pair(a1 + k), pair(a0 + k + 8), pair(a1 + k + 8)};
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        const E* line = b + (8 * n + g) * kDistance + k;
        const std::uint32_t right[2] = {pair(line), pair(line + 8)};
        mma(c[n], left, right);
      }
    }
  } else if constexpr (M == Precision::tf32) {
#pragma unroll
    for (int first = 0; first < kStage<NT>; first += 8) {
      const int k = first + t;
      const float left[4] = {a0[k], a1[k], a0[k + 4], a1[k + 4]};
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        const E* line = b + (8 * n + g) * kDistance + k;
        const float right[2] = {line[0], line[4]};
        mma(c[n], left, right);
      }
    }
  } else {
    const auto add = [](float& sum, const float4& x, const float4& y) {
      sum += x.x * y.x;
      sum += x.y * y.y;
      sum += x.z * y.z;
      sum += x.w * y.w;
    };
#pragma unroll 1
    for (int k = 0; k < kStage<NT>; k += 4) {
      const auto four = [k](const E* line) { return *reinterpret_cast<const float4*>(line + k); };
      const float4 x0 = four(a0), x1 = four(a1);
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        const E* line = b + (8 * n + 2 * t) * kDistance;
        const float4 y0 = four(line), y1 = four(line + kDistance);
        add(c[n][0], x0, y0);
        add(c[n][1], x0, y1);
        add(c[n][2], x1, y0);
        add(c[n][3], x1, y1);
      }
    }
  }
}

/// A thread's share of a stage of an operand, [Lines, kStage]: groups of elements that are neighbours in memory, 16
/// bytes each, zero beyond the ends.
template <class E, int Lines, int NT>
struct Carried {
  static constexpr int kEach = 16 / static_cast<int>(sizeof(E)), kGroups = Lines * kStage<NT> / kEach,
                       kCount = (kGroups + kProductThreads - 1) / kProductThreads;
  float4 group[kCount];

  /// Position of group e. Neighbouring threads load neighbouring groups if the depth is innermost in memory; otherwise
  /// they load the same lines at neighbouring depths, so that their stores use different banks.
  __device__ __forceinline__ static bool place(int e, bool depth_first, int* line, int* k) {
    const int at = static_cast<int>(threadIdx.x) + e * kProductThreads;
    *line = depth_first ? at / (kStage<NT> / kEach) : at / kStage<NT> * kEach;
    *k = depth_first ? at % (kStage<NT> / kEach) * kEach : at % kStage<NT>;
    return at < kGroups;
  }
  __device__ __forceinline__ void fetch(const E* from, std::int64_t line_stride, std::int64_t depth_stride,
                                        int first_line, int last_line, int first_k, int last_k) {
    const bool depth_first = depth_stride == 1, aligned = (depth_first ? line_stride : depth_stride) % kEach == 0 &&
                                                          reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      int line, k;
      group[e] = {0, 0, 0, 0};
      if (!place(e, depth_first, &line, &k)) continue;
      line += first_line;
      k += first_k;
      const E* first = from + line * line_stride + k * depth_stride;
      const int left = line >= last_line || k >= last_k ? 0 : depth_first ? last_k - k : last_line - line;
      if (aligned && left >= kEach) {
        group[e] = *reinterpret_cast<const float4*>(first);
      } else if (left > 0) {
        E element[kEach];
#pragma unroll
        for (int u = 0; u < kEach; ++u) element[u] = u < left ? first[u] : from_float<E>(0.0f);
        memcpy(&group[e], element, sizeof element);
      }
    }
  }
  template <Precision M>
  __device__ __forceinline__ void store(E* to, std::int64_t depth_stride) const {
    const bool depth_first = depth_stride == 1;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      int line, k;
      if (!place(e, depth_first, &line, &k)) continue;
      float4 here = group[e];
      if constexpr (M == Precision::tf32)  // rounded only here
        here = {round_to_tf32(here.x), round_to_tf32(here.y), round_to_tf32(here.z), round_to_tf32(here.w)};
      if (depth_first) {
        *reinterpret_cast<float4*>(to + line * kLine<E, NT> + k) = here;
        continue;
      }
      E element[kEach];
      memcpy(element, &here, sizeof element);
#pragma unroll
      for (int u = 0; u < kEach; ++u) to[(line + u) * kLine<E, NT> + k] = element[u];
    }
  }
};

}  // namespace molgraph::cuda

// Matrix products on tensor cores (tf32, bf16) or in true float32, and the operations that follow them: bias, GELU,
// factor, column sums, LayerNorm.
//
// A block of four warps computes 64 rows x 8*NT columns; each warp has 16 rows. Both operands pass through shared
// memory with the depth innermost, 16 at a time, so one kernel computes y = x W^T, dx = dy W and dW = dy^T x: only the
// strides differ. The accumulators have the layout of mma.sync: lane 4*g + t has rows g and g + 8, columns 2t and 2t +
// 1 of every eight.
#pragma once

#include "attention/cuda/kernels/norm_tile.cuh"
#include "attention/spec/precision.hpp"

namespace molgraph::cuda {

inline constexpr int kProductRows = 64, kProductDepth = 16, kProductThreads = 128, kProductsPerLaunch = 2;

/// y(m, n) = sum over k of a(m, k) b(k, n), followed by the operations below that are not null, in this order.
template <class E>
struct Product {
  const E* a = nullptr;  ///< a(m, k) = a[m*a_row + k*a_depth]; one of the two strides is 1
  std::int64_t a_row = 0, a_depth = 1;
  const E* b = nullptr;  ///< b(k, n) = b[n*b_column + k*b_depth]
  std::int64_t b_column = 0, b_depth = 1;
  int rows = 0, columns = 0, depth = 0;
  int slices = 1;                     ///< the depth in this number of parts, each with its own output
  std::int64_t slice_stride = 0;      ///< of y32 and row_sums
  const float* bias = nullptr;        ///< [columns], added
  E* slope = nullptr;                 ///< y becomes drop(GELU(y)); [rows, columns] gets the derivative
  bool gelu = false;                  ///< the same without a derivative
  Dropout dropout;                    ///< of the GELU
  const TokenPlace* token = nullptr;  ///< [rows]
  const E* factor = nullptr;          ///< [rows, columns], multiplied
  E* y = nullptr;                     ///< [rows, columns], rounded
  float* y32 = nullptr;               ///< [rows, columns]
  float* row_sums = nullptr;          ///< [rows] sum of a, as rounded, over the depth
  // Used instead of y and y32 if a block has whole rows: y is the branch of a residual sum, or the gradient of a
  // LayerNorm's output.
  ResidualNorm<E> norm;
  NormGradient<E> norm_gradient;
};

template <class E>
struct ProductGroup {
  Product<E> of[kProductsPerLaunch];
  __device__ __forceinline__ const Product<E>& at(int k) const { return of[k]; }
};

/// Gradients dW = dy^T x and dbias of many layers with the same rows.
template <class E>
struct WeightGradients {
  static constexpr int kPerLaunch = 64;
  int rows = 0, slices = 1;
  std::int64_t slice_stride = 0;
  struct One {
    const E *dy = nullptr, *x = nullptr;       ///< [rows, out], [rows, in]
    float *weight = nullptr, *bias = nullptr;  ///< [out, in], [out]
    int out = 0, in = 0;
  } of[kPerLaunch];
  __host__ __device__ __forceinline__ Product<E> at(int k) const {
    const One& o = of[k];
    return {.a = o.dy,
            .a_row = 1,
            .a_depth = o.out,
            .b = o.x,
            .b_column = 1,
            .b_depth = o.in,
            .rows = o.out,
            .columns = o.in,
            .depth = rows,
            .slices = slices,
            .slice_stride = slice_stride,
            .y32 = o.weight,
            .row_sums = o.bias};
  }
};

/// Distance of two lines in shared memory, chosen so that the loads of fragments use all banks once.
template <class E>
inline constexpr int kLine = std::is_same_v<E, float> ? 20 : 24;

/// c (+)= the product, of depth 16, of this warp's 16 lines of a with all 8*NT lines of b.
template <class E, Precision M, int NT>
__device__ __forceinline__ void multiply_tile(const E* a, const E* b, float (*c)[4]) {
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  const E *a0 = a + g * kLine<E>, *a1 = a0 + 8 * kLine<E>;
  if constexpr (M == Precision::bf16) {
    const auto pair = [](const E* from) {  // aligned neighbours
      std::uint32_t word;
      memcpy(&word, from, sizeof word);
      return word;
    };
    const std::uint32_t left[4] = {pair(a0 + 2 * t), pair(a1 + 2 * t), pair(a0 + 2 * t + 8), pair(a1 + 2 * t + 8)};
#pragma unroll
    for (int n = 0; n < NT; ++n) {
      const E* line = b + (8 * n + g) * kLine<E> + 2 * t;
      const std::uint32_t right[2] = {pair(line), pair(line + 8)};
      mma(c[n], left, right);
    }
  } else if constexpr (M == Precision::tf32) {
    for (int k = t; k < kProductDepth; k += 8) {
      const float left[4] = {a0[k], a1[k], a0[k + 4], a1[k + 4]};
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        const E* line = b + (8 * n + g) * kLine<E> + k;
        const float right[2] = {line[0], line[4]};
        mma(c[n], left, right);
      }
    }
  } else {
    for (int k = 0; k < kProductDepth; ++k)
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        const E* line = b + (8 * n + 2 * t) * kLine<E> + k;
        c[n][0] += a0[k] * line[0];
        c[n][1] += a0[k] * line[kLine<E>];
        c[n][2] += a1[k] * line[0];
        c[n][3] += a1[k] * line[kLine<E>];
      }
  }
}

/// Elements that a thread loads from a [lines, 16] part of an operand; zero beyond the ends.
template <class E, int Count>
struct Carried {
  E element[Count];

  // Neighbouring threads load neighbouring elements in memory.
  __device__ __forceinline__ static void place(int e, int lines, bool depth_first, int* line, int* k) {
    const int at = static_cast<int>(threadIdx.x) + e * kProductThreads;
    *line = depth_first ? at / kProductDepth : at % lines;
    *k = depth_first ? at % kProductDepth : at / lines;
  }
  __device__ __forceinline__ void fetch(const E* from, std::int64_t line_stride, std::int64_t depth_stride, int lines,
                                        int first_line, int last_line, int first_k, int last_k) {
    for (int e = 0; e < Count; ++e) {
      int line, k;
      place(e, lines, depth_stride == 1, &line, &k);
      line += first_line;
      k += first_k;
      element[e] = line < last_line && k < last_k ? from[line * line_stride + k * depth_stride] : from_float<E>(0.0f);
    }
  }
  template <Precision M>
  __device__ __forceinline__ void store(E* to, std::int64_t depth_stride, int lines) const {
    for (int e = 0; e < Count; ++e) {
      int line, k;
      place(e, lines, depth_stride == 1, &line, &k);
      if constexpr (M == Precision::tf32) to[line * kLine<E> + k] = round_to_tf32(element[e]);  // rounded only here
      else to[line * kLine<E> + k] = element[e];
    }
  }
};

template <class E>
__device__ __forceinline__ void finish_element(const Product<E>& p, int m, int n, float value,
                                               std::int64_t slice_offset) {
  if (m >= p.rows || n >= p.columns) return;
  const std::int64_t at = static_cast<std::int64_t>(m) * p.columns + n;
  if (p.bias != nullptr) value += p.bias[n];
  if (p.gelu || p.slope != nullptr) {
    float slope;
    value = gelu(value, &slope);
    const float keep = p.dropout.threshold == 0 ? 1.0f : keep_factor(p.dropout, p.token[m], p.columns, n);
    value *= keep;
    if (p.slope != nullptr) p.slope[at] = from_float<E>(slope * keep);
  }
  if (p.factor != nullptr) value *= to_float(p.factor[at]);
  if (p.y != nullptr) p.y[at] = from_float<E>(value);
  if (p.y32 != nullptr) p.y32[slice_offset + at] = value;
}

template <class E, Precision M, int NT, class Group>
__global__ void __launch_bounds__(kProductThreads) product_kernel(Group group, int slices) {
  constexpr int kColumns = 8 * NT;
  const auto& p = group.at(static_cast<int>(blockIdx.z) / slices);
  const int slice = static_cast<int>(blockIdx.z) % slices;
  const int first_row = static_cast<int>(blockIdx.x) * kProductRows,
            first_column = static_cast<int>(blockIdx.y) * kColumns;
  if (first_row >= p.rows || first_column >= p.columns || slice >= p.slices) return;
  const int share = ((p.depth + p.slices - 1) / p.slices + kProductDepth - 1) / kProductDepth * kProductDepth;
  const int first_k = slice * share, last_k = first_k + share < p.depth ? first_k + share : p.depth;

  extern __shared__ __align__(16) unsigned char memory[];
  E *a = reinterpret_cast<E*>(memory), *b = a + kProductRows * kLine<E>;
  Carried<E, kProductRows * kProductDepth / kProductThreads> next_a;
  Carried<E, kColumns * kProductDepth / kProductThreads> next_b;
  float c[NT][4] = {};
  float row_sum = 0;
  const auto fetch = [&](int k) {
    next_a.fetch(p.a, p.a_row, p.a_depth, kProductRows, first_row, p.rows, k, last_k);
    next_b.fetch(p.b, p.b_column, p.b_depth, kColumns, first_column, p.columns, k, last_k);
  };
  if (first_k < last_k) fetch(first_k);
  for (int k = first_k; k < last_k; k += kProductDepth) {
    next_a.template store<M>(a, p.a_depth, kProductRows);
    next_b.template store<M>(b, p.b_depth, kColumns);
    __syncthreads();
    if (k + kProductDepth < last_k) fetch(k + kProductDepth);  // loads while the tile is multiplied
    multiply_tile<E, M, NT>(a + (threadIdx.x / 32) * 16 * kLine<E>, b, c);
    if (p.row_sums != nullptr && first_column == 0 && threadIdx.x < kProductRows)
      for (int x = 0; x < kProductDepth; ++x) row_sum += to_float(a[threadIdx.x * kLine<E> + x]);
    __syncthreads();
  }
  const int lane = static_cast<int>(threadIdx.x % 32), warp_row = first_row + static_cast<int>(threadIdx.x / 32) * 16,
            m = warp_row + lane / 4;
  if (p.norm.sum != nullptr) return residual_norm_tile<E, NT>(p.norm, p.bias, warp_row, c);
  if (p.norm_gradient.sum != nullptr)
    return norm_gradient_tile<E, NT>(p.norm_gradient, warp_row, c, static_cast<int>(blockIdx.x),
                                     reinterpret_cast<float*>(memory));
#pragma unroll
  for (int n = 0; n < NT; ++n)
#pragma unroll
    for (int x = 0; x < 4; ++x)
      finish_element(p, m + x / 2 * 8, first_column + 8 * n + lane % 4 * 2 + x % 2, c[n][x], slice * p.slice_stride);
  if (p.row_sums != nullptr && first_column == 0 && threadIdx.x < kProductRows &&
      first_row + static_cast<int>(threadIdx.x) < p.rows)
    p.row_sums[slice * p.slice_stride + first_row + threadIdx.x] = row_sum;
}

template <class E, Precision M, int NT, class Group>
void launch_products(Stream stream, const Group& group, int count) {
  dim3 grid(1, 1, 1);
  int slices = 1;
  for (int k = 0; k < count; ++k) {
    const auto& p = group.at(k);
    grid.x = p.rows > 0 && blocks_for(p.rows, kProductRows) > grid.x ? blocks_for(p.rows, kProductRows) : grid.x;
    grid.y = blocks_for(p.columns, 8 * NT) > grid.y ? blocks_for(p.columns, 8 * NT) : grid.y;
    slices = p.slices > slices ? p.slices : slices;
  }
  grid.z = static_cast<unsigned>(count * slices);
  launch(stream, product_kernel<E, M, NT, Group>, grid, dim3(kProductThreads),
         (kProductRows + 8 * NT) * kLine<E> * sizeof(E), group, slices);
}

/// Computes `count` independent products, at most as many as the group holds, in one launch.
template <class E, class Group>
void multiply(Stream stream, Precision precision, const Group& group, int count) {
  bool eighty = true;  // blocks of 80 columns waste less for widths 80, 160, 240
  for (int k = 0; k < count; ++k) eighty = eighty && group.at(k).columns % 80 == 0;
  const auto run = [&]<Precision M>() {
    eighty ? launch_products<E, M, 10>(stream, group, count) : launch_products<E, M, 8>(stream, group, count);
  };
  if constexpr (std::is_same_v<E, float>) {
    precision == Precision::fp32 ? run.template operator()<Precision::fp32>()
                                 : run.template operator()<Precision::tf32>();
  } else {
    run.template operator()<Precision::bf16>();
  }
}
template <class E>
void multiply(Stream stream, Precision precision, const Product<E>& product) {
  multiply<E>(stream, precision, ProductGroup<E>{{product}}, 1);
}

// --- operations after a wide product that the library computed, in a separate pass ---

inline constexpr int kFinishThreads = 256;

template <class E>
__global__ void __launch_bounds__(kFinishThreads) finish_kernel(Product<E> p, const float* raw) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kFinishThreads + threadIdx.x;
  if (at >= static_cast<std::int64_t>(p.rows) * p.columns) return;
  finish_element(p, static_cast<int>(at / p.columns), static_cast<int>(at % p.columns), raw[at], 0);
}
/// Sums of a over the depth, for 32 of its rows. Each of eight warps has every eighth part of the depth. The warps'
/// sums are added in order.
template <class E>
__global__ void __launch_bounds__(kFinishThreads) row_sums_kernel(Product<E> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<float*>(memory);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32),
            m = static_cast<int>(blockIdx.x) * 32 + lane;
  float sum = 0;
  for (int k = warp; m < p.rows && k < p.depth; k += kFinishThreads / 32)
    sum += to_float(p.a[m * p.a_row + k * p.a_depth]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (warp > 0 || m >= p.rows) return;
  float total = 0;
  for (int w = 0; w < kFinishThreads / 32; ++w) total += sums[w * 32 + lane];
  p.row_sums[m] = total;
}

}  // namespace molgraph::cuda

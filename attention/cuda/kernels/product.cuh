// Matrix products on tensor cores (tf32, bf16) or in true float32, and the operations that follow them: bias, GELU,
// factor, column sums, LayerNorm.
//
// A block of four warps computes 64 rows x 8*NT columns; each warp has 16 rows. Both operands pass through shared
// memory with the depth innermost, 8*NT at a time (often the whole depth in a narrow model), so one
// kernel computes y = x W^T, dx = dy W and dW = dy^T x: only the strides differ. The accumulators have the layout of
// mma.sync: lane 4*g + t has rows g and g + 8, columns 2t and 2t + 1 of every eight.
#pragma once

#include "attention/cuda/kernels/norm_tile.cuh"
#include "attention/cuda/kernels/product_stage.cuh"

namespace molgraph::cuda {

inline constexpr int kProductRows = 64, kProductsPerLaunch = 2;

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
  __host__ __device__ __forceinline__ const Product<E>& at(int k) const { return of[k]; }
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

/// Eight neighbouring elements of a row, of which the first `count` exist.
template <class E>
__device__ __forceinline__ void load_eight(const E* from, int count, float (&x)[8]) {
  constexpr int kEach = 16 / static_cast<int>(sizeof(E));
  E element[8];
  if (count == 8 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
#pragma unroll
    for (int u = 0; u < 8; u += kEach) {
      const float4 group = *reinterpret_cast<const float4*>(from + u);
      memcpy(element + u, &group, sizeof group);
    }
  } else {
#pragma unroll
    for (int u = 0; u < 8; ++u) element[u] = u < count ? from[u] : from_float<E>(0.0f);
  }
#pragma unroll
  for (int u = 0; u < 8; ++u) x[u] = to_float(element[u]);
}
template <class E>
__device__ __forceinline__ void store_eight(E* to, int count, const float (&x)[8]) {
  constexpr int kEach = 16 / static_cast<int>(sizeof(E));
  E element[8];
#pragma unroll
  for (int u = 0; u < 8; ++u) element[u] = from_float<E>(x[u]);
  if (count == 8 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll
    for (int u = 0; u < 8; u += kEach) {
      float4 group;
      memcpy(&group, element + u, sizeof group);
      *reinterpret_cast<float4*>(to + u) = group;
    }
  } else {
#pragma unroll
    for (int u = 0; u < 8; ++u)
      if (u < count) to[u] = element[u];
  }
}

/// Which of eight neighbouring channels of a token dropout keeps: bit u.
__device__ __forceinline__ std::uint32_t kept_eight(const Dropout& dropout, const TokenPlace& token, int width,
                                                    int channel) {
  const std::uint32_t first = token.index * static_cast<std::uint32_t>(width) + static_cast<std::uint32_t>(channel),
                      blocks = first % 8 == 0 ? 1 : 2;
  std::uint32_t kept = 0;
#pragma unroll 1
  for (std::uint32_t k = 0; k < blocks; ++k) kept |= kept_block(dropout, token.row, first / 8 + k) << 8 * k;
  return kept >> first % 8 & 0xFF;
}

/// The operations of `p` on the elements (m, n) to (m, n + 7), and the stores.
template <class E>
__device__ __forceinline__ void finish_eight(const Product<E>& p, int m, int n, float (&value)[8],
                                             std::int64_t slice_offset) {
  const int count = p.columns - n < 8 ? p.columns - n : 8;
  const std::int64_t at = static_cast<std::int64_t>(m) * p.columns + n;
  float other[8];
  if (p.bias != nullptr) {
    load_eight(p.bias + n, count, other);
#pragma unroll
    for (int u = 0; u < 8; ++u) value[u] += other[u];
  }
  if (p.gelu || p.slope != nullptr) {
    const std::uint32_t kept = p.dropout.threshold == 0 ? 0xFF : kept_eight(p.dropout, p.token[m], p.columns, n);
    const float scale = p.dropout.threshold == 0 ? 1.0f : p.dropout.scale;
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const float keep = (kept >> u & 1) != 0 ? scale : 0.0f;
      value[u] = gelu(value[u], &other[u]) * keep;
      other[u] *= keep;
    }
    if (p.slope != nullptr) store_eight(p.slope + at, count, other);
  }
  if (p.factor != nullptr) {
    load_eight(p.factor + at, count, other);
#pragma unroll
    for (int u = 0; u < 8; ++u) value[u] *= other[u];
  }
  if (p.y != nullptr) store_eight(p.y + at, count, value);
  if (p.y32 != nullptr) store_eight(p.y32 + slice_offset + at, count, value);
}

template <class E, Precision M, int NT, class Group>
__global__ void __launch_bounds__(kProductThreads) product_kernel(Group group, int slices) {
  constexpr int kColumns = 8 * NT;
  const auto& p = group.at(static_cast<int>(blockIdx.z) / slices);
  const int slice = static_cast<int>(blockIdx.z) % slices;
  const int first_row = static_cast<int>(blockIdx.x) * kProductRows,
            first_column = static_cast<int>(blockIdx.y) * kColumns;
  if (first_row >= p.rows || first_column >= p.columns || slice >= p.slices) return;
  const int share = slice_depth<NT>(p.depth, p.slices), first_k = slice * share,
            last_k = first_k + share < p.depth ? first_k + share : p.depth;

  extern __shared__ __align__(16) unsigned char memory[];
  E *a = reinterpret_cast<E*>(memory), *b = a + kProductRows * kLine<E, NT>;
  Carried<E, kProductRows, NT> next_a;
  Carried<E, kColumns, NT> next_b;
  float c[NT][4] = {};
  float row_sum = 0;
  const auto fetch = [&](int k) {
    next_a.fetch(p.a, p.a_row, p.a_depth, first_row, p.rows, k, last_k);
    next_b.fetch(p.b, p.b_column, p.b_depth, first_column, p.columns, k, last_k);
  };
  if (first_k < last_k) fetch(first_k);
#pragma unroll 1
  for (int k = first_k; k < last_k; k += kStage<NT>) {
    next_a.template store<M>(a, p.a_depth);
    next_b.template store<M>(b, p.b_depth);
    __syncthreads();
    if (k + kStage<NT> < last_k) fetch(k + kStage<NT>);  // loads while the stage is multiplied
    multiply_stage<E, M, NT>(a + (threadIdx.x / 32) * 16 * kLine<E, NT>, b, c);
    if (p.row_sums != nullptr && first_column == 0 && threadIdx.x < kProductRows)
      for (int x = 0; x < kStage<NT>; x += 8) {
        float element[8];
        load_eight(a + threadIdx.x * kLine<E, NT> + x, 8, element);
        for (int u = 0; u < 8; ++u) row_sum += element[u];
      }
    __syncthreads();
  }
  const int lane = static_cast<int>(threadIdx.x % 32), warp_row = first_row + static_cast<int>(threadIdx.x / 32) * 16,
            tile_line = kColumns + 4;
  if (p.norm.sum != nullptr) return residual_norm_tile<E, NT>(p.norm, p.bias, warp_row, c);
  if (p.norm_gradient.sum != nullptr)
    return norm_gradient_tile<E, NT>(p.norm_gradient, warp_row, c, static_cast<int>(blockIdx.x),
                                     reinterpret_cast<float*>(memory));
  // Through shared memory, where every warp has its own rows, to groups of eight columns per lane.
  auto* tile = reinterpret_cast<float*>(memory) + (threadIdx.x / 32) * 16 * tile_line;
#pragma unroll
  for (int n = 0; n < NT; ++n)
#pragma unroll
    for (int x = 0; x < 4; ++x) tile[(lane / 4 + x / 2 * 8) * tile_line + 8 * n + lane % 4 * 2 + x % 2] = c[n][x];
  __syncwarp();
#pragma unroll 1
  for (int e = lane; e < 16 * NT; e += 32) {
    const int row = e / NT, column = e % NT * 8;
    if (warp_row + row >= p.rows || first_column + column >= p.columns) continue;
    float value[8];
    load_eight(tile + row * tile_line + column, 8, value);
    finish_eight(p, warp_row + row, first_column + column, value, slice * p.slice_stride);
  }
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
         (kProductRows + 8 * NT) * kLine<E, NT> * sizeof(E), group, slices);
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

inline constexpr int kFinishThreads = 256, kRowSumThreads = 1024;

/// A thread has eight columns of a row.
template <class E>
__global__ void __launch_bounds__(kFinishThreads) finish_kernel(Product<E> p, const float* raw) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kFinishThreads + threadIdx.x;
  const int groups = (p.columns + 7) / 8;
  if (at >= static_cast<std::int64_t>(p.rows) * groups) return;
  const int m = static_cast<int>(at / groups), n = static_cast<int>(at % groups) * 8;
  float value[8];
  load_eight(raw + static_cast<std::int64_t>(m) * p.columns + n, p.columns - n < 8 ? p.columns - n : 8, value);
  finish_eight(p, m, n, value, 0);
}
/// Sums of a over the depth, for 32 of its rows. Warp w adds the depths w, w + 32, and so on. The warps' sums are added
/// in order.
template <class E>
__global__ void __launch_bounds__(kRowSumThreads) row_sums_kernel(Product<E> p) {
  constexpr int kWarps = kRowSumThreads / 32;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<float*>(memory);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32),
            m = static_cast<int>(blockIdx.x) * 32 + lane;
  float sum = 0;
#pragma unroll 8
  for (int k = warp; k < p.depth; k += kWarps) sum += m < p.rows ? to_float(p.a[m * p.a_row + k * p.a_depth]) : 0.0f;
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (warp > 0 || m >= p.rows) return;
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += sums[w * 32 + lane];
  p.row_sums[m] = total;
}

}  // namespace molgraph::cuda

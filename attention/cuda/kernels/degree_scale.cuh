// The attention's output times a + b log(1 + degree), forward and backward (EncoderOptions::degree_scaler; Ma et al.
// 2023, section 3.2). One warp per row. Lane l has channels l, l + 32, ...
#pragma once

#include "attention/cuda/kernels/rows.cuh"

namespace molgraph::cuda {

template <class E>
struct DegreeScale {
  int rows = 0, width = 0;
  const float* log_degree = nullptr;            ///< [rows]
  const float *scale = nullptr, *by = nullptr;  ///< a and b [width]
  const E* z = nullptr;                         ///< [rows, width]
  E* scaled = nullptr;                          ///< [rows, width]; backward: in: its gradient, out: z's gradient
  float* parts = nullptr;                       ///< [parts, 2, width]: terms of the sums for the gradients of a and b
};

template <class E>
__global__ void __launch_bounds__(kRowThreads) degree_scale_kernel(DegreeScale<E> p) {
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (row >= p.rows) return;
  const float degree = p.log_degree[row];
  for (int c = static_cast<int>(threadIdx.x % 32); c < p.width; c += 32) {
    const std::int64_t at = static_cast<std::int64_t>(row) * p.width + c;
    p.scaled[at] = from_float<E>(to_float(p.z[at]) * (p.scale[c] + p.by[c] * degree));
  }
}
template <class E>
void degree_scale(Stream stream, const DegreeScale<E>& p) {
  launch(stream, degree_scale_kernel<E>, blocks_for(p.rows, kRowsPerBlock), kRowThreads, 0, p);
}

template <class E>
__global__ void __launch_bounds__(kRowThreads) degree_scale_gradient_kernel(DegreeScale<E> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<float*>(memory);  // [warps, 2, width]
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const RowShare rows = rows_of_block(p.rows);
  float *dscale = sums + 2 * warp * p.width, *dby = dscale + p.width;
  for (int c = lane; c < p.width; c += 32) dscale[c] = dby[c] = 0;
  for (int row = rows.first + warp; row < rows.last; row += kRowsPerBlock) {
    const float degree = p.log_degree[row];
    for (int c = lane; c < p.width; c += 32) {
      const std::int64_t at = static_cast<std::int64_t>(row) * p.width + c;
      const float slope = to_float(p.scaled[at]), flow = slope * to_float(p.z[at]);
      dscale[c] += flow;
      dby[c] += flow * degree;
      p.scaled[at] = from_float<E>(slope * (p.scale[c] + p.by[c] * degree));
    }
  }
  store_part(sums, p.width, p.parts);
}
/// `parts`: norm_parts(rows).
template <class E>
void degree_scale_gradient(Stream stream, const DegreeScale<E>& p, int parts) {
  launch(stream, degree_scale_gradient_kernel<E>, static_cast<unsigned>(parts), kRowThreads,
         static_cast<std::size_t>(2 * kRowsPerBlock * p.width) * sizeof(float), p);
}

}  // namespace molgraph::cuda

// The language of the kernels: CUDA C++, and functions for what CUDA expresses in assembly or special syntax. A
// launch's shared memory is `extern __shared__ __align__(16) unsigned char memory[]`, declared where it is used.
// Kernels include <gpu_language.cuh>: this file, or in tests that of the emulated GPU (tests/cuda_emulator), which
// provides the same names.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "attention/cuda/gpu/check.hpp"
#include "attention/cuda/gpu/runtime.hpp"

namespace molgraph::cuda {

/// bfloat16, the upper half of a float: rounds to nearest, ties to even.
__device__ __forceinline__ std::uint16_t round_to_bf16(float x) {
  const __nv_bfloat16 rounded = __float2bfloat16_rn(x);
  std::uint16_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits;
}
/// tf32, 10 fraction bits: rounds to nearest, ties away from zero.
__device__ __forceinline__ float round_to_tf32(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

/// c += a b of a warp on tensor cores, factors in tf32: [16, 8] += [16, 8] [8, 8]. Each lane has its part of the three
/// matrices (mma.m16n8k8).
__device__ __forceinline__ void mma(float* c, const float* a, const float* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}
/// The same in bfloat16, two values per word: [16, 8] += [16, 16] [16, 8] (mma.m16n8k16).
__device__ __forceinline__ void mma(float* c, const std::uint32_t* a, const std::uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Starts kernel(args...) on the stream. Requests shared memory beyond 48 KiB if needed. For general use, call launch()
/// of device.cuh.
template <class... P>
void start(Stream stream, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, const P&... args) {
  if (shared_bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(args...);
  check(cudaGetLastError());
}

}  // namespace molgraph::cuda

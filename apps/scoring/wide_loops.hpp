// Loops compiled a second time for processors with wider vectors: baseline x86-64 has only vectors of 4 floats. A loop
// is an inline function that MOLGRAPH_ALWAYS_INLINE puts into its two callers. Both give the same bits, because AVX2
// without FMA rounds like the baseline.
#pragma once

#define MOLGRAPH_ALWAYS_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__) && defined(__GNUC__)
#define MOLGRAPH_AVX2 [[gnu::target("avx2")]]
#else
#define MOLGRAPH_AVX2
#endif

namespace molgraph {

inline bool has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace molgraph

// Shared code of the kernels with AVX512_BF16: the compiler target, and the order of numbers in pairs. Only for x86.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define MOLGRAPH_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

namespace molgraph::cpu {

/// The two halves of x, interleaved.
MOLGRAPH_BF16 inline __m512i interleaved(__m512i x) {
  alignas(64) static constexpr std::uint16_t kOrder[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                           21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                           11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(kOrder), x);
}

}  // namespace molgraph::cpu

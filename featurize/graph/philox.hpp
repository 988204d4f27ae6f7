// Philox4x32-10, the counter-based random generator of Salmon et al. 2011 ("Parallel Random Numbers: As Easy as 1, 2,
// 3"). The scalar formula is shared by every backend: the host and CUDA compilers see the same inline function.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define MOLGRAPH_HOST_DEVICE __host__ __device__
#else
#define MOLGRAPH_HOST_DEVICE
#endif

namespace molgraph {

/// Computes four uniform 32-bit words as a pure function of (counter, key). There is no state, so draws can be made
/// anywhere and in any order. Multipliers and key increments (the golden ratio and sqrt(3) - 1 in 32 bits) as in
/// section 3.3 of the paper.
MOLGRAPH_HOST_DEVICE inline void philox4x32_10(std::uint32_t out[4], const std::uint32_t counter[4],
                                               const std::uint32_t key[2]) {
  std::uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  std::uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(product1);
    c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(product0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

}  // namespace molgraph

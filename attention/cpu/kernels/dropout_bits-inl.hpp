// Bits of the elements that dropout keeps (Keep in kernels.hpp), from 16-bit draws.
//     channel_bits: draws [rows, width] -> bits [rows, stride / 8]
//     head_bits: draws [heads, pairs] -> bits [pairs, padded heads / 8]
#if defined(MOLGRAPH_CPU_DROPOUT_BITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_DROPOUT_BITS_INL
#undef MOLGRAPH_CPU_DROPOUT_BITS_INL
#else
#define MOLGRAPH_CPU_DROPOUT_BITS_INL
#endif

#include <algorithm>
#include <cstring>

#include "attention/cpu/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

void channel_bits(const std::uint16_t* draws, std::uint32_t threshold, std::size_t rows, std::size_t width,
                  std::size_t stride, std::uint8_t* bits) {
  for (std::size_t t = 0; t < rows; ++t) {
    const std::uint16_t* row = draws + t * width;
    for (std::size_t c = 0; c < stride; c += 8) {
      std::uint32_t byte = 0;
      const std::size_t count = c < width ? std::min<std::size_t>(8, width - c) : 0;
      for (std::size_t b = 0; b < count; ++b) byte |= static_cast<std::uint32_t>(row[c + b] >= threshold) << b;
      *bits++ = static_cast<std::uint8_t>(byte);
    }
  }
}

void head_bits(const std::uint16_t* draws, std::uint32_t threshold, std::size_t heads, std::size_t pairs,
               std::uint8_t* bits) {
  const std::size_t bytes = padded_heads(heads) / 8;
  const auto limit = static_cast<std::uint16_t>(threshold);  // fits 16 bits because p < 1
  std::uint8_t* HWY_RESTRICT out = bits;
  std::memset(out, 0, pairs * bytes);
  for (std::size_t h = 0; h < heads; ++h) {
    const std::uint16_t* HWY_RESTRICT of_head = draws + h * pairs;
    const auto bit = static_cast<std::uint8_t>(1u << (h % 8));
    std::uint8_t* HWY_RESTRICT byte = out + h / 8;
    if (bytes == 1) {
      for (std::size_t p = 0; p < pairs; ++p)
        byte[p] = static_cast<std::uint8_t>(byte[p] | (of_head[p] >= limit ? bit : 0));
    } else {
      for (std::size_t p = 0; p < pairs; ++p)
        byte[p * bytes] = static_cast<std::uint8_t>(byte[p * bytes] | (of_head[p] >= limit ? bit : 0));
    }
  }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

// What the factors of matrix products are: known to whoever asks for an engine.
#pragma once

#include <cstdint>
#include <string>

namespace molgraph {

/// Of the factors of matrix products; everything else, all sums and the parameters are float32.
enum class Precision : std::uint8_t {
  fp32,
  tf32,  ///< 10 bits of fraction; GPUs only
  bf16,  ///< 7 bits of fraction; on a GPU what is kept between products too
};

/// What products are computed in where another precision may have been asked for.
struct UsedPrecision {
  Precision precision = Precision::fp32;
  std::string note;  ///< why it is not the one asked for; "" = it is
};

/// "fp32", "tf32", "bf16".
constexpr const char* to_string(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : precision == Precision::tf32 ? "tf32" : "bf16";
}

}  // namespace molgraph

// Precision of matrix products.
#pragma once

#include <cstdint>
#include <string>

namespace molgraph {

/// Precision of the factors of matrix products. All sums, the parameters and everything else are float32.
enum class Precision : std::uint8_t {
  fp32,
  tf32,  ///< 10 bits of fraction; GPUs only
  bf16,  ///< 7 bits of fraction; on a GPU also for values stored between products
};

/// The precision that is used, which may differ from the requested one.
struct UsedPrecision {
  Precision precision = Precision::fp32;
  std::string note;          ///< why it differs from the requested precision; "" = it does not
  std::string instructions;  ///< of the processor's bf16 products: "AMX" or "AVX512_BF16"; else ""
};

/// "fp32", "tf32", "bf16".
constexpr const char* to_string(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : precision == Precision::tf32 ? "tf32" : "bf16";
}

/// With the instructions: "bf16 (AMX)".
inline std::string to_string(const UsedPrecision& used) {
  const std::string name = to_string(used.precision);
  return used.instructions.empty() ? name : name + " (" + used.instructions + ")";
}

}  // namespace molgraph

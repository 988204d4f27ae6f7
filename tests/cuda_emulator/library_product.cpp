// The emulated GPU's cublasLt: always available, for every shape.
#include "attention/cuda/gpu/library_product.hpp"

#include <cstring>

#include "attention/cuda/profile.hpp"
#include "tests/cuda_emulator/emulator.hpp"

namespace molgraph::cuda {
namespace {

/// Element `at` of an array of floats, or of their upper halves.
float element(const void* x, std::int64_t at, bool bf16) {
  if (!bf16) return static_cast<const float*>(x)[at];
  const std::uint32_t bits = std::uint32_t{static_cast<const std::uint16_t*>(x)[at]} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

struct ProductLibrary::State {
  bool bf16;
};
ProductLibrary::ProductLibrary(Precision precision) : state_(new State{precision == Precision::bf16}) {}
ProductLibrary::~ProductLibrary() = default;

bool ProductLibrary::multiply(Stream stream, const LibraryProduct& product) {
  const LaunchClock clock(stream, "cublasLtMatmul");
  emulator::enqueue([p = product, bf16 = state_->bf16] {
    for (int m = 0; m < p.rows; ++m)
      for (int n = 0; n < p.columns; ++n) {
        float sum = 0;
        for (int k = 0; k < p.depth; ++k)
          sum += element(p.a, m * p.a_row + k * p.a_depth, bf16) * element(p.b, n * p.b_column + k * p.b_depth, bf16);
        p.y[static_cast<std::int64_t>(m) * p.columns + n] = sum;
      }
  });
  return true;
}

}  // namespace molgraph::cuda

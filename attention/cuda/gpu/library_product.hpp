// Wide products by cublasLt, which is loaded for the first such product. Programs start without it, and run without it,
// but more slowly.
#pragma once

#include <cstdint>
#include <memory>

#include "attention/cuda/memory.hpp"

namespace molgraph::cuda {

/// y [rows, columns] = a b, float32, as in Product: one of a's two strides is 1, and one of b's.
struct LibraryProduct {
  const void *a = nullptr, *b = nullptr;  ///< float, or Bf16 with Precision::bf16
  std::int64_t a_row = 0, a_depth = 1, b_column = 0, b_depth = 1;
  int rows = 0, columns = 0, depth = 0;
  float* y = nullptr;
};

class ProductLibrary {
 public:
  explicit ProductLibrary(Precision precision);
  ~ProductLibrary();
  /// Returns false if the library is missing or does not support the shape. Nothing was computed then.
  bool multiply(Stream stream, const LibraryProduct& product);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph::cuda

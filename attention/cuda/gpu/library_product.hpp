// Wide products by cublasLt, which is loaded when the first one is wanted: programs start without it, and run without
// it more slowly.
#pragma once

#include <cstdint>
#include <memory>

#include "attention/cuda/memory.hpp"

namespace molgraph::cuda {

/// y [rows, columns] = a b, float32, as Product has it: of a's two strides and of b's one is 1.
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
  /// False: the library is not there or does not know the shape, and nothing was done.
  bool multiply(Stream stream, const LibraryProduct& product);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph::cuda

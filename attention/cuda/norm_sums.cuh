// Gradients of LayerNorms' weights and biases, many in one launch. Those of degree scales have the same form.
#pragma once

#include <algorithm>
#include <vector>

#include "attention/cuda/kernels/rows.cuh"
#include "attention/cuda/memory.hpp"

namespace molgraph::cuda {

/// Gradients of the weights and biases of LayerNorms (or of degree scales), summed together at the end.
class NormSums {
 public:
  explicit NormSums(Stream stream) : stream_(stream) {}
  void begin(std::size_t norms, int parts, int width) {
    parts_of_each_ = parts, width_ = width;
    (void)parts_.sized(norms * size());
    to_.clear();
  }
  /// Returns where the parts of the next norm are written.
  float* next(float* dweight, float* dbias) {
    to_.push_back({dweight, dbias});
    return parts_.data() + (to_.size() - 1) * size();
  }
  void run() {
    for (std::size_t first = 0; first < to_.size(); first += NormColumns::kPerLaunch) {
      const std::size_t count = std::min(to_.size() - first, std::size_t{NormColumns::kPerLaunch});
      NormColumns p{.width = width_, .parts = parts_of_each_, .from = parts_.data() + first * size()};
      std::copy_n(to_.begin() + static_cast<std::ptrdiff_t>(first), count, p.to);
      launch(stream_, norm_columns_kernel, dim3(blocks_for(width_, 32), 2, static_cast<unsigned>(count)), kRowThreads,
             kRowThreads * sizeof(float), p);
    }
  }

 private:
  std::size_t size() const { return 2 * static_cast<std::size_t>(parts_of_each_) * static_cast<std::size_t>(width_); }
  Stream stream_;
  int parts_of_each_ = 0, width_ = 0;
  Array<float> parts_;
  std::vector<NormColumns::To> to_;
};

}  // namespace molgraph::cuda

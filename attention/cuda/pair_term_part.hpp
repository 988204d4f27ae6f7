// Interface of a term that is not a table of classes (PairTerm, spec/terms.hpp): values per pair, computed on the
// device.
#pragma once

#include "attention/cuda/pass.hpp"

namespace molgraph::cuda {

class PairTermPart {
 public:
  virtual ~PairTermPart() = default;
  /// Computes what depends on the weights alone.
  virtual void derive(const Weights&) {}
  /// Overwrites `values` [pairs, H], per molecule [head, key, query], or adds to them if `add`.
  virtual void forward(const Weights& weights, const PassInput& pass, bool add, float* values) = 0;
  /// Computes the parameters' gradients of the last forward(). Overwrites `slope` [as values].
  virtual void backward(const Weights& weights, const PassInput& pass, float* slope) = 0;
};

}  // namespace molgraph::cuda

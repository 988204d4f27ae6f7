// The interface of a term that no table of classes holds (PairTerm, spec/terms.hpp): numbers per pair, computed on the
// device.
#pragma once

#include "attention/cuda/pass.hpp"

namespace molgraph::cuda {

class PairTermPart {
 public:
  virtual ~PairTermPart() = default;
  /// Makes what is derived from the weights alone.
  virtual void derive(const Weights&) {}
  /// `values` [pairs, H], per molecule [head, key, query]: overwritten, or (`add`) added to.
  virtual void forward(const Weights& weights, const PassInput& pass, bool add, float* values) = 0;
  /// The parameters' gradients of the last forward(); `slope` [as values] is used up.
  virtual void backward(const Weights& weights, const PassInput& pass, float* slope) = 0;
};

}  // namespace molgraph::cuda

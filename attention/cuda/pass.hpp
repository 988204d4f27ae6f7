// Data that the parts of a model exchange in a pass over one batch.
#pragma once

#include "attention/cuda/molecules.hpp"
#include "attention/cuda/parameters.hpp"

namespace molgraph::cuda {

class PairSum;
class TokenRows;

/// The parameters and the target of their gradients: `slices` partial sums, which are added at the end.
struct Weights {
  const float* weights = nullptr;  ///< [P]
  float* partial = nullptr;        ///< [slices, P]
  int slices = 1;
  std::int64_t size = 0;  ///< P
  const float* at(std::int64_t offset) const { return offset == kNone ? nullptr : weights + offset; }
  float* gradient(std::int64_t offset) const { return partial + offset; }
};
/// Also contains the parameters as the products read them; `E`: float or Bf16.
template <class E>
struct WeightView : Weights {
  const E* rounded = nullptr;  ///< [P]
};

struct PassInput {
  const ResidentMolecules* set = nullptr;
  const BatchPlaces* batch = nullptr;
  const TokenRows* tokens = nullptr;         ///< of the batch
  const std::uint32_t* classes = nullptr;    ///< [relations of the batch]
  const DrawKey* draws = nullptr;            ///< null: no random numbers
  bool keep = false;                         ///< keep values for backward()
  PairSum *bias = nullptr, *gate = nullptr;  ///< terms per pair that do not come from tables
};

}  // namespace molgraph::cuda

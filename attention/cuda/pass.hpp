// What the parts of a model hand each other in a pass over one batch.
#pragma once

#include "attention/cuda/molecules.hpp"
#include "attention/cuda/parameters.hpp"

namespace molgraph::cuda {

class PairSum;
class TokenRows;

/// The parameters as a pass reads them, and where it leaves their gradients: `slices` partial sums that are added at
/// the end.
struct Weights {
  const float* weights = nullptr;  ///< [P]
  float* partial = nullptr;        ///< [slices, P]
  int slices = 1;
  std::int64_t size = 0;  ///< P
  const float* at(std::int64_t offset) const { return offset == kNone ? nullptr : weights + offset; }
  float* gradient(std::int64_t offset) const { return partial + offset; }
};
/// With the same numbers as the products read them, `E`: float or Bf16.
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
  bool keep = false;                         ///< for backward()
  PairSum *bias = nullptr, *gate = nullptr;  ///< what pairs get beside the tables' rows
};

}  // namespace molgraph::cuda

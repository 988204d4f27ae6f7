// A bias or gate term from the vectors of pairs: random walks between two atoms (Ma et al. 2023, section 3.1), paths,
// rings (docs/models/formula.md section 5).
#pragma once

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

/// `flat_` contains weight [columns of the vector, heads].
class WalkTerm final : public PlainPairTerm {
 public:
  WalkTerm(const PairTerm& term, const ParameterList& parameters);
  void add_values(PackPlaces& places, float* out) const override;
  void add_gradient(PackPlaces& places, const float* slope, float* flat) const override;

 private:
  const Kernels& kernels_;
  PairVector vector_;
  std::size_t steps_, heads_, padded_;
};

}  // namespace molgraph::cpu

// Gaussians of the resistance distance (Zhang et al. 2023, section 4; docs/models/formula.md section 5): a bias that
// depends on how well two atoms are connected.
#pragma once

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

/// `flat_` contains mean [K], width [K], weight [K, heads].
class ResistanceTerm final : public PlainPairTerm {
 public:
  ResistanceTerm(const PairTerm& term, const ParameterList& parameters);
  void add_values(PackPlaces& places, float* out) const override;
  void add_gradient(PackPlaces& places, const float* slope, float* flat) const override;

 private:
  std::size_t kernels_, heads_, padded_;
};

}  // namespace molgraph::cpu

// Gaussians of the resistance distance (Zhang et al. 2023, section 4; docs/formula.md section 5): a bias by how well
// two atoms are connected.
#pragma once

#include <string>
#include <vector>

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

class ResistanceTerm final : public PairTermPart {
 public:
  ResistanceTerm(const PairTerm& term, const ParameterList& parameters);
  void assign(const TensorLookup& tensors) override;
  void add_values(PackPlaces& places, float* out) const override;
  std::size_t gradient_size() const override { return flat_.size(); }
  void add_gradient(PackPlaces& places, const float* slope, float* flat) const override;
  void add_gradients(const float* flat, const GradientLookup& gradients) const override;

 private:
  std::string prefix_;
  std::size_t kernels_, heads_, padded_;
  std::vector<float> flat_;  ///< mean [K], width [K], weight [K, heads]
};

}  // namespace molgraph::cpu

// The edge-path term (Ying et al. 2021, eq. 7; docs/models/formula.md section 3): S / m' for every pair, where S is the
// sum over the bonds of its shortest paths, computed level by level.
#pragma once

#include <string>
#include <vector>

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

/// Uses the table T[p][bond id] = Ebar W[p], [hops, bond ids, H]. Its gradient has the same shape.
class PathTerm final : public PairTermPart {
 public:
  PathTerm(const PairTerm& term, const ParameterList& parameters, Features features);
  void assign(const TensorLookup& tensors) override;
  void add_values(PackPlaces& places, float* out) const override;
  std::size_t gradient_size() const override { return table_.size(); }
  void add_gradient(PackPlaces& places, const float* slope, float* flat) const override;
  void add_gradients(const float* flat, const GradientLookup& gradients) const override;

 private:
  std::vector<float> mean_bonds() const;

  std::string prefix_;
  std::size_t heads_, padded_, hops_, bond_ids_;
  std::vector<std::vector<int>> bond_rows_;       ///< rows of each bond id in `bond_`
  std::vector<float> bond_, hop_weight_, table_;  ///< bond [rows, heads], hop_weight [hops, heads, heads]
};

}  // namespace molgraph::cpu

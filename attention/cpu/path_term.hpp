// The edge-path term (Ying et al. 2021, eq. 7; docs/models/formula.md section 3): S / m' of every pair, S the sum over
// the bonds of its shortest paths, found level by level.
#pragma once

#include <string>
#include <vector>

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

/// Works on the table T[p][bond id] = Ebar W[p] [hops, bond ids, H], which its gradient has the shape of.
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
  std::vector<std::vector<int>> bond_rows_;       ///< of each bond id in `bond_`
  std::vector<float> bond_, hop_weight_, table_;  ///< bond [rows, heads], hop_weight [hops, heads, heads]
};

}  // namespace molgraph::cpu

// The bias P_Q(i).P_K(j) of tokens' places (Chen et al. 2021, eq. 1): P from an atom's degree and its random walks.
#pragma once

#include <string>
#include <vector>

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

class AbsoluteTerm final : public PairTermPart {
 public:
  AbsoluteTerm(const PairTerm& term, const ParameterList& parameters);
  void assign(const TensorLookup& tensors) override;
  void add_values(PackPlaces& places, float* out) const override;
  std::size_t gradient_size() const override { return flat_.size(); }
  void add_gradient(PackPlaces& places, const float* slope, float* flat) const override;
  void add_gradients(const float* flat, const GradientLookup& gradients) const override;

 private:
  /// A parameter and where it stands in the flat buffer.
  struct Place {
    std::string name;
    std::size_t offset, size;
  };
  /// P_Q or P_K of all tokens, [tokens, heads * rank], from one side of the flat buffer.
  void factors(PackPlaces& places, const float* side, std::vector<float>& out) const;
  void factors_gradient(PackPlaces& places, const std::vector<float>& slope, float* side) const;

  std::vector<Place> places_;
  std::size_t heads_, padded_, rows_, steps_, width_, side_;  ///< width heads*64; side: rows and walk of query or key
  std::vector<float> flat_;                                   ///< query_row, query_walk, key_row, key_walk
};

}  // namespace molgraph::cpu

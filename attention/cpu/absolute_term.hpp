// The bias P_Q(i).P_K(j) (Chen et al. 2021, eq. 1), with positions P from an atom's degree and its random walks.
#pragma once

#include <vector>

#include "attention/cpu/pair_terms.hpp"

namespace molgraph::cpu {

/// `flat_` contains query_row, query_walk, key_row, key_walk.
class AbsoluteTerm final : public PlainPairTerm {
 public:
  AbsoluteTerm(const PairTerm& term, const ParameterList& parameters);
  void add_values(PackPlaces& places, float* out) const override;
  void add_gradient(PackPlaces& places, const float* slope, float* flat) const override;

 private:
  /// P_Q or P_K of all tokens, [tokens, heads * rank], from one side of the flat buffer.
  void factors(PackPlaces& places, const float* side, std::vector<float>& out) const;
  void factors_gradient(PackPlaces& places, const std::vector<float>& slope, float* side) const;

  std::size_t heads_, padded_, rows_, steps_, width_, side_;  ///< width: heads*64; side: size of query_* or of key_*
};

}  // namespace molgraph::cpu

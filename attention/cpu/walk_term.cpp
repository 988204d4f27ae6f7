#include "attention/cpu/walk_term.hpp"

#include <algorithm>

namespace molgraph::cpu {

WalkTerm::WalkTerm(const PairTerm& term, const ParameterList& parameters)
    : PlainPairTerm(term, parameters, {"weight"}), kernels_(kernels()), vector_(term.vector),
      steps_(static_cast<std::size_t>(term.size)), heads_(flat_.size() / steps_), padded_(padded_heads(heads_)) {}

void WalkTerm::add_values(PackPlaces& places, float* out) const {
  const std::vector<float>& walks = places.pair_walks(vector_);
  std::vector<float> weight(steps_ * padded_, 0.0f);
  for (std::size_t t = 0; t < steps_; ++t) std::copy_n(flat_.data() + t * heads_, heads_, weight.data() + t * padded_);
  for (const MoleculeRelations& of : places.pack().molecules)
    kernels_.walk_values(walks.data() + of.first_pair * steps_, of.tokens, padded_, steps_, weight.data(),
                         out + of.first_pair * padded_);
}

void WalkTerm::add_gradient(PackPlaces& places, const float* slope, float* flat) const {
  const std::vector<float>& walks = places.pair_walks(vector_);
  std::vector<float> dweight(steps_ * padded_, 0.0f);
  for (const MoleculeRelations& of : places.pack().molecules)
    kernels_.walk_gradient(walks.data() + of.first_pair * steps_, of.tokens, padded_, steps_,
                           slope + of.first_pair * padded_, dweight.data());
  for (std::size_t t = 0; t < steps_; ++t)
    for (std::size_t h = 0; h < heads_; ++h) flat[t * heads_ + h] += dweight[t * padded_ + h];
}

}  // namespace molgraph::cpu

#include "attention/cpu/resistance_term.hpp"

#include <algorithm>

#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {
namespace {

/// Calls visit(pair (i, j), pair (j, i), R) for all i <= j that have an R. R is symmetric.
template <class Visit>
void for_each_resistance(PackPlaces& places, Visit visit) {
  const std::vector<float>& all = places.resistances();
  for (const MoleculeRelations& of : places.pack().molecules)
    for (std::size_t i = 1; i < of.tokens; ++i)
      for (std::size_t j = i; j < of.tokens; ++j) {
        const std::size_t pair = of.first_pair + i * of.tokens + j;
        if (all[pair] >= 0) visit(pair, of.first_pair + j * of.tokens + i, all[pair]);
      }
}

}  // namespace

ResistanceTerm::ResistanceTerm(const PairTerm& term, const ParameterList& parameters)
    : PlainPairTerm(term, parameters, {"mean", "width", "weight"}), kernels_(flat_parameters_[0].size),
      heads_(flat_parameters_[2].size / kernels_), padded_(padded_heads(heads_)) {}

void ResistanceTerm::add_values(PackPlaces& places, float* out) const {
  const float *mean = flat_.data(), *width = mean + kernels_, *weight = width + kernels_;
  std::vector<float> bias(heads_);
  for_each_resistance(places, [&](std::size_t pair, std::size_t mirror, float r) {
    std::fill(bias.begin(), bias.end(), 0.0f);
    for (std::size_t k = 0; k < kernels_; ++k) {
      const float density = gaussian(r, mean[k], gaussian_deviation(width[k]));
      for (std::size_t h = 0; h < heads_; ++h) bias[h] += density * weight[k * heads_ + h];
    }
    for (std::size_t h = 0; h < heads_; ++h) out[pair * padded_ + h] += bias[h];
    for (std::size_t h = 0; h < heads_ && mirror != pair; ++h) out[mirror * padded_ + h] += bias[h];
  });
}

// With d = (R - mean)/deviation: dG/dmean = G d / deviation, dG/ddeviation = G (d^2 - 1) / deviation.
void ResistanceTerm::add_gradient(PackPlaces& places, const float* slope, float* flat) const {
  const float *mean = flat_.data(), *width = mean + kernels_, *weight = width + kernels_;
  float *dmean = flat, *dwidth = dmean + kernels_, *dweight = dwidth + kernels_;
  std::vector<float> from(heads_);
  for_each_resistance(places, [&](std::size_t pair, std::size_t mirror, float r) {
    for (std::size_t h = 0; h < heads_; ++h)
      from[h] = slope[pair * padded_ + h] + (mirror == pair ? 0.0f : slope[mirror * padded_ + h]);
    for (std::size_t k = 0; k < kernels_; ++k) {
      const float deviation = gaussian_deviation(width[k]), density = gaussian(r, mean[k], deviation);
      float ddensity = 0;
      for (std::size_t h = 0; h < heads_; ++h) {
        dweight[k * heads_ + h] += density * from[h];
        ddensity += weight[k * heads_ + h] * from[h];
      }
      const float distance = (r - mean[k]) / deviation, common = ddensity * density / deviation;
      dmean[k] += common * distance;
      dwidth[k] += (width[k] < 0 ? -common : common) * (distance * distance - 1);
    }
  });
}

}  // namespace molgraph::cpu

#include "attention/cpu/path_term.hpp"

#include <algorithm>

#include "featurize/graph/vocabulary.hpp"

namespace molgraph::cpu {

PathTerm::PathTerm(const PairTerm& term, const ParameterList& parameters, Features features)
    : prefix_(term.prefix), bond_rows_(rows_of_bond_ids(features)) {
  const ParameterSpec &bond = parameters.at(prefix_ + "bond"), &hop_weight = parameters.at(prefix_ + "hop_weight");
  heads_ = static_cast<std::size_t>(bond.shape[1]);
  padded_ = padded_heads(heads_);
  hops_ = static_cast<std::size_t>(hop_weight.shape[0]);
  bond_ids_ = bond_rows_.size();
  bond_.resize(static_cast<std::size_t>(bond.size()));
  hop_weight_.resize(static_cast<std::size_t>(hop_weight.size()));
  table_.assign(hops_ * bond_ids_ * padded_, 0.0f);
}

// Ebar, [bond ids, heads]
std::vector<float> PathTerm::mean_bonds() const {
  std::vector<float> mean(bond_ids_ * heads_, 0.0f);
  for (std::size_t id = 0; id < bond_ids_; ++id)
    for (const int row : bond_rows_[id])
      for (std::size_t h = 0; h < heads_; ++h)
        mean[id * heads_ + h] +=
            bond_[static_cast<std::size_t>(row) * heads_ + h] / static_cast<float>(bond_rows_[id].size());
  return mean;
}

void PathTerm::assign(const TensorLookup& tensors) {
  std::copy_n(tensors(prefix_ + "bond"), bond_.size(), bond_.data());
  std::copy_n(tensors(prefix_ + "hop_weight"), hop_weight_.size(), hop_weight_.data());
  const std::vector<float> mean = mean_bonds();
  for (std::size_t p = 0; p < hops_; ++p)
    for (std::size_t id = 0; id < bond_ids_; ++id)
      for (std::size_t h = 0; h < heads_; ++h) {
        float sum = 0;
        for (std::size_t in = 0; in < heads_; ++in)
          sum += mean[id * heads_ + in] * hop_weight_[(p * heads_ + in) * heads_ + h];
        table_[(p * bond_ids_ + id) * padded_ + h] = sum;
      }
}

void PathTerm::add_gradients(const float* flat, const GradientLookup& gradients) const {
  float *dbond = gradients(prefix_ + "bond"), *dhop_weight = gradients(prefix_ + "hop_weight");
  const std::vector<float> mean = mean_bonds();
  for (std::size_t p = 0; p < hops_; ++p)
    for (std::size_t id = 0; id < bond_ids_; ++id)
      for (std::size_t in = 0; in < heads_; ++in) {
        const float* slope = flat + (p * bond_ids_ + id) * padded_;
        const std::size_t at = (p * heads_ + in) * heads_;
        float sum = 0;
        for (std::size_t h = 0; h < heads_; ++h) {
          sum += slope[h] * hop_weight_[at + h];
          if (dhop_weight != nullptr) dhop_weight[at + h] += mean[id * heads_ + in] * slope[h];
        }
        if (dbond == nullptr) continue;
        for (const int row : bond_rows_[id])
          dbond[static_cast<std::size_t>(row) * heads_ + in] += sum / static_cast<float>(bond_rows_[id].size());
      }
}

void PathTerm::add_values(PackPlaces& places, float* out) const {
  const PathSteps& paths = places.batch().paths;
  const Pack& pack = places.pack();
  const std::vector<LevelPart>& parts = places.levels();
  const auto origin = static_cast<std::size_t>(places.batch().pair_offset[pack.first]);
  const std::size_t levels = parts.size();
  std::vector<float>& sums = places.scratch();
  sums.assign(pack.pairs * padded_, 0.0f);
  const auto sum_of = [&, first = sums.data()](std::size_t pair) {
    return first + (static_cast<std::size_t>(paths.pair[pair]) - origin) * padded_;
  };
  for (std::size_t m = 1; m <= levels; ++m) {  // first the sums S, each level from the level below
    const LevelPart& part = parts[m - 1];
    const auto this_level = static_cast<std::size_t>(paths.level_pairs[m - 1]);
    for (std::size_t s = part.first_step; s < part.last_step; ++s) {
      float* to = sum_of(this_level + static_cast<std::size_t>(paths.target[s]));
      const auto weight = static_cast<float>(paths.weight[s]);
      const float* hop = m <= hops_
                             ? table_.data() + ((m - 1) * bond_ids_ + static_cast<std::size_t>(paths.bond[s])) * padded_
                             : nullptr;
      const float* from =
          m > 1 ? sum_of(static_cast<std::size_t>(paths.level_pairs[m - 2] + paths.source[s])) : nullptr;
      for (std::size_t h = 0; h < padded_; ++h)
        to[h] += weight * ((hop != nullptr ? hop[h] : 0.0f) + (from != nullptr ? from[h] : 0.0f));
    }
  }
  for (std::size_t m = 2; m <= levels; ++m) {
    const LevelPart& part = parts[m - 1];
    const float share = 1.0f / static_cast<float>(std::min(m, hops_));
    for (std::size_t p = part.first_pair; p < part.last_pair; ++p) {
      float* value = sum_of(p);
      for (std::size_t h = 0; h < padded_; ++h) value[h] *= share;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) out[i] += sums[i];
}

void PathTerm::add_gradient(PackPlaces& places, const float* slope, float* flat) const {
  const PathSteps& paths = places.batch().paths;
  const Pack& pack = places.pack();
  const std::vector<LevelPart>& parts = places.levels();
  const auto origin = static_cast<std::size_t>(places.batch().pair_offset[pack.first]);
  const std::size_t levels = parts.size();
  std::vector<float>& slopes = places.scratch();  // gradients of the sums
  slopes.assign(slope, slope + pack.pairs * padded_);
  const auto slope_of = [&, first = slopes.data()](std::size_t pair) {
    return first + (static_cast<std::size_t>(paths.pair[pair]) - origin) * padded_;
  };
  for (std::size_t m = 2; m <= levels; ++m) {
    const LevelPart& part = parts[m - 1];
    const float share = 1.0f / static_cast<float>(std::min(m, hops_));
    for (std::size_t p = part.first_pair; p < part.last_pair; ++p) {
      float* value = slope_of(p);
      for (std::size_t h = 0; h < padded_; ++h) value[h] *= share;
    }
  }
  for (std::size_t m = levels; m >= 1; --m) {  // from the longest paths to the shortest
    const LevelPart& part = parts[m - 1];
    const auto this_level = static_cast<std::size_t>(paths.level_pairs[m - 1]);
    for (std::size_t s = part.first_step; s < part.last_step; ++s) {
      const float* from = slope_of(this_level + static_cast<std::size_t>(paths.target[s]));
      const auto weight = static_cast<float>(paths.weight[s]);
      if (m <= hops_) {
        float* hop = flat + ((m - 1) * bond_ids_ + static_cast<std::size_t>(paths.bond[s])) * padded_;
        for (std::size_t h = 0; h < padded_; ++h) hop[h] += weight * from[h];
      }
      if (m > 1) {
        float* to = slope_of(static_cast<std::size_t>(paths.level_pairs[m - 2] + paths.source[s]));
        for (std::size_t h = 0; h < padded_; ++h) to[h] += weight * from[h];
      }
    }
  }
}

}  // namespace molgraph::cpu

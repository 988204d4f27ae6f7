#include "attention/cpu/path.hpp"

#include <algorithm>
#include <numeric>

#include "featurize/graph/vocabulary.hpp"

namespace molgraph::cpu {
std::vector<LevelPart> level_parts(const GraphBatch& batch, const Pack& pack) {
  const PathSteps& paths = batch.paths;
  std::vector<LevelPart> parts;
  for (std::size_t m = 1; m <= static_cast<std::size_t>(paths.levels()); ++m) {
    const auto begin = paths.pair.begin() + paths.level_pairs[m - 1], end = paths.pair.begin() + paths.level_pairs[m];
    const auto first = std::lower_bound(begin, end, batch.pair_offset[pack.first]);   // a level goes molecule by molecule
    const auto last = std::lower_bound(first, end, batch.pair_offset[pack.last]);
    const auto steps = paths.target.begin() + paths.level_steps[m - 1], steps_end = paths.target.begin() + paths.level_steps[m];
    const auto first_step = std::lower_bound(steps, steps_end, first - begin);
    const auto last_step = std::lower_bound(first_step, steps_end, last - begin);
    parts.push_back({static_cast<std::size_t>(first - paths.pair.begin()), static_cast<std::size_t>(last - paths.pair.begin()),
                     static_cast<std::size_t>(first_step - paths.target.begin()), static_cast<std::size_t>(last_step - paths.target.begin())});
  }
  return parts;
}

HopTable::HopTable(Features features, std::size_t heads, std::size_t hops)
    : heads_(heads), padded_(padded_heads(heads)), hops_(hops), bond_rows_(rows_of_bond_ids(features)) {
  const FeatureShape& shape = feature_shape(features);
  bond_ids_ = static_cast<std::size_t>(shape.bond_ids);
  rows_ = static_cast<std::size_t>(std::accumulate(shape.bond_dims.begin(), shape.bond_dims.end(), 0));
  table_.assign(hops_ * bond_ids_ * padded_, 0.0f);
}

// Ebar, [bond ids, heads]
std::vector<float> HopTable::mean_bonds() const {
  std::vector<float> mean(bond_ids_ * heads_, 0.0f);
  for (std::size_t id = 0; id < bond_ids_; ++id)
    for (const int row : bond_rows_[id])
      for (std::size_t h = 0; h < heads_; ++h)
        mean[id * heads_ + h] += bond_[static_cast<std::size_t>(row) * heads_ + h] / static_cast<float>(bond_rows_[id].size());
  return mean;
}

std::vector<TensorSpec> HopTable::tensors() const {
  const auto heads = static_cast<std::int64_t>(heads_);
  return {{"bond", {static_cast<std::int64_t>(rows_), heads}}, {"hop_weight", {static_cast<std::int64_t>(hops_), heads, heads}}};
}

void HopTable::assign(const float* bond, const float* hop_weight) {
  bond_.assign(bond, bond + rows_ * heads_);
  hop_weight_.assign(hop_weight, hop_weight + hops_ * heads_ * heads_);
  const std::vector<float> mean = mean_bonds();
  for (std::size_t p = 0; p < hops_; ++p)
    for (std::size_t id = 0; id < bond_ids_; ++id)
      for (std::size_t h = 0; h < heads_; ++h) {
        float sum = 0;
        for (std::size_t in = 0; in < heads_; ++in) sum += mean[id * heads_ + in] * hop_weight_[(p * heads_ + in) * heads_ + h];
        table_[(p * bond_ids_ + id) * padded_ + h] = sum;
      }
}

void HopTable::add_gradients(const float* table, float* dbond, float* dhop_weight) const {
  const std::vector<float> mean = mean_bonds();
  for (std::size_t p = 0; p < hops_; ++p)
    for (std::size_t id = 0; id < bond_ids_; ++id)
      for (std::size_t in = 0; in < heads_; ++in) {
        const float* slope = table + (p * bond_ids_ + id) * padded_;
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

void HopTable::values(const GraphBatch& batch, const Pack& pack, const std::vector<LevelPart>& parts, float* out) const {
  const PathSteps& paths = batch.paths;
  const auto origin = static_cast<std::size_t>(batch.pair_offset[pack.first]);
  const std::size_t levels = parts.size();
  std::fill_n(out, pack.pairs * padded_, 0.0f);
  const auto sum_of = [&](std::size_t pair) { return out + (static_cast<std::size_t>(paths.pair[pair]) - origin) * padded_; };
  for (std::size_t m = 1; m <= levels; ++m) {   // first the sums S, a level from the one below
    const LevelPart& part = parts[m - 1];
    const auto this_level = static_cast<std::size_t>(paths.level_pairs[m - 1]);
    for (std::size_t s = part.first_step; s < part.last_step; ++s) {
      float* to = sum_of(this_level + static_cast<std::size_t>(paths.target[s]));
      const auto weight = static_cast<float>(paths.weight[s]);
      const float* hop = m <= hops_ ? table_.data() + ((m - 1) * bond_ids_ + static_cast<std::size_t>(paths.bond[s])) * padded_ : nullptr;
      const float* from = m > 1 ? sum_of(static_cast<std::size_t>(paths.level_pairs[m - 2] + paths.source[s])) : nullptr;
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
}

void HopTable::values_gradient(const GraphBatch& batch, const Pack& pack, const std::vector<LevelPart>& parts, float* slope,
                               float* table) const {
  const PathSteps& paths = batch.paths;
  const auto origin = static_cast<std::size_t>(batch.pair_offset[pack.first]);
  const std::size_t levels = parts.size();
  const auto slope_of = [&](std::size_t pair) { return slope + (static_cast<std::size_t>(paths.pair[pair]) - origin) * padded_; };
  for (std::size_t m = 2; m <= levels; ++m) {
    const LevelPart& part = parts[m - 1];
    const float share = 1.0f / static_cast<float>(std::min(m, hops_));
    for (std::size_t p = part.first_pair; p < part.last_pair; ++p) {
      float* value = slope_of(p);
      for (std::size_t h = 0; h < padded_; ++h) value[h] *= share;
    }
  }
  for (std::size_t m = levels; m >= 1; --m) {   // from the leaves to the root
    const LevelPart& part = parts[m - 1];
    const auto this_level = static_cast<std::size_t>(paths.level_pairs[m - 1]);
    for (std::size_t s = part.first_step; s < part.last_step; ++s) {
      const float* from = slope_of(this_level + static_cast<std::size_t>(paths.target[s]));
      const auto weight = static_cast<float>(paths.weight[s]);
      if (m <= hops_) {
        float* hop = table + ((m - 1) * bond_ids_ + static_cast<std::size_t>(paths.bond[s])) * padded_;
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

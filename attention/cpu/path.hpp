// The edge-path term (Ying et al. 2021, eq. 7; docs/formula.md section 3) without LibTorch: path_bias.hpp has the formula.
#pragma once

#include <vector>

#include "featurize/graph/graph_batch.hpp"
#include "attention/cpu/pack.hpp"

namespace molgraph::cpu {

/// The part of each level (distance 1, 2, ...) of GraphBatch::paths that belongs to a pack: its pairs, and the steps to them.
struct LevelPart {
  std::size_t first_pair, last_pair, first_step, last_step;
};
std::vector<LevelPart> level_parts(const GraphBatch& batch, const Pack& pack);

/// T[p][bond id] = Ebar W[p], padded heads.
class HopTable {
 public:
  HopTable(Features features, std::size_t heads, std::size_t hops);
  /// Names as in the module: bond, hop_weight.
  std::vector<TensorSpec> tensors() const;
  /// `bond` [sum of bond_dims, heads], `hop_weight` [hops, heads, heads]
  void assign(const float* bond, const float* hop_weight);
  /// From the table's gradient (size()); either may be null.
  void add_gradients(const float* table, float* dbond, float* dhop_weight) const;

  std::size_t size() const { return table_.size(); }
  /// S / m' of all pairs of the pack, [pairs, H]; zero where there is no path. `levels` as level_parts() gives them.
  void values(const GraphBatch& batch, const Pack& pack, const std::vector<LevelPart>& levels, float* out) const;
  /// `slope` [pairs, H], used up; adds to the table's gradient.
  void values_gradient(const GraphBatch& batch, const Pack& pack, const std::vector<LevelPart>& levels, float* slope, float* table) const;

 private:
  std::vector<float> mean_bonds() const;

  std::size_t heads_, padded_, hops_, bond_ids_, rows_;
  std::vector<std::vector<int>> bond_rows_;           ///< of each bond id in `bond`
  std::vector<float> bond_, hop_weight_, table_;      ///< table [hops, bond ids, H]
};

}  // namespace molgraph::cpu

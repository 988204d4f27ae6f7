#include "attention/reference/path_bias.hpp"

#include <algorithm>

namespace molgraph {
namespace {

/// Copies elements [begin, end) of a vector: autograd keeps indices until the backward pass, when the batch may no
/// longer exist.
template <class T>
torch::Tensor slice(const std::vector<T>& values, std::int64_t begin, std::int64_t end, torch::ScalarType type) {
  return torch::from_blob(const_cast<T*>(values.data() + begin), {end - begin}, type).clone();
}

torch::Tensor bond_row_tensor(Features features) {
  const std::vector<std::vector<int>> of_ids = rows_of_bond_ids(features);
  torch::Tensor rows =
      torch::zeros({static_cast<std::int64_t>(of_ids.size()), feature_shape(features).bond_columns}, torch::kInt64);
  auto* out = rows.data_ptr<std::int64_t>();
  for (const std::vector<int>& of_id : of_ids) out = std::copy(of_id.begin(), of_id.end(), out);
  return rows;
}

}  // namespace

torch::Tensor hop_table(const torch::Tensor& bond, const torch::Tensor& hop_weight, Features features) {
  return torch::matmul(torch::embedding(bond, bond_row_tensor(features)).mean(1), hop_weight);
}

torch::Tensor path_values(const torch::Tensor& bond, const torch::Tensor& hop_weight, const GraphBatch& batch) {
  const PathSteps& paths = batch.paths;
  const std::int64_t heads = bond.size(1);
  const int max_hops = static_cast<int>(hop_weight.size(0));
  const torch::Tensor table = hop_table(bond, hop_weight, batch.features);
  torch::Tensor result = torch::zeros({batch.num_pairs(), heads}, bond.options());
  std::vector<torch::Tensor> levels;
  torch::Tensor before;  // S of the level below
  for (int m = 1; m <= paths.levels(); ++m) {
    const auto k = static_cast<std::size_t>(m);
    const auto begin = paths.level_steps[k - 1], end = paths.level_steps[k];
    const auto count = paths.level_pairs[k] - paths.level_pairs[k - 1];
    torch::Tensor step;
    if (m <= max_hops) step = table[m - 1].index_select(0, slice(paths.bond, begin, end, torch::kInt64));
    if (m > 1) {
      const torch::Tensor prefix = before.index_select(0, slice(paths.source, begin, end, torch::kInt64));
      step = step.defined() ? step + prefix : prefix;
    }
    step = step * slice(paths.weight, begin, end, torch::kFloat64).to(bond.dtype()).unsqueeze(1);
    before =
        torch::zeros({count, heads}, bond.options()).index_add(0, slice(paths.target, begin, end, torch::kInt64), step);
    levels.push_back(before / std::min(m, max_hops));
  }
  // Gives the parameters a zero gradient instead of none: AdamW skips parameters that have never had a gradient, so a
  // resumed run would differ from an uninterrupted one.
  if (levels.empty()) return result + 0 * table.sum();
  const torch::Tensor pairs = slice(paths.pair, 0, static_cast<std::int64_t>(paths.pair.size()), torch::kInt64);
  return result.index_copy(0, pairs, torch::cat(levels));
}

}  // namespace molgraph

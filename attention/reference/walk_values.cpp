#include "attention/reference/walk_values.hpp"

#include "attention/spec/pair_vector.hpp"

namespace molgraph {

torch::Tensor pair_walks(const GraphBatch& batch, const PairVector& vector) {
  const std::int64_t steps = vector.size();
  std::vector<torch::Tensor> of_molecules{torch::empty({0, steps}, torch::kFloat64)};  // the batch may be empty
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    const std::int64_t tokens = batch.token_offset[k + 1] - batch.token_offset[k];
    const torch::Tensor walks = torch::empty({steps, tokens, tokens}, torch::kFloat64);  // [t, j, i]
    pair_vectors(batch, b, vector, walks.data_ptr<double>());
    of_molecules.push_back(walks.permute({2, 1, 0}).reshape({tokens * tokens, steps}));
  }
  return torch::cat(of_molecules);
}

PairValues walk_values(const torch::Tensor& weight, const torch::Tensor& walks) {
  return {.dense = torch::matmul(walks, weight), .query = {}, .key = {}};
}

}  // namespace molgraph

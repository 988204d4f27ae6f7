#include "attention/reference/node_embedding.hpp"

#include <numeric>

namespace molgraph {

NodeEmbeddingImpl::NodeEmbeddingImpl(Features features, int width) : features_(features) {
  const FeatureShape& shape = feature_shape(features);
  const int rows = std::accumulate(shape.atom_dims.begin(), shape.atom_dims.end(), 0);
  atom = register_parameter("atom", torch::randn({rows, width}));
  virtual_node = register_parameter("virtual_node", torch::zeros({width}));
}

torch::Tensor NodeEmbeddingImpl::forward(const GraphBatch& batch, const torch::Tensor& extra) {
  TORCH_CHECK(batch.features == features_, "the batch has the columns of another feature set");
  const FeatureShape& shape = feature_shape(features_);
  const auto atoms = static_cast<std::int64_t>(batch.degree.size());
  const auto columns = static_cast<std::size_t>(shape.atom_columns);
  const torch::Tensor rows = torch::empty({atoms, shape.atom_columns}, torch::kInt64);
  auto* row = rows.data_ptr<std::int64_t>();
  for (std::size_t k = 0; k < batch.atoms.size(); k += columns) {
    std::int64_t first = 0;
    for (std::size_t c = 0; c < columns; first += shape.atom_dims[c++]) *row++ = first + batch.atoms[k + c];
  }
  torch::Tensor embedded = torch::embedding(atom, rows).sum(1);
  if (extra.defined()) embedded = embedded + extra;
  // Row 0 of the source is the virtual node, row 1 + a is atom a.
  const torch::Tensor source = torch::empty({batch.num_tokens()}, torch::kInt64);
  auto* out = source.data_ptr<std::int64_t>();
  std::int64_t next_atom = 1;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    *out++ = 0;
    for (auto a = batch.atom_offset[k]; a < batch.atom_offset[k + 1]; ++a) *out++ = next_atom++;
  }
  return torch::cat({virtual_node.unsqueeze(0), embedded}).index_select(0, source);
}

torch::Tensor virtual_tokens(const GraphBatch& batch) {
  return torch::tensor(std::vector<std::int64_t>(batch.token_offset.begin(), batch.token_offset.end() - 1),
                       torch::kInt64);
}

}  // namespace molgraph

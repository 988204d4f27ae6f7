#include "attention/reference/node_input.hpp"

#include <algorithm>

#include "attention/reference/dropout.hpp"

namespace molgraph {
namespace {

using torch::Tensor;

/// [A, columns]: rows in the concatenated tables of all columns.
Tensor column_rows(const GraphBatch& batch) {
  const FeatureShape& shape = feature_shape(batch.features);
  const auto columns = static_cast<std::size_t>(shape.atom_columns);
  Tensor rows = torch::empty({static_cast<std::int64_t>(batch.degree.size()), shape.atom_columns}, torch::kInt64);
  auto* row = rows.data_ptr<std::int64_t>();
  for (std::size_t k = 0; k < batch.atoms.size(); k += columns) {
    std::int64_t first = 0;
    for (std::size_t c = 0; c < columns; first += shape.atom_dims[c++]) *row++ = first + batch.atoms[k + c];
  }
  return rows;
}

/// [tokens]: row 0 is the virtual node, row 1 + a is atom a.
Tensor token_sources(const GraphBatch& batch) {
  Tensor source = torch::empty({batch.num_tokens()}, torch::kInt64);
  auto* out = source.data_ptr<std::int64_t>();
  std::int64_t next_atom = 1;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    *out++ = 0;
    for (auto a = batch.atom_offset[k]; a < batch.atom_offset[k + 1]; ++a) *out++ = next_atom++;
  }
  return source;
}

/// [A, C]
Tensor centrality(const ParameterTree& parameters, int max_degree, const GraphBatch& batch) {
  std::vector<std::int64_t> degrees(batch.degree.begin(), batch.degree.end());
  for (auto& degree : degrees) degree = std::min<std::int64_t>(degree, max_degree);
  const Tensor degree = torch::tensor(degrees, torch::kInt64);
  return parameters["in_degree"].index_select(0, degree) + parameters["out_degree"].index_select(0, degree);
}

}  // namespace

Tensor node_input(const ParameterTree& parameters, const ModelPlan& plan, const GraphBatch& batch,
                  const ForwardMode& mode) {
  Tensor atoms = torch::embedding(parameters["node.atom"], column_rows(batch)).sum(1);
  if (plan.max_degree >= 0) atoms = atoms + centrality(parameters, plan.max_degree, batch);
  Tensor x = torch::cat({parameters["node.virtual_node"].unsqueeze(0), atoms}).index_select(0, token_sources(batch));
  if (!mode.training || plan.perturb_noise == 0) return x;
  const Tensor noise = input_noise(batch, x.size(1), plan.perturb_noise, mode, x.options());
  return x + noise.index_fill(0, virtual_tokens(batch), 0.0);
}

Tensor virtual_tokens(const GraphBatch& batch) {
  return torch::tensor(std::vector<std::int64_t>(batch.token_offset.begin(), batch.token_offset.end() - 1),
                       torch::kInt64);
}

}  // namespace molgraph

#include "attention/reference/resistance_values.hpp"

#include <cmath>
#include <numbers>

#include "attention/spec/resistance.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph {
namespace {

/// R of all pairs of the batch [P, 1]; -1 for pairs without R.
torch::Tensor resistances(const GraphBatch& batch) {
  torch::Tensor all = torch::full({batch.num_pairs(), 1}, -1.0, torch::kFloat64);
  std::vector<double> of_molecule;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    const std::int64_t tokens = batch.token_offset[k + 1] - batch.token_offset[k], atoms = tokens - 1;
    of_molecule.resize(static_cast<std::size_t>(atoms * atoms));
    resistance_distances(batch, b, of_molecule.data());
    double* out = all.data_ptr<double>() + batch.pair_offset[k];
    for (std::int64_t i = 0; i < atoms; ++i)
      std::copy_n(of_molecule.data() + i * atoms, atoms, out + (i + 1) * tokens + 1);
  }
  return all;
}

}  // namespace

PairValues resistance_values(const ParameterTree& parameters, const std::string& prefix, const GraphBatch& batch) {
  const torch::Tensor& weight = parameters[prefix + "weight"];
  const torch::Tensor r = resistances(batch), known = r >= 0;
  const torch::Tensor deviation = parameters[prefix + "width"].abs() + kDeviationOffset;
  const torch::Tensor distance = (r.to(weight.dtype()) - parameters[prefix + "mean"]) / deviation;
  const torch::Tensor densities =
      torch::exp(-0.5 * distance * distance) / (deviation * std::sqrt(2 * std::numbers::pi));  // [P, K]
  return {.dense = torch::matmul(densities, weight) * known.to(weight.dtype()), .query = {}, .key = {}};
}

}  // namespace molgraph

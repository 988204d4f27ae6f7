#include "attention/reference/absolute_encodings.hpp"

#include <ATen/Parallel.h>

#include <algorithm>

#include "attention/spec/node_positions.hpp"
#include "attention/spec/pair_vector.hpp"
#include "attention/spec/random.hpp"

namespace molgraph {
namespace {

using torch::Tensor;

constexpr std::int64_t kRank = kAbsoluteRank, kLastDegree = kAbsoluteLastDegree, kVirtualRow = kAbsoluteRows - 1;

void flip_signs(const RandomStream& stream, std::int64_t atoms, int dim, double* rows) {
  std::vector<std::uint16_t> draws(static_cast<std::size_t>(dim));
  random_draws(stream, dim, draws.data());
  for (std::int64_t a = 0; a < atoms; ++a)
    for (int c = 0; c < dim; ++c)
      if (draws[static_cast<std::size_t>(c)] >= 32768) rows[a * dim + c] = -rows[a * dim + c];
}

}  // namespace

Tensor node_positions(const GraphBatch& batch, NodePosition kind, const PairVector& vector, const ForwardMode& mode,
                      const torch::TensorOptions& like) {
  const int dim = vector.size();
  const Tensor positions = torch::zeros({batch.num_tokens(), dim}, torch::kFloat64);
  auto* out = positions.data_ptr<double>();
  at::parallel_for(0, batch.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const auto k = static_cast<std::size_t>(b);
      double* rows = out + (batch.token_offset[k] + 1) * dim;
      if (kind == NodePosition::random_walk) {
        atom_vectors(batch, b, vector, rows);
        continue;
      }
      laplacian_positions(batch, b, dim, rows);
      if (!mode.training) continue;
      flip_signs(
          {mode.seed, mode.step, static_cast<std::uint32_t>(batch.row[k]), 0, RandomSite::laplacian_sign, mode.ascent},
          batch.atom_offset[k + 1] - batch.atom_offset[k], dim, rows);
    }
  });
  return positions.to(like.requires_grad(false));
}

PairValues absolute_values(const ParameterTree& parameters, const std::string& prefix, const GraphBatch& batch,
                           const Tensor& walks) {
  const Tensor rows = torch::full({batch.num_tokens()}, kVirtualRow, torch::kInt64);
  auto* row = rows.data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto k = static_cast<std::size_t>(b);
    std::int64_t token = batch.token_offset[k] + 1;
    for (auto a = batch.atom_offset[k]; a < batch.atom_offset[k + 1]; ++a)
      row[token++] = std::min<std::int64_t>(batch.degree[static_cast<std::size_t>(a)], kLastDegree);
  }
  const auto factor = [&](const std::string& side) {
    const Tensor places = parameters[prefix + side + "_row"].index_select(0, rows) +
                          torch::matmul(walks, parameters[prefix + side + "_walk"]);
    return places.view({batch.num_tokens(), -1, kRank});
  };
  return {.dense = {}, .query = factor("query"), .key = factor("key")};
}

}  // namespace molgraph

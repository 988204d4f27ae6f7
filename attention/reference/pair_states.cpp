#include "attention/reference/pair_states.hpp"

#include "attention/spec/pair_states.hpp"

namespace molgraph {

using torch::Tensor;

void PairStates::load(const ParameterTree& parameters, const std::string& owner) {
  const std::string prefix = owner + "pair_states.";
  bias = parameters[prefix + "bias"];
  const Tensor& values = parameters[prefix + "value"];  // [S, C]
  value = values.view({values.size(0), bias.size(0), -1}).transpose(0, 1);
  const bool changes = parameters.specs().find(prefix + "update") != nullptr;
  update = changes ? parameters[prefix + "update"].t() : Tensor();
  update_bias = changes ? parameters[prefix + "update_bias"] : Tensor();
}

Tensor PairStates::bias_of(std::size_t g) const { return torch::linear(e[g], bias).permute({2, 0, 1}); }

Tensor PairStates::values_of(const Tensor& weights, const TokenGroup& group, std::size_t g) const {
  const std::int64_t heads = weights.size(0), molecules = weights.size(1), size = group.size, width = e[g].size(2);
  const Tensor by_token = weights.view({heads, molecules * size, size}).transpose(0, 1);  // [G*N, H, N]
  const Tensor read = torch::bmm(by_token, e[g].reshape({molecules * size, size, width}));
  return torch::bmm(read.transpose(0, 1), value);
}

void PairStates::add(const Tensor& scores, const Tensor& softmax, const TokenGroup& group, std::size_t g) {
  if (!update.defined()) return;
  const Tensor finite = scores.masked_fill(group.masked_key.unsqueeze(0), 0.0);
  const Tensor bounded = finite / (1 + finite.abs() / kPairBound);
  const Tensor features = torch::cat({bounded, kPairWeight * softmax}, 0).permute({1, 2, 0});
  e[g] = e[g] + torch::linear(features, update, update_bias);
}

PairStates first_pair_states(const ParameterTree& parameters, const std::string& prefix, const AttentionLayout& layout,
                             const Tensor& vectors) {
  PairStates states;
  const std::string owner = prefix + "pair_states.";
  const Tensor &topology = parameters[owner + "topology"], &edge = parameters[owner + "edge"];
  const Tensor by_relation =
      topology.index_select(0, layout.relation_topology) + edge.index_select(0, layout.relation_edge);
  for (const TokenGroup& group : layout.groups) {
    const auto molecules = static_cast<std::int64_t>(group.molecules.size());
    // row_slot is i*M + m, where m is the relation
    const Tensor relation = group.row_slot.view({-1}).remainder(by_relation.size(0)).to(torch::kInt64);
    Tensor e = by_relation.index_select(0, relation);
    if (vectors.defined())
      e = e + torch::matmul(vectors.index_select(0, group.packed_pair.view({-1}).to(torch::kInt64)),
                            parameters[owner + "vector"]);
    states.e.push_back(e.view({molecules, group.size * group.size, -1}));
  }
  return states;
}

}  // namespace molgraph

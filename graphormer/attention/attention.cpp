#include "graphormer/attention/attention.hpp"

#include <cmath>
#include <limits>

#include "graphormer/attention/lookup.hpp"

namespace molgraph {
namespace {

using torch::Tensor;

// Rows of the topology and of the edge table added up per relation, [M, H, d]; undefined if both terms are off.
Tensor relation_rows(const Tensor& topology, const Tensor& edge, const AttentionLayout& layout, int heads) {
  Tensor rows;
  if (topology.defined()) rows = topology.index_select(0, layout.relation_topology);
  if (edge.defined()) {
    const Tensor edge_rows = edge.index_select(0, layout.relation_edge);
    rows = rows.defined() ? rows + edge_rows : edge_rows;
  }
  return rows.defined() ? rows.view({rows.size(0), heads, -1}) : rows;
}

// -inf at masked keys, else 0; [1, G, N*N].
Tensor key_mask(const TokenGroup& group, const torch::TensorOptions& like) {
  const Tensor mask = torch::zeros(group.masked_key.sizes(), like.requires_grad(false));
  return mask.masked_fill_(group.masked_key, -std::numeric_limits<double>::infinity()).unsqueeze(0);
}

// b of every class by head, [H, 1, T]: a table of T - 2 rows is widened by its tied row.
Tensor bias_by_class(const Tensor& spatial, int topology_classes) {
  const Tensor row = torch::arange(topology_classes, torch::kInt64).clamp_max(spatial.size(0) - 1);
  return spatial.index_select(0, row).t().unsqueeze(1);
}

// The relation part of the scores, b_ij included: [H, G, N*N], or [1, G, N*N] if it is the mask alone.
Tensor relation_scores(const TokenGroup& group, const Tensor& bias, const BatchTerms& terms, const Tensor& q,
                       const Tensor& k) {
  const std::int64_t heads = q.size(0), molecules = q.size(1), size = q.size(2), width = q.size(3);
  // [H, G*N, d] x [H, d, M] -> [H, G, N*M]: what every token makes of every relation, before pairs are looked at.
  const auto per_relation = [&](const Tensor& token, const Tensor& table) {
    return torch::bmm(token.reshape({heads, molecules * size, width}), table).view({heads, molecules, -1});
  };
  Tensor by_query = terms.query_table.defined() ? per_relation(q, terms.query_table) : Tensor();
  Tensor scores = bias;
  if (terms.key_table.defined()) {
    const Tensor by_key = per_relation(k, terms.key_table);
    if (terms.key_term == KeyTerm::column) scores = add_lookup(scores, by_key, group.column_slot);
    else by_query = by_query.defined() ? by_query + by_key : by_key;
  }
  if (by_query.defined()) scores = add_lookup(scores, by_query, group.row_slot);
  return scores;
}

// The operation on one group; qkv [G*N, 3*C] -> z [G*N, C].
Tensor attend_group(const Tensor& qkv, const TokenGroup& group, const BatchTerms& terms, const Tensor& bias,
                    const Tensor& gate, const Tensor& dropout, AttentionWeights* seen) {
  const auto molecules = static_cast<std::int64_t>(group.molecules.size());
  const std::int64_t heads = terms.heads, size = group.size, width = qkv.size(1) / (3 * heads);
  const Tensor parts = qkv.view({molecules, size, 3, heads, width}).permute({2, 3, 0, 1, 4}).contiguous();
  const std::vector<Tensor> qkv_parts = parts.unbind(0);
  const Tensor &q = qkv_parts[0], &k = qkv_parts[1], &v = qkv_parts[2];  // [H, G, N, d]

  const Tensor base = relation_scores(group, bias, terms, q, k);
  const Tensor flat_k = k.view({heads * molecules, size, width}).transpose(1, 2);
  const Tensor scores = torch::baddbmm(base.expand({heads, -1, -1}).reshape({heads * molecules, size, size}),
                                       q.view({heads * molecules, size, width}), flat_k, 1.0,
                                       1.0 / std::sqrt(static_cast<double>(width)));
  const Tensor softmax = scores.softmax(-1).view({heads, molecules, size * size});
  Tensor weights = gate.defined() ? softmax * gate : softmax;
  if (group.has_key.defined())
    weights = weights * group.has_key.to(qkv.dtype()).unsqueeze(-1).expand({-1, -1, size}).reshape({1, molecules, -1});
  if (dropout.defined()) weights = weights * dropout;

  Tensor z = torch::bmm(weights.view({heads * molecules, size, size}), v.view({heads * molecules, size, width}))
                 .view({heads, molecules * size, width});
  if (terms.value_table.defined()) {
    const std::int64_t relations = terms.value_table.size(1);
    const Tensor weight_of_relation = sum_by_slot(weights, group.row_slot, size * relations);  // S_i[m] of "Cost"
    z = torch::baddbmm(z, weight_of_relation.view({heads, molecules * size, relations}), terms.value_table);
  }
  if (seen != nullptr) {
    seen->softmax.push_back(softmax.view({heads, molecules, size, size}));
    seen->weights.push_back(weights.view({heads, molecules, size, size}));
  }
  return z.transpose(0, 1).reshape({molecules * size, heads * width});
}

}  // namespace

BatchTerms make_terms(const RelationTables& tables, const Tensor& pair_bias, const AttentionLayout& layout, int heads,
                      int topology_classes, KeyTerm key_term, const torch::TensorOptions& like) {
  BatchTerms terms;
  terms.heads = heads;
  terms.key_term = key_term;
  const auto scaled = [](const Tensor& rows) {  // [M, H, d] -> alpha * [H, d, M]
    if (!rows.defined()) return rows;
    return (rows / std::sqrt(static_cast<double>(rows.size(2)))).permute({1, 2, 0}).contiguous();
  };
  terms.query_table = scaled(relation_rows(tables.topology_query, tables.edge_query, layout, heads));
  terms.key_table = scaled(relation_rows(tables.topology_key, tables.edge_key, layout, heads));
  const Tensor value = relation_rows(tables.topology_value, tables.edge_value, layout, heads);
  if (value.defined()) terms.value_table = value.transpose(0, 1).contiguous();

  const Tensor by_class = tables.spatial.defined() ? bias_by_class(tables.spatial, topology_classes) : Tensor();
  const Tensor by_pair = pair_bias.defined() ? pair_bias.t().unsqueeze(1).contiguous() : Tensor();  // [H, 1, P]
  for (const TokenGroup& group : layout.groups) {
    Tensor bias = key_mask(group, like);
    const std::int64_t molecules = bias.size(1);
    bias = bias.view({1, 1, -1});
    if (by_class.defined()) bias = add_lookup(bias, by_class, group.topology);
    if (by_pair.defined()) bias = add_lookup(bias, by_pair, group.packed_pair);
    terms.bias.push_back(bias.view({bias.size(0), molecules, -1}));
  }
  return terms;
}

std::vector<Tensor> make_gates(const Tensor& gate, bool relu, const AttentionLayout& layout) {
  const Tensor by_class = (relu ? gate.relu() : gate).t().unsqueeze(1);  // [H, 1, T]
  std::vector<Tensor> gates;
  for (const TokenGroup& group : layout.groups)
    gates.push_back(add_lookup(Tensor(), by_class, group.topology)
                        .view({gate.size(1), static_cast<std::int64_t>(group.molecules.size()), -1}));
  return gates;
}

Tensor attention(const Tensor& qkv, const AttentionLayout& layout, const BatchTerms& terms,
                 const std::vector<Tensor>& gates,
                 const std::vector<Tensor>& dropout, AttentionWeights* seen) {
  const std::vector<Tensor> parts = qkv.split_with_sizes(layout.token_counts(), 0);
  std::vector<Tensor> z;
  for (std::size_t g = 0; g < parts.size(); ++g)
    z.push_back(attend_group(parts[g], layout.groups[g], terms, terms.bias[g], gates.empty() ? Tensor() : gates[g],
                             dropout.empty() ? Tensor() : dropout[g], seen));
  return torch::cat(z, 0);
}

}  // namespace molgraph

#include "attention/reference/attention.hpp"

#include <cmath>
#include <limits>

#include "attention/reference/lookup.hpp"

namespace molgraph {
namespace {

using torch::Tensor;

double score_scale(std::int64_t width, int score_terms) {
  return 1.0 / std::sqrt(static_cast<double>(width) * score_terms);
}

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

// b of every class by head, [H, 1, T], or undefined. A table of T - 2 rows is widened by its tied row.
Tensor bias_by_class(const RelationTables& tables, const TermOptions& options) {
  Tensor bias;
  if (tables.spatial.defined()) {
    const Tensor row = torch::arange(options.topology_classes, torch::kInt64).clamp_max(tables.spatial.size(0) - 1);
    bias = tables.spatial.index_select(0, row);
  }
  if (tables.position_bias.defined()) {
    const Tensor products = (tables.topology_query * tables.position_bias).view({options.topology_classes, options.heads, -1});
    const Tensor scaled = products.sum(2) * score_scale(products.size(2), options.score_terms);
    bias = bias.defined() ? bias + scaled : scaled;
  }
  return bias.defined() ? bias.t().unsqueeze(1) : bias;
}

// Rows of the key side per relation, [M, H, d]: PK + EK, and u everywhere.
Tensor key_rows(const RelationTables& tables, const AttentionLayout& layout, int heads) {
  const Tensor rows = relation_rows(tables.topology_key, tables.edge_key, layout, heads);
  if (!tables.content_bias.defined()) return rows;
  const Tensor content = tables.content_bias.view({1, heads, -1});
  return rows.defined() ? rows + content : content.expand({layout.relation_topology.size(0), -1, -1});
}

// query_i.key_j of a group, [H, G, N*N]; both [G*N, H, r].
Tensor products_of_pairs(const Tensor& query, const Tensor& key, const TokenGroup& group) {
  const auto molecules = static_cast<std::int64_t>(group.molecules.size());
  const auto by_head = [&](const Tensor& x) {
    return x.view({molecules, group.size, x.size(1), x.size(2)}).permute({2, 0, 1, 3});
  };
  return torch::matmul(by_head(query), by_head(key).transpose(2, 3)).reshape({query.size(1), molecules, -1});
}

// The relation part of the scores, b_ij included: [H, G, N*N], or [1, G, N*N] if it is the mask alone.
Tensor relation_scores(const TokenGroup& group, const Tensor& bias, const Tensor& key_slot, const BatchTerms& terms,
                       const Tensor& q, const Tensor& k) {
  const std::int64_t heads = q.size(0), molecules = q.size(1), size = q.size(2), width = q.size(3);
  // [H, G*N, d] x [H, d, M] -> [H, G, N*M]: what every token makes of every relation, before pairs are looked at.
  const auto per_relation = [&](const Tensor& token, const Tensor& table) {
    return torch::bmm(token.reshape({heads, molecules * size, width}), table).view({heads, molecules, -1});
  };
  Tensor by_query = terms.query_table.defined() ? per_relation(q, terms.query_table) : Tensor();
  Tensor scores = bias;
  if (terms.key_table.defined()) {
    const Tensor by_key = per_relation(k, terms.key_table);
    if (key_slot.defined()) scores = add_lookup(scores, by_key, key_slot);
    else by_query = by_query.defined() ? by_query + by_key : by_key;
  }
  if (by_query.defined()) scores = add_lookup(scores, by_query, group.row_slot);
  return scores;
}

// The operation on one group; qkv [G*N, 3*C] -> z [G*N, C].
Tensor attend_group(const Tensor& qkv, const TokenGroup& group, const BatchTerms& terms, std::size_t g,
                    const Tensor& gate, const Tensor& dropout, AttentionWeights* seen) {
  const auto molecules = static_cast<std::int64_t>(group.molecules.size());
  const std::int64_t heads = terms.heads, size = group.size, width = qkv.size(1) / (3 * heads);
  const Tensor parts = qkv.view({molecules, size, 3, heads, width}).permute({2, 3, 0, 1, 4}).contiguous();
  const std::vector<Tensor> qkv_parts = parts.unbind(0);
  const Tensor &q = qkv_parts[0], &k = qkv_parts[1], &v = qkv_parts[2];  // [H, G, N, d]

  const Tensor base =
      relation_scores(group, terms.bias[g], terms.key_slot.empty() ? Tensor() : terms.key_slot[g], terms, q, k);
  const Tensor flat_k = k.view({heads * molecules, size, width}).transpose(1, 2);
  const Tensor scores = torch::baddbmm(base.expand({heads, -1, -1}).reshape({heads * molecules, size, size}),
                                       q.view({heads * molecules, size, width}), flat_k, 1.0,
                                       score_scale(width, terms.score_terms));
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

BatchTerms make_terms(const RelationTables& tables, const PairBias& pair_bias, const AttentionLayout& layout,
                      const TermOptions& options, const torch::TensorOptions& like) {
  const int heads = options.heads;
  BatchTerms terms;
  terms.heads = heads;
  terms.score_terms = options.score_terms;
  const auto scaled = [&](const Tensor& rows) {  // [M, H, d] -> alpha * [H, d, M]
    if (!rows.defined()) return rows;
    return (rows * score_scale(rows.size(2), options.score_terms)).permute({1, 2, 0}).contiguous();
  };
  terms.query_table = scaled(relation_rows(tables.topology_query, tables.edge_query, layout, heads));
  terms.key_table = scaled(key_rows(tables, layout, heads));
  const Tensor value = relation_rows(tables.topology_value, tables.edge_value, layout, heads);
  if (value.defined()) terms.value_table = value.transpose(0, 1).contiguous();

  const Tensor by_class = bias_by_class(tables, options);
  const Tensor by_pair = pair_bias.dense.defined() ? pair_bias.dense.t().unsqueeze(1).contiguous() : Tensor();  // [H, 1, P]
  const auto by_group = [&](const Tensor& x) {  // packed tokens -> one tensor per group
    return x.defined() ? x.index_select(0, layout.to_grouped).split_with_sizes(layout.token_counts(), 0) : std::vector<Tensor>();
  };
  const std::vector<Tensor> queries = by_group(pair_bias.query), keys = by_group(pair_bias.key);
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    const TokenGroup& group = layout.groups[g];
    Tensor bias = key_mask(group, like);
    const std::int64_t molecules = bias.size(1), pairs = bias.size(2);
    bias = bias.view({1, 1, -1});
    if (by_class.defined()) bias = add_lookup(bias, by_class, group.topology);
    if (by_pair.defined()) bias = add_lookup(bias, by_pair, group.packed_pair);
    bias = bias.view({bias.size(0), molecules, -1});
    if (!queries.empty()) bias = bias + products_of_pairs(queries[g], keys[g], group);
    terms.bias.push_back(bias);
    if (options.key_term == KeyTerm::column) terms.key_slot.push_back(group.column_slot);
    if (options.key_term == KeyTerm::reverse) {  // row_slot holds j*M + m(j, i) at the pair (j, i)
      const Tensor reversed = group.row_slot.view({molecules, group.size, group.size}).transpose(1, 2);
      terms.key_slot.push_back(reversed.reshape({molecules, pairs}));
    }
  }
  return terms;
}

std::vector<Tensor> make_gates(const Tensor& gate, const Tensor& path, bool relu, const AttentionLayout& layout) {
  const Tensor by_class = gate.t().unsqueeze(1);                                          // [H, 1, T]
  const Tensor by_pair = path.defined() ? path.t().unsqueeze(1).contiguous() : Tensor();  // [H, 1, P]
  std::vector<Tensor> gates;
  for (const TokenGroup& group : layout.groups) {
    Tensor values = add_lookup(Tensor(), by_class, group.topology);
    if (by_pair.defined()) values = add_lookup(values, by_pair, group.packed_pair);
    if (relu) values = values.relu();
    gates.push_back(values.view({gate.size(1), static_cast<std::int64_t>(group.molecules.size()), -1}));
  }
  return gates;
}

Tensor attention(const Tensor& qkv, const AttentionLayout& layout, const BatchTerms& terms,
                 const std::vector<Tensor>& gates,
                 const std::vector<Tensor>& dropout, AttentionWeights* seen) {
  const std::vector<Tensor> parts = qkv.split_with_sizes(layout.token_counts(), 0);
  std::vector<Tensor> z;
  for (std::size_t g = 0; g < parts.size(); ++g)
    z.push_back(attend_group(parts[g], layout.groups[g], terms, g, gates.empty() ? Tensor() : gates[g],
                             dropout.empty() ? Tensor() : dropout[g], seen));
  return torch::cat(z, 0);
}

}  // namespace molgraph

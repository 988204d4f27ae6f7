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

// The rows of a table for every relation, [M, C].
Tensor rows_of_relations(const FilledTable& filled, const AttentionLayout& layout) {
  switch (filled.table.row) {
    case RelationTable::Row::topology: return filled.rows.index_select(0, layout.relation_topology);
    case RelationTable::Row::edge: return filled.rows.index_select(0, layout.relation_edge);
    case RelationTable::Row::walk:
    case RelationTable::Row::all: break;
  }
  return filled.rows.unsqueeze(0).expand({layout.relation_topology.size(0), -1});
}

// The sum of all tables with the same `fills` for every relation, [M, H, d]; undefined if there are none.
Tensor relation_rows(const std::vector<FilledTable>& tables, TermFills fills, const AttentionLayout& layout,
                     int heads) {
  Tensor sum;
  for (const FilledTable& filled : tables) {
    if (filled.table.fills != fills || filled.table.row == RelationTable::Row::walk) continue;
    const Tensor rows = rows_of_relations(filled, layout);
    sum = sum.defined() ? sum + rows : rows;
  }
  return sum.defined() ? sum.reshape({sum.size(0), heads, -1}) : sum;
}

// The table of walk rows with this `fills` [steps, H, d]; undefined if there is none.
Tensor walk_rows(const std::vector<FilledTable>& tables, TermFills fills, int heads) {
  for (const FilledTable& filled : tables)
    if (filled.table.fills == fills && filled.table.row == RelationTable::Row::walk)
      return filled.rows.view({filled.rows.size(0), heads, -1});
  return {};
}

// -inf at masked keys, else 0; [1, G, N*N].
Tensor key_mask(const TokenGroup& group, const torch::TensorOptions& like) {
  const Tensor mask = torch::zeros(group.masked_key.sizes(), like.requires_grad(false));
  return mask.masked_fill_(group.masked_key, -std::numeric_limits<double>::infinity()).unsqueeze(0);
}

// b of every class per head, [H, 1, T], or undefined. In a table with T - 2 rows, the tied row is repeated.
Tensor bias_by_class(const std::vector<FilledTable>& tables, const TermOptions& options) {
  Tensor bias;
  const auto add = [&](const Tensor& rows) { bias = bias.defined() ? bias + rows : rows; };
  for (const FilledTable& filled : tables) {
    if (filled.table.fills == TermFills::bias) {
      const std::int64_t rows = filled.rows.size(0);
      add(options.tied_virtual ? filled.rows.index_select(0, torch::arange(rows + 2, torch::kInt64).clamp_max(rows - 1))
                               : filled.rows);
    }
    if (!filled.position.defined()) continue;
    for (const FilledTable& other : tables) {
      if (other.table.fills != TermFills::query_rows || other.table.row != RelationTable::Row::topology) continue;
      const Tensor products = (other.rows * filled.position).view({other.rows.size(0), options.heads, -1});
      add(products.sum(2) * score_scale(products.size(2), options.score_terms));
    }
  }
  return bias.defined() ? bias.t().unsqueeze(1) : bias;
}

// query_i.key_j of a group, [H, G, N*N]; both [G*N, H, r].
Tensor products_of_pairs(const Tensor& query, const Tensor& key, const TokenGroup& group) {
  const auto molecules = static_cast<std::int64_t>(group.molecules.size());
  const auto by_head = [&](const Tensor& x) {
    return x.view({molecules, group.size, x.size(1), x.size(2)}).permute({2, 0, 1, 3});
  };
  return torch::matmul(by_head(query), by_head(key).transpose(2, 3)).reshape({query.size(1), molecules, -1});
}

// Values of pairs, group by group: a value per topology class plus the pair terms.
class PairSums {
 public:
  // `by_class` [H, 1, T] or undefined.
  PairSums(const Tensor& by_class, const std::vector<PairValues>& added, const AttentionLayout& layout)
      : by_class_(by_class) {
    const auto by_group = [&](const Tensor& x) {  // packed tokens -> one tensor per group
      return x.index_select(0, layout.to_grouped).split_with_sizes(layout.token_counts(), 0);
    };
    for (const PairValues& values : added) {
      if (values.dense.defined()) dense_.push_back(values.dense.t().unsqueeze(1).contiguous());  // [H, 1, P]
      if (values.query.defined()) factors_.emplace_back(by_group(values.query), by_group(values.key));
    }
  }

  // Adds all values to `sum` [1 or H, 1, G*N*N] of group `g`, which may be undefined; returns [1 or H, G, N*N].
  Tensor add_to(Tensor sum, const TokenGroup& group, std::size_t g) const {
    if (by_class_.defined()) sum = add_lookup(sum, by_class_, group.topology);
    for (const Tensor& values : dense_) sum = add_lookup(sum, values, group.packed_pair);
    const auto molecules = static_cast<std::int64_t>(group.molecules.size());
    sum = sum.view({sum.size(0), molecules, -1});
    for (const auto& [query, key] : factors_) sum = sum + products_of_pairs(query[g], key[g], group);
    return sum;
  }

 private:
  Tensor by_class_;
  std::vector<Tensor> dense_;
  std::vector<std::pair<std::vector<Tensor>, std::vector<Tensor>>> factors_;
};

// The relation part of the scores, including b_ij: [H, G, N*N], or [1, G, N*N] if it is only the mask.
Tensor relation_scores(const TokenGroup& group, const Tensor& bias, const Tensor& key_slot, const BatchTerms& terms,
                       const Tensor& q, const Tensor& k) {
  const std::int64_t heads = q.size(0), molecules = q.size(1), size = q.size(2), width = q.size(3);
  // [H, G*N, d] x [H, d, M] -> [H, G, N*M]: products of every token with every relation, before the look-up per pair.
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

// sum_t (x_i.table[t]) r_ij[t] for pairs (i, j), with x_j instead of x_i if `by_key`: [H, G, N*N]. x [H, G, N, d],
// table [H, d, steps], walks [G, N, N, steps].
Tensor walk_scores(const Tensor& x, const Tensor& table, const Tensor& walks, bool by_key) {
  const Tensor products = torch::matmul(x, table.unsqueeze(1));  // [H, G, N, steps]
  const Tensor scores = torch::einsum(by_key ? "hgjs,gijs->hgij" : "hgis,gijs->hgij", {products, walks});
  return scores.reshape({x.size(0), x.size(1), -1});
}

// Attention of one group; qkv [G*N, 3*C] -> z [G*N, C].
Tensor attend_group(const Tensor& qkv, const TokenGroup& group, const BatchTerms& terms, std::size_t g,
                    const Tensor& gate, const Tensor& dropout, PairStates* pairs) {
  const auto molecules = static_cast<std::int64_t>(group.molecules.size());
  const std::int64_t heads = terms.heads, size = group.size, width = qkv.size(1) / (3 * heads);
  const Tensor parts = qkv.view({molecules, size, 3, heads, width}).permute({2, 3, 0, 1, 4}).contiguous();
  const std::vector<Tensor> qkv_parts = parts.unbind(0);
  const Tensor &q = qkv_parts[0], &k = qkv_parts[1], &v = qkv_parts[2];  // [H, G, N, d]

  Tensor base =
      relation_scores(group, terms.bias[g], terms.key_slot.empty() ? Tensor() : terms.key_slot[g], terms, q, k);
  if (terms.walk_query.defined()) base = base + walk_scores(q, terms.walk_query, terms.walks[g], false);
  if (terms.walk_key.defined()) base = base + walk_scores(k, terms.walk_key, terms.walks[g], true);
  if (pairs != nullptr) base = base + pairs->bias_of(g);
  const Tensor flat_k = k.view({heads * molecules, size, width}).transpose(1, 2);
  const Tensor scores =
      torch::baddbmm(base.expand({heads, -1, -1}).reshape({heads * molecules, size, size}),
                     q.view({heads * molecules, size, width}), flat_k, 1.0, score_scale(width, terms.score_terms));
  const Tensor softmax = scores.softmax(-1).view({heads, molecules, size * size});
  Tensor weights = gate.defined() ? softmax * gate : softmax;
  if (group.has_key.defined())
    weights = weights * group.has_key.to(qkv.dtype()).unsqueeze(-1).expand({-1, -1, size}).reshape({1, molecules, -1});
  if (dropout.defined()) weights = weights * dropout;

  Tensor z = torch::bmm(weights.view({heads * molecules, size, size}), v.view({heads * molecules, size, width}))
                 .view({heads, molecules * size, width});
  if (terms.value_table.defined()) {
    const std::int64_t relations = terms.value_table.size(1);
    const Tensor weight_of_relation =
        sum_by_slot(weights, group.row_slot, size * relations);  // S_i[m] of formula.md section 2
    z = torch::baddbmm(z, weight_of_relation.view({heads, molecules * size, relations}), terms.value_table);
  }
  if (terms.walk_value.defined()) {
    const Tensor walked = torch::einsum(
        "hgij,gijs->hgis", {weights.view({heads, molecules, size, size}), terms.walks[g]});  // sum over j of w_ij r_ij
    z = torch::baddbmm(z, walked.reshape({heads, molecules * size, -1}), terms.walk_value);
  }
  if (pairs != nullptr) {
    z = z + pairs->values_of(weights, group, g);
    pairs->add(scores.view({heads, molecules, size * size}), softmax, group, g);
  }
  return z.transpose(0, 1).reshape({molecules * size, heads * width});
}

}  // namespace

BatchTerms make_terms(const std::vector<FilledTable>& tables, const std::vector<PairValues>& added,
                      const AttentionLayout& layout, const TermOptions& options, const torch::TensorOptions& like,
                      const Tensor& walks) {
  const int heads = options.heads;
  BatchTerms terms;
  terms.heads = heads;
  terms.score_terms = options.score_terms;
  const auto scaled = [&](const Tensor& rows) {  // [M, H, d] -> alpha * [H, d, M]
    if (!rows.defined()) return rows;
    return (rows * score_scale(rows.size(2), options.score_terms)).permute({1, 2, 0}).contiguous();
  };
  terms.query_table = scaled(relation_rows(tables, TermFills::query_rows, layout, heads));
  terms.key_table = scaled(relation_rows(tables, TermFills::key_rows, layout, heads));
  const Tensor value = relation_rows(tables, TermFills::value_rows, layout, heads);
  if (value.defined()) terms.value_table = value.transpose(0, 1).contiguous();
  terms.walk_query = scaled(walk_rows(tables, TermFills::query_rows, heads));
  terms.walk_key = scaled(walk_rows(tables, TermFills::key_rows, heads));
  const Tensor walk_value = walk_rows(tables, TermFills::value_rows, heads);
  if (walk_value.defined()) terms.walk_value = walk_value.transpose(0, 1).contiguous();

  const PairSums bias(bias_by_class(tables, options), added, layout);
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    const TokenGroup& group = layout.groups[g];
    const auto molecules = static_cast<std::int64_t>(group.molecules.size());
    if (terms.walk_query.defined() || terms.walk_key.defined() || walk_value.defined())
      terms.walks.push_back(walks.index_select(0, group.packed_pair.view({-1}).to(torch::kInt64))
                                .view({molecules, group.size, group.size, -1}));
    terms.bias.push_back(bias.add_to(key_mask(group, like).view({1, 1, -1}), group, g));
    if (options.key_term == KeyTerm::column) terms.key_slot.push_back(group.column_slot);
    if (options.key_term == KeyTerm::reverse) {  // row_slot is j*M + m(j, i) at the pair (j, i)
      const Tensor reversed = group.row_slot.view({molecules, group.size, group.size}).transpose(1, 2);
      terms.key_slot.push_back(reversed.reshape({molecules, -1}));
    }
  }
  return terms;
}

std::vector<Tensor> make_gates(const std::vector<FilledTable>& tables, const std::vector<PairValues>& added, bool relu,
                               const AttentionLayout& layout) {
  Tensor by_class;
  for (const FilledTable& filled : tables) by_class = by_class.defined() ? by_class + filled.rows : filled.rows;
  const PairSums sums(by_class.t().unsqueeze(1), added, layout);  // [H, 1, T]
  std::vector<Tensor> gates;
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    const Tensor values = sums.add_to({}, layout.groups[g], g);
    gates.push_back(relu ? values.relu() : values);
  }
  return gates;
}

Tensor attention(const Tensor& qkv, const AttentionLayout& layout, const BatchTerms& terms,
                 const std::vector<Tensor>& gates, const std::vector<Tensor>& dropout, PairStates* pairs) {
  const std::vector<Tensor> parts = qkv.split_with_sizes(layout.token_counts(), 0);
  std::vector<Tensor> z;
  for (std::size_t g = 0; g < parts.size(); ++g)
    z.push_back(attend_group(parts[g], layout.groups[g], terms, g, gates.empty() ? Tensor() : gates[g],
                             dropout.empty() ? Tensor() : dropout[g], pairs));
  return torch::cat(z, 0);
}

}  // namespace molgraph

#include "attention/formula/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace molgraph::formula {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

double by_head(const std::vector<Matrix>& values, int head, std::int64_t i, std::int64_t j, double otherwise) {
  return values.empty() ? otherwise : values[static_cast<std::size_t>(head)](i, j);
}

/// Sum over the elements of a pair's vector of rows[t] vectors[t](i, j); 0 if the table is switched off.
double walked(const Matrix& rows, const std::vector<Matrix>& walks, std::int64_t i, std::int64_t j,
              std::int64_t column) {
  double sum = 0;
  for (std::int64_t t = 0; t < rows.rows; ++t) sum += rows(t, column) * walks[static_cast<std::size_t>(t)](i, j);
  return sum;
}

double score(const Matrix& q, const Matrix& k, const PairClasses& classes, const AttentionTerms& terms, int head,
             std::int64_t i, std::int64_t j) {
  const RelationTables& w = terms.tables;
  const bool reverse = terms.key_term == KeyTerm::reverse;
  const std::int64_t x = terms.key_term == KeyTerm::row ? i : j;
  const int t = classes.topology(i, j), t_key = reverse ? classes.topology(j, i) : t;
  const int e = classes.edge(i, j), e_key = reverse ? classes.edge(j, i) : e;
  const std::int64_t d = q.columns / terms.heads;

  double sum = 0;
  for (std::int64_t c = head * d; c < (head + 1) * d; ++c) {
    sum += q(i, c) * k(j, c);
    sum += q(i, c) * (number(w.topology_query, t, c) + number(w.edge_query, e, c));
    sum += k(x, c) * (number(w.topology_key, t_key, c) + number(w.edge_key, e_key, c) + number(w.content_bias, 0, c));
    sum += number(w.position_bias, 0, c) * number(w.topology_query, t, c);
    sum += q(i, c) * walked(w.walk_query, terms.walks, i, j, c) + k(j, c) * walked(w.walk_key, terms.walks, i, j, c);
  }
  const double alpha = 1.0 / std::sqrt(static_cast<double>(d * terms.score_terms));
  const std::int64_t bias_row = std::min<std::int64_t>(t, w.spatial.rows - 1);
  return alpha * sum + number(w.spatial, bias_row, head) + by_head(terms.bias, head, i, j, 0.0);
}

}  // namespace

Matrix attention_scores(const Matrix& q, const Matrix& k, const PairClasses& classes, const AttentionTerms& terms,
                        int head) {
  Matrix s(q.rows, q.rows);
  for (std::int64_t i = 0; i < s.rows; ++i)
    for (std::int64_t j = 0; j < s.columns; ++j) {
      const bool masked = !classes.masked.empty() && classes.masked(i, j) != 0;
      s(i, j) = masked ? kMasked : score(q, k, classes, terms, head, i, j);
    }
  return s;
}

Matrix softmax(const Matrix& scores) {
  Matrix a(scores.rows, scores.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double largest = kMasked, total = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) largest = std::max(largest, scores(i, j));
    if (largest == kMasked) continue;
    for (std::int64_t j = 0; j < a.columns; ++j) total += a(i, j) = std::exp(scores(i, j) - largest);
    for (std::int64_t j = 0; j < a.columns; ++j) a(i, j) /= total;
  }
  return a;
}

Matrix attention_weights(const Matrix& softmaxed, const AttentionTerms& terms, int head) {
  Matrix w = softmaxed;
  for (std::int64_t i = 0; i < w.rows; ++i)
    for (std::int64_t j = 0; j < w.columns; ++j)
      w(i, j) *= by_head(terms.gate, head, i, j, 1.0) * by_head(terms.dropout, head, i, j, 1.0);
  return w;
}

Matrix attention_head(const Matrix& q, const Matrix& k, const Matrix& v, const PairClasses& classes,
                      const AttentionTerms& terms, int head) {
  const Matrix w = attention_weights(softmax(attention_scores(q, k, classes, terms, head)), terms, head);
  const std::int64_t n = v.rows, d = v.columns / terms.heads;
  Matrix z(n, d);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t c = 0; c < d; ++c) {
        const std::int64_t column = head * d + c;
        const double value = v(j, column) + number(terms.tables.topology_value, classes.topology(i, j), column) +
                             number(terms.tables.edge_value, classes.edge(i, j), column) +
                             walked(terms.tables.walk_value, terms.walks, i, j, column) +
                             walked(terms.pair_value, terms.pair_states, i, j, column);
        z(i, c) += w(i, j) * value;
      }
  return z;
}

Matrix attention(const Matrix& q, const Matrix& k, const Matrix& v, const PairClasses& classes,
                 const AttentionTerms& terms) {
  Matrix z(v.rows, v.columns);
  const std::int64_t d = v.columns / terms.heads;
  for (int head = 0; head < terms.heads; ++head) {
    const Matrix own = attention_head(q, k, v, classes, terms, head);
    for (std::int64_t i = 0; i < z.rows; ++i)
      for (std::int64_t c = 0; c < d; ++c) z(i, head * d + c) = own(i, c);
  }
  return z;
}

}  // namespace molgraph::formula

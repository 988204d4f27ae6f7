// The attention of one molecule in plain loops, forward and backward, in float or double, and its inputs as a kernel
// receives them, with numbered relations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/spec/options.hpp"

namespace molgraph::test {

/// n tokens, H heads of width d, C = H*d (head h has the channels h*d .. h*d + d - 1), M relations. Empty = the term is
/// off.
struct AttentionCase {
  std::size_t tokens = 0, heads = 0, head_width = 0, relations = 0;
  std::size_t queries = 0;  ///< number of leading tokens that are queries
  float scale = 1;          ///< alpha
  KeyTerm key_term = KeyTerm::column;
  std::vector<float> q, k, v;                           ///< [n, C]
  std::vector<float> query_rows, key_rows, value_rows;  ///< [M, C]
  std::vector<int> relation;                            ///< [n, n]
  std::size_t steps = 0;                                ///< K of the walks
  std::vector<float> walks;                             ///< [n, n, K]
  std::vector<float> walk_query, walk_key, walk_value;  ///< [K, C]
  std::vector<float> bias, gate;                        ///< [H, n, n]
  std::vector<char> masked;                             ///< [n, n]
  std::vector<char> kept;                               ///< [H, n, n] entries that dropout keeps
  float keep_scale = 1;
  std::vector<float> dz;  ///< [queries, C]

  std::size_t width() const { return heads * head_width; }
  std::size_t pair(std::size_t i, std::size_t j) const { return i * tokens + j; }
  std::size_t pair(std::size_t h, std::size_t i, std::size_t j) const { return (h * tokens + i) * tokens + j; }
  /// The token whose key the key term multiplies, and the relation that selects its row.
  std::size_t key_token(std::size_t i, std::size_t j) const { return key_term == KeyTerm::row ? i : j; }
  int key_relation(std::size_t i, std::size_t j) const {
    return relation[key_term == KeyTerm::reverse ? pair(j, i) : pair(i, j)];
  }
};

template <class T>
struct AttentionResult {
  std::vector<T> z;                                    ///< [queries, C]
  std::vector<T> dq, dk, dv;                           ///< [n, C]
  std::vector<T> dquery_rows, dkey_rows, dvalue_rows;  ///< [M, C]
  std::vector<T> dwalk_query, dwalk_key, dwalk_value;  ///< [K, C]
  std::vector<T> dbias, dgate;                         ///< [H, n, n]
};

template <class T>
AttentionResult<T> plain_attention(const AttentionCase& c) {
  const std::size_t n = c.tokens, width = c.width();
  AttentionResult<T> r;
  r.z.resize(c.queries * width);
  for (auto* by_token : {&r.dq, &r.dk, &r.dv}) by_token->resize(n * width);
  for (auto* rows : {&r.dquery_rows, &r.dkey_rows, &r.dvalue_rows}) rows->resize(c.relations * width);
  for (auto* rows : {&r.dwalk_query, &r.dwalk_key, &r.dwalk_value}) rows->resize(c.steps * width);
  for (auto* pairs : {&r.dbias, &r.dgate}) pairs->resize(c.heads * n * n);
  const auto row = [&](const std::vector<float>& table, int m, std::size_t channel) {
    return table.empty() ? T(0) : static_cast<T>(table[static_cast<std::size_t>(m) * width + channel]);
  };
  const auto walked = [&](const std::vector<float>& table, std::size_t i, std::size_t j, std::size_t channel) {
    T sum = 0;
    for (std::size_t t = 0; t < c.steps && !table.empty(); ++t)
      sum += static_cast<T>(c.walks[c.pair(i, j) * c.steps + t]) * static_cast<T>(table[t * width + channel]);
    return sum;
  };
  for (std::size_t h = 0; h < c.heads; ++h)
    for (std::size_t i = 0; i < c.queries; ++i) {
      const std::size_t first = h * c.head_width, last = first + c.head_width;
      std::vector<T> a(n), factor(n), w(n), da(n);
      T largest = -std::numeric_limits<T>::infinity(), total = 0;
      for (std::size_t j = 0; j < n; ++j) {
        T s = 0;
        for (std::size_t x = first; x < last; ++x) {
          s += static_cast<T>(c.q[i * width + x]) *
               (static_cast<T>(c.k[j * width + x]) + row(c.query_rows, c.relation[c.pair(i, j)], x) +
                walked(c.walk_query, i, j, x));
          s += static_cast<T>(c.k[j * width + x]) * walked(c.walk_key, i, j, x);
          s += static_cast<T>(c.k[c.key_token(i, j) * width + x]) * row(c.key_rows, c.key_relation(i, j), x);
        }
        a[j] = static_cast<T>(c.scale) * s + (c.bias.empty() ? T(0) : static_cast<T>(c.bias[c.pair(h, i, j)]));
        if (!c.masked.empty() && c.masked[c.pair(i, j)] != 0) a[j] = -std::numeric_limits<T>::infinity();
        largest = std::max(largest, a[j]);
      }
      for (T& value : a)
        total += value = largest == -std::numeric_limits<T>::infinity() ? T(0) : std::exp(value - largest);
      for (std::size_t j = 0; j < n; ++j) {
        a[j] = total > 0 ? a[j] / total : T(0);
        const bool kept = c.kept.empty() || c.kept[c.pair(h, i, j)] != 0;
        factor[j] = (c.gate.empty() ? T(1) : static_cast<T>(c.gate[c.pair(h, i, j)])) *
                    (kept ? static_cast<T>(c.keep_scale) : T(0));
        w[j] = a[j] * factor[j];
        for (std::size_t x = first; x < last; ++x)
          r.z[i * width + x] += w[j] * (static_cast<T>(c.v[j * width + x]) +
                                        row(c.value_rows, c.relation[c.pair(i, j)], x) + walked(c.walk_value, i, j, x));
      }
      // Backward pass.
      T mean = 0;
      for (std::size_t j = 0; j < n; ++j) {
        T dw = 0;
        for (std::size_t x = first; x < last; ++x) {
          const T dz = c.dz[i * width + x];
          dw += dz * (static_cast<T>(c.v[j * width + x]) + row(c.value_rows, c.relation[c.pair(i, j)], x) +
                      walked(c.walk_value, i, j, x));
          for (std::size_t t = 0; t < c.steps; ++t)
            r.dwalk_value[t * width + x] += w[j] * dz * static_cast<T>(c.walks[c.pair(i, j) * c.steps + t]);
          r.dv[j * width + x] += w[j] * dz;
          r.dvalue_rows[static_cast<std::size_t>(c.relation[c.pair(i, j)]) * width + x] += w[j] * dz;
        }
        da[j] = dw * factor[j];
        const bool kept = c.kept.empty() || c.kept[c.pair(h, i, j)] != 0;
        r.dgate[c.pair(h, i, j)] = kept ? dw * static_cast<T>(c.keep_scale) * a[j] : T(0);
        mean += da[j] * a[j];
      }
      for (std::size_t j = 0; j < n; ++j) {
        const T ds = a[j] * (da[j] - mean), slope = static_cast<T>(c.scale) * ds;
        r.dbias[c.pair(h, i, j)] = ds;
        const std::size_t other = c.key_token(i, j);
        const int m = c.relation[c.pair(i, j)], m_key = c.key_relation(i, j);
        for (std::size_t x = first; x < last; ++x) {
          const T q = c.q[i * width + x];
          r.dq[i * width + x] +=
              slope * (static_cast<T>(c.k[j * width + x]) + row(c.query_rows, m, x) + walked(c.walk_query, i, j, x));
          r.dk[j * width + x] += slope * (q + walked(c.walk_key, i, j, x));
          for (std::size_t t = 0; t < c.steps; ++t) {
            const T flow = slope * static_cast<T>(c.walks[c.pair(i, j) * c.steps + t]);
            r.dwalk_query[t * width + x] += flow * q;
            r.dwalk_key[t * width + x] += flow * static_cast<T>(c.k[j * width + x]);
          }
          r.dk[other * width + x] += slope * row(c.key_rows, m_key, x);
          r.dquery_rows[static_cast<std::size_t>(m) * width + x] += slope * q;
          r.dkey_rows[static_cast<std::size_t>(m_key) * width + x] += slope * static_cast<T>(c.k[other * width + x]);
        }
      }
    }
  return r;
}

}  // namespace molgraph::test

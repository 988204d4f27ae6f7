#include "attention/formula/pair_terms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attention/formula/node_positions.hpp"
#include "attention/formula/pair_vectors.hpp"
#include "attention/spec/node_positions.hpp"

namespace molgraph::formula {
namespace {

std::vector<Matrix> zeros(std::int64_t heads, std::int64_t tokens) {
  return std::vector<Matrix>(static_cast<std::size_t>(heads), Matrix(tokens, tokens));
}

/// Adds `terms` to `to`; either may be empty.
void add(std::vector<Matrix>& to, const std::vector<Matrix>& terms) {
  if (to.empty()) to = terms;
  else
    for (std::size_t h = 0; h < terms.size(); ++h) to[h] = sum(to[h], terms[h]);
}

/// Follows all shortest paths from j back to i and sums the values of their hops.
class PathWalk {
 public:
  PathWalk(const Molecule& molecule, const Matrix& hop_table, std::int64_t hops, PathRule rule)
      : molecule_(molecule), table_(hop_table), hops_(hops), rule_(rule) {}

  /// Mean over the paths of their sums over hops, per head.
  std::vector<double> mean(std::int64_t i, std::int64_t j) {
    total_.assign(static_cast<std::size_t>(table_.columns), 0.0);
    paths_ = 0;
    walk(i, j, std::vector<double>(total_.size(), 0.0));
    for (double& value : total_) value /= static_cast<double>(paths_);
    return total_;
  }

 private:
  /// `path_sum`: sum of the values of the hops between `atom` and the path's end.
  void walk(std::int64_t i, std::int64_t atom, const std::vector<double>& path_sum) {
    if (atom == i) {
      for (std::size_t h = 0; h < path_sum.size(); ++h) total_[h] += path_sum[h];
      ++paths_;
      return;
    }
    const std::int64_t hop = molecule_.topology(i, atom);  // the bond that ends at `atom` is hop number `hop`
    const std::int64_t bond_ids = table_.rows / hops_;
    for (std::int64_t u = 1; u < molecule_.tokens(); ++u) {
      if (!molecule_.bonded(u, atom) || molecule_.topology(i, u) != hop - 1) continue;
      std::vector<double> extended = path_sum;
      for (std::size_t h = 0; h < extended.size() && hop <= hops_; ++h)
        extended[h] += table_((hop - 1) * bond_ids + molecule_.edge(u, atom), static_cast<std::int64_t>(h));
      walk(i, u, extended);
      if (rule_ == PathRule::single) return;
    }
  }

  const Molecule& molecule_;
  const Matrix& table_;
  std::int64_t hops_;
  PathRule rule_;
  std::vector<double> total_;
  std::int64_t paths_ = 0;
};

/// P_Q or P_K of every token [N, H*rank].
Matrix places(const Molecule& molecule, const Matrix& row, const Matrix& walk) {
  const Matrix walked = linear(random_walk(molecule, walk.rows), transposed(walk), {});
  Matrix place(molecule.tokens(), row.columns);
  for (std::int64_t i = 0; i < place.rows; ++i) {
    const std::int64_t own = i == 0 ? kAbsoluteRows - 1 : std::min(molecule.degree(i), kAbsoluteLastDegree);
    for (std::int64_t c = 0; c < place.columns; ++c) place(i, c) = row(own, c) + walked(i, c);
  }
  return place;
}

}  // namespace

Matrix hop_table(const Matrix& bond, const Matrix& hop_weight, Features features) {
  const std::vector<std::vector<int>> rows = rows_of_bond_ids(features);
  const std::int64_t heads = bond.columns, hops = hop_weight.rows / heads, ids = static_cast<std::int64_t>(rows.size());
  Matrix mean(ids, heads);
  for (std::int64_t id = 0; id < ids; ++id)
    for (const int row : rows[static_cast<std::size_t>(id)])
      for (std::int64_t h = 0; h < heads; ++h)
        mean(id, h) += bond(row, h) / static_cast<double>(rows[static_cast<std::size_t>(id)].size());
  Matrix table(hops * ids, heads);
  for (std::int64_t p = 0; p < hops; ++p)
    for (std::int64_t id = 0; id < ids; ++id)
      for (std::int64_t in = 0; in < heads; ++in)
        for (std::int64_t h = 0; h < heads; ++h) table(p * ids + id, h) += mean(id, in) * hop_weight(p * heads + in, h);
  return table;
}

std::vector<Matrix> path_values(const Molecule& molecule, const Matrix& bond, const Matrix& hop_weight, PathRule rule) {
  const std::int64_t heads = bond.columns, hops = hop_weight.rows / heads, n = molecule.tokens();
  const Matrix table = hop_table(bond, hop_weight, molecule.batch().features);
  PathWalk walk(molecule, table, hops, rule);
  std::vector<Matrix> path = zeros(heads, n);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 1; j < n; ++j) {
      if (i == j || molecule.topology(i, j) == kUnreachable) continue;
      const std::vector<double> sum_of_hops = walk.mean(i, j);
      const double counted = static_cast<double>(std::min<std::int64_t>(molecule.topology(i, j), hops));  // m'
      for (std::size_t h = 0; h < path.size(); ++h) path[h](i, j) = sum_of_hops[h] / counted;
    }
  return path;
}

std::vector<Matrix> absolute_values(const Molecule& molecule, const Parameters& parameters, const std::string& owner,
                                    int heads) {
  const Matrix query = places(molecule, parameters.at(owner + "query_row"), parameters.at(owner + "query_walk"));
  const Matrix key = places(molecule, parameters.at(owner + "key_row"), parameters.at(owner + "key_walk"));
  const std::int64_t n = molecule.tokens(), rank = query.columns / heads;
  std::vector<Matrix> bias = zeros(heads, n);
  for (int h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t c = h * rank; c < (h + 1) * rank; ++c)
          bias[static_cast<std::size_t>(h)](i, j) += query(i, c) * key(j, c);
  return bias;
}

Matrix resistance(const Molecule& molecule) {
  const std::int64_t n = molecule.tokens();
  Matrix r(n, n, -1.0);
  for (std::int64_t ground = 1; ground < n; ++ground) {
    std::vector<std::int64_t> fragment;  // the fragment of `ground`, which has potential 0, without `ground`
    for (std::int64_t i = 1; i < n; ++i)
      if (i != ground && molecule.topology(i, ground) != kUnreachable) fragment.push_back(i);
    const auto size = static_cast<std::int64_t>(fragment.size());
    Matrix system(size,
                  2 * size);  // Kirchhoff: the Laplacian without the ground, and a unit current for each atom
    for (std::int64_t a = 0; a < size; ++a) {
      system(a, size + a) = 1.0;
      for (std::int64_t b = 0; b < size; ++b)
        system(a, b) =
            molecule.bonded(fragment[static_cast<std::size_t>(a)], fragment[static_cast<std::size_t>(b)]) ? -1.0 : 0.0;
      for (std::int64_t j = 1; j < n; ++j)
        system(a, a) += molecule.bonded(fragment[static_cast<std::size_t>(a)], j) ? 1.0 : 0.0;
    }
    for (std::int64_t pivot = 0; pivot < size; ++pivot)  // Gauss-Jordan elimination; the matrix is positive definite
      for (std::int64_t a = 0; a < size; ++a) {
        if (a == pivot) continue;
        const double factor = system(a, pivot) / system(pivot, pivot);
        for (std::int64_t c = pivot; c < 2 * size; ++c) system(a, c) -= factor * system(pivot, c);
      }
    for (std::int64_t a = 0; a < size; ++a)
      r(fragment[static_cast<std::size_t>(a)], ground) = system(a, size + a) / system(a, a);
    r(ground, ground) = 0.0;
  }
  return r;
}

std::vector<Matrix> resistance_values(const Molecule& molecule, const Matrix& mean, const Matrix& width,
                                      const Matrix& weight) {
  const Matrix r = resistance(molecule);
  std::vector<Matrix> bias = zeros(weight.columns, molecule.tokens());
  for (std::size_t h = 0; h < bias.size(); ++h)
    for (std::int64_t i = 1; i < r.rows; ++i)
      for (std::int64_t j = 1; j < r.columns; ++j)
        for (std::int64_t k = 0; k < weight.rows && r(i, j) >= 0; ++k) {
          const double deviation = std::abs(width(0, k)) + 0.01, distance = (r(i, j) - mean(0, k)) / deviation;
          bias[h](i, j) += weight(k, static_cast<std::int64_t>(h)) * std::exp(-distance * distance / 2) /
                           (std::sqrt(2 * std::numbers::pi) * deviation);
        }
  return bias;
}

std::vector<Matrix> walk_values(const Molecule& molecule, const PairVector& vector, const Matrix& weight) {
  const std::vector<Matrix> r = pair_vectors(molecule, vector);
  std::vector<Matrix> values = zeros(weight.columns, molecule.tokens());
  for (std::size_t h = 0; h < values.size(); ++h)
    for (std::int64_t t = 0; t < weight.rows; ++t)
      for (std::int64_t i = 1; i < molecule.tokens(); ++i)
        for (std::int64_t j = 1; j < molecule.tokens(); ++j)
          values[h](i, j) += r[static_cast<std::size_t>(t)](i, j) * weight(t, static_cast<std::int64_t>(h));
  return values;
}

namespace {

std::vector<Matrix> pair_term(const PairTerm& term, const Molecule& molecule, const ModelPlan& plan,
                              const Parameters& parameters) {
  switch (term.kind) {
    case PairTerm::Kind::path:
      return path_values(molecule, parameters.at(term.prefix + "bond"), parameters.at(term.prefix + "hop_weight"),
                         plan.pack.path_rule);
    case PairTerm::Kind::absolute: return absolute_values(molecule, parameters, term.prefix, plan.encoder.heads);
    case PairTerm::Kind::walk: return walk_values(molecule, term.vector, parameters.at(term.prefix + "weight"));
    case PairTerm::Kind::resistance: break;
  }
  return resistance_values(molecule, parameters.at(term.prefix + "mean"), parameters.at(term.prefix + "width"),
                           parameters.at(term.prefix + "weight"));
}

}  // namespace

std::vector<Matrix> pair_terms_of(TermFills fills, int layer, const Molecule& molecule, const ModelPlan& plan,
                                  const Parameters& parameters) {
  std::vector<Matrix> all;
  for (const PairTerm& term : pair_terms(plan))
    if (term.fills == fills && (term.layer < 0 || term.layer == layer))
      add(all, pair_term(term, molecule, plan, parameters));
  return all;
}

std::vector<Matrix> gate(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                         const Parameters& parameters, int layer) {
  const GateOptions& options = plan.encoder.gate;
  if (!options.enabled) return {};
  const Matrix& table = parameters.at(owner_prefix("encoder.", options.per_layer ? layer : -1) + "gate");
  std::vector<Matrix> gates = zeros(table.columns, molecule.tokens());
  for (std::size_t h = 0; h < gates.size(); ++h)
    for (std::int64_t i = 0; i < gates[h].rows; ++i)
      for (std::int64_t j = 0; j < gates[h].columns; ++j)
        gates[h](i, j) = table(classes.topology(i, j), static_cast<std::int64_t>(h));
  add(gates, pair_terms_of(TermFills::gate, layer, molecule, plan, parameters));
  if (options.relu)
    for (Matrix& gate_of_head : gates)
      for (double& value : gate_of_head.values) value = std::max(value, 0.0);
  return gates;
}

}  // namespace molgraph::formula

// Numbers per pair of tokens that no table of classes holds: the edge-path term, the absolute bias, and URPE's gate.
// All of them are by head: [H] matrices [N, N].
#pragma once

#include <vector>

#include "attention/formula/molecule.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::formula {

/// What a path pays for its p-th hop over a bond, T[p][bond id] = Ebar[bond id] W[p]: row (p - 1)*bond_ids + id,
/// [hops*bond_ids, H]. `bond` [sum of bond_dims, H]: Ebar is the mean of the rows of the bond's columns. `hop_weight` W
/// [hops*H, H], input head first.
Matrix hop_table(const Matrix& bond, const Matrix& hop_weight, Features features);

/// The edge-path term (Ying et al. 2021, eq. 7; docs/models/formula.md section 3): for atoms i, j at distance m,
///     path_ij = mean over the shortest paths from i to j of (1/m') sum over hops p = 1..m' of T[p][bond p]
///     m' = min(m, hops), bond p the path's p-th bond;
/// or of one path only (PathRule::single: the one through the smallest predecessors). 0 for i = j, unreachable pairs
/// and token 0. Every path is walked: the time grows with their number, which rings in a row double each.
std::vector<Matrix> path_values(const Molecule& molecule, const Matrix& bond, const Matrix& hop_weight, PathRule rule);

/// The absolute bias P_Q(i).P_K(j) (Chen et al. 2021, eq. 1; docs/models/formula.md section 5). A token's place P
/// [H*rank] is its row of `query_row` (or key) by degree, the last row for token 0, plus its random walk [steps] times
/// `query_walk` [steps, H*rank]. `owner` is what the parameters' names begin with: "encoder.absolute.".
std::vector<Matrix> absolute_values(const Molecule& molecule, const Parameters& parameters, const std::string& owner,
                                    int heads);

/// R_ij, the resistance between two atoms when every bond is a resistor of 1: the potential at i when a current of 1
/// enters at i and leaves at j, which is grounded. 0 at i = j, -1 at token 0 and between fragments. [N, N]
Matrix resistance(const Molecule& molecule);

/// Gaussians of the resistance distance (Zhang et al. 2023, section 4; docs/models/formula.md section 5): sum_k
/// weight[k] G_k(R_ij), G_k the normal density of mean[k] and deviation |width[k]| + 0.01. `mean`, `width` [1, K],
/// `weight` [K, H]. 0 where there is no R.
std::vector<Matrix> resistance_values(const Molecule& molecule, const Matrix& mean, const Matrix& width,
                                      const Matrix& weight);

/// sum_t weight[t] r_ij[t], r the vectors of formula/pair_vectors.hpp (Ma et al. 2023, section 3.1;
/// docs/models/formula.md section 5). `weight` [steps, H].
std::vector<Matrix> walk_values(const Molecule& molecule, const PairVector& vector, const Matrix& weight);

/// The sum of those terms of the model (spec/terms.hpp) that fill a layer's b_ij, or its gate, beside the tables by
/// class. Empty if there is none.
std::vector<Matrix> pair_terms_of(TermFills fills, int layer, const Molecule& molecule, const ModelPlan& plan,
                                  const Parameters& parameters);

/// URPE's gate in a layer (Luo et al. 2022, eq. 8; docs/models/formula.md section 4): C_ij = gate[t_ij] + path_ij of
/// its own, through ReLU if asked for. Empty if the model has none.
std::vector<Matrix> gate(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                         const Parameters& parameters, int layer);

}  // namespace molgraph::formula

// Values per pair of tokens that do not come from a table of classes (edge paths, absolute bias, resistance, walks),
// and URPE's gate. All of them are per head: [H] matrices [N, N].
#pragma once

#include <vector>

#include "attention/formula/molecule.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::formula {

/// The value of a path's p-th hop over a bond, T[p][bond id] = Ebar[bond id] W[p]: row (p - 1)*bond_ids + id,
/// [hops*bond_ids, H]. `bond` [sum of bond_dims, H]: Ebar is the mean of the rows of the bond's columns. `hop_weight` W
/// [hops*H, H], input head first.
Matrix hop_table(const Matrix& bond, const Matrix& hop_weight, Features features);

/// The edge-path term (Ying et al. 2021, eq. 7; docs/models/formula.md section 3): for atoms i, j at distance m,
///     path_ij = mean over the shortest paths from i to j of (1/m') sum over hops p = 1..m' of T[p][bond p]
///     m' = min(m, hops), bond p the path's p-th bond.
/// With PathRule::single, only the path through the smallest predecessors counts. 0 for i = j, unreachable pairs and
/// token 0. The function follows every path: each ring in a row of rings can double their number, and so the time.
std::vector<Matrix> path_values(const Molecule& molecule, const Matrix& bond, const Matrix& hop_weight, PathRule rule);

/// The absolute bias P_Q(i).P_K(j) (Chen et al. 2021, eq. 1; docs/models/formula.md section 5). A token's position P
/// [H*rank] is the row of `query_row` (or `key_row`) for its degree (token 0: the last row), plus its random walk
/// [steps] times `query_walk` (or `key_walk`) [steps, H*rank]. `owner` is the prefix of the parameters' names:
/// "encoder.absolute.".
std::vector<Matrix> absolute_values(const Molecule& molecule, const Parameters& parameters, const std::string& owner,
                                    int heads);

/// R_ij, the resistance between two atoms if every bond is a unit resistor: the potential at i when a unit current
/// enters at i and leaves at j, which is grounded. 0 for i = j, -1 for token 0 and between fragments. [N, N]
Matrix resistance(const Molecule& molecule);

/// Gaussians of the resistance distance (Zhang et al. 2023, section 4; docs/models/formula.md section 5): sum_k
/// weight[k] G_k(R_ij), G_k the normal density with mean[k] and standard deviation |width[k]| + 0.01. `mean`, `width`
/// [1, K], `weight` [K, H]. 0 for pairs without R.
std::vector<Matrix> resistance_values(const Molecule& molecule, const Matrix& mean, const Matrix& width,
                                      const Matrix& weight);

/// sum_t weight[t] r_ij[t], r the vectors of formula/pair_vectors.hpp (Ma et al. 2023, section 3.1;
/// docs/models/formula.md section 5). `weight` [columns of r, H].
std::vector<Matrix> walk_values(const Molecule& molecule, const PairVector& vector, const Matrix& weight);

/// The sum of the model's pair terms (spec/terms.hpp) that are added to a layer's b_ij or to its gate. Empty if there
/// are none.
std::vector<Matrix> pair_terms_of(TermFills fills, int layer, const Molecule& molecule, const ModelPlan& plan,
                                  const Parameters& parameters);

/// URPE's gate in a layer (Luo et al. 2022, eq. 8; docs/models/formula.md section 4): C_ij = gate[t_ij] plus the gate's
/// own pair terms, through ReLU with GateOptions::relu. Empty if the model has no gate.
std::vector<Matrix> gate(const Molecule& molecule, const PairClasses& classes, const ModelPlan& plan,
                         const Parameters& parameters, int layer);

}  // namespace molgraph::formula

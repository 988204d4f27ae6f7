#include "attention/spec/resistance.hpp"

#include <Eigen/Dense>
#include <stdexcept>

namespace molgraph {

// Adding 1/n to every pair of a fragment of n atoms makes the Laplacian invertible. The inverse differs from the
// pseudo-inverse by a constant, which cancels in R_ij = G_ii + G_jj - 2 G_ij.
void resistance_distances(const GraphBatch& batch, std::int64_t molecule, double* out) {
  const auto b = static_cast<std::size_t>(molecule);
  const Eigen::Index tokens = batch.token_offset[b + 1] - batch.token_offset[b], atoms = tokens - 1;
  const std::uint16_t* topology = batch.topology.data() + batch.pair_offset[b];
  const auto distance = [&](Eigen::Index i, Eigen::Index j) { return topology[(i + 1) * tokens + j + 1]; };
  Eigen::MatrixXd laplacian = Eigen::MatrixXd::Zero(atoms, atoms);
  for (Eigen::Index i = 0; i < atoms; ++i) {
    Eigen::Index fragment = 0;
    for (Eigen::Index j = 0; j < atoms; ++j) fragment += distance(i, j) != kUnreachable;
    for (Eigen::Index j = 0; j < atoms; ++j) {
      if (distance(i, j) == kUnreachable) continue;
      laplacian(i, j) += 1.0 / static_cast<double>(fragment);
      if (distance(i, j) != 1) continue;
      laplacian(i, j) -= 1;
      laplacian(i, i) += 1;
    }
  }
  const Eigen::LLT<Eigen::MatrixXd> factors(laplacian);
  if (factors.info() != Eigen::Success) throw std::invalid_argument("a molecule's distances are not those of a graph");
  const Eigen::MatrixXd inverse = factors.solve(Eigen::MatrixXd::Identity(atoms, atoms));
  for (Eigen::Index i = 0; i < atoms; ++i)
    for (Eigen::Index j = 0; j < atoms; ++j)
      out[i * atoms + j] = i == j                           ? 0.0
                           : distance(i, j) == kUnreachable ? -1.0
                                                            : inverse(i, i) + inverse(j, j) - 2 * inverse(i, j);
}

}  // namespace molgraph

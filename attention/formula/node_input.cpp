#include "attention/formula/node_input.hpp"

#include <algorithm>

#include "attention/formula/layers.hpp"
#include "attention/formula/node_positions.hpp"
#include "attention/formula/pair_vectors.hpp"

namespace molgraph::formula {

Matrix node_embedding(const Molecule& molecule, const ModelPlan& plan, const Parameters& parameters,
                      const Draws& draws) {
  const FeatureShape& shape = feature_shape(plan.features);
  const Matrix& table = parameters.at("node.atom");
  Matrix x(molecule.tokens(), table.columns);
  for (std::int64_t c = 0; c < x.columns; ++c) x(0, c) = parameters.at("node.virtual_node")(0, c);
  for (std::int64_t i = 1; i < x.rows; ++i) {
    std::int64_t first = 0;  // row of value 0 of the column
    for (int column = 0; column < shape.atom_columns; ++column) {
      for (std::int64_t c = 0; c < x.columns; ++c) x(i, c) += table(first + molecule.atom(i, column), c);
      first += shape.atom_dims[static_cast<std::size_t>(column)];
    }
    if (plan.max_degree < 0) continue;
    const int degree = std::min(molecule.degree(i), plan.max_degree);
    for (std::int64_t c = 0; c < x.columns; ++c)
      x(i, c) += parameters.at("in_degree")(degree, c) + parameters.at("out_degree")(degree, c);
  }
  const Matrix noise = draws.noise(plan.perturb_noise, x.rows, x.columns);
  for (std::int64_t i = 1; i < x.rows; ++i)
    for (std::int64_t c = 0; c < x.columns; ++c) x(i, c) += noise(i, c);
  return x;
}

Matrix node_input(const Molecule& molecule, const ModelPlan& plan, const Parameters& parameters, const Draws& draws,
                  const Matrix& perturbation) {
  const EncoderOptions& o = plan.encoder;
  Matrix x = node_embedding(molecule, plan, parameters, draws);
  if (o.position != NodePosition::none) {
    const bool walk = o.position == NodePosition::random_walk;
    const Matrix place = walk ? atom_vectors(molecule, o.pair_vector()) : laplacian(molecule, o.position_dim, draws);
    x = sum(x, linear(place, parameters.at("encoder.position.weight"), {}));
  }
  if (!perturbation.empty()) x = sum(x, perturbation);
  if (o.input_norm) x = layer_norm(x, parameters, "encoder.input_norm");
  return product_by_element(x, draws.dropout(RandomSite::input_dropout, 0, x.rows, x.columns, o.input_dropout));
}

}  // namespace molgraph::formula

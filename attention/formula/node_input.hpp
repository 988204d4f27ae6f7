// The input of the first block (docs/models/formula.md sections 3, 5 and 6).
#pragma once

#include "attention/formula/dropout.hpp"
#include "attention/formula/molecule.hpp"
#include "attention/formula/parameters.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::formula {

/// [N, C]: an atom's row is the sum of the rows of its columns in node.atom (the concatenated tables of all columns)
/// and of its rows in in_degree and out_degree. Token 0 is node.virtual_node. In training, atoms get uniform noise
/// (ModelPlan::perturb_noise).
Matrix node_embedding(const Molecule& molecule, const ModelPlan& plan, const Parameters& parameters,
                      const Draws& draws);

/// [N, C]: node_embedding, plus positions, plus `perturbation` [N, C] (FLAG; empty = none), then LayerNorm if the plan
/// has one, then dropout.
Matrix node_input(const Molecule& molecule, const ModelPlan& plan, const Parameters& parameters, const Draws& draws,
                  const Matrix& perturbation = {});

}  // namespace molgraph::formula

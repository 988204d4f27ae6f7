#include "attention/formula/model.hpp"

#include "attention/formula/encoder.hpp"
#include "attention/formula/head.hpp"
#include "attention/formula/node_input.hpp"

namespace molgraph::formula {

Output run(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule_number, const Parameters& parameters,
           const RandomMode& random, const Matrix& perturbation) {
  const Molecule molecule(batch, molecule_number);
  const Draws draws(random, molecule.row());
  const Matrix x = node_input(molecule, plan, parameters, draws, perturbation);
  Output output;
  output.states = encoder(x, molecule, plan, parameters, draws);
  const Matrix& last = output.states.back();
  Matrix graph(1, last.columns);  // the virtual node's row
  for (std::int64_t c = 0; c < last.columns; ++c) graph(0, c) = last(0, c);
  Matrix inputs(1, plan.head.inputs);
  for (std::int64_t d = 0; d < inputs.columns; ++d) inputs(0, d) = molecule.input(d);
  const Matrix dropout =
      draws.dropout(RandomSite::head_input, 0, 1, last.columns + inputs.columns, plan.encoder.dropout);
  output.scaled = head(graph, inputs, plan.head, parameters, dropout).values;
  return output;
}

std::vector<double> predict(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule,
                            const Parameters& parameters) {
  return run(plan, batch, molecule, parameters).scaled;
}

}  // namespace molgraph::formula

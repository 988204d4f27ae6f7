#include "attention/formula/model.hpp"

#include "attention/formula/encoder.hpp"
#include "attention/formula/head.hpp"
#include "attention/formula/node_input.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::formula {

namespace {

/// The molecule's embedding [1, C] from the states of its tokens [N, C].
Matrix readout(const Matrix& tokens, Readout kind) {
  Matrix graph(1, tokens.columns);
  const std::int64_t atoms = tokens.rows - 1;
  for (std::int64_t c = 0; c < tokens.columns; ++c) {
    if (kind == Readout::virtual_node) graph(0, c) = tokens(0, c);
    for (std::int64_t i = 1; i <= atoms && kind != Readout::virtual_node; ++i)
      graph(0, c) += tokens(i, c) / static_cast<double>(kind == Readout::mean ? atoms : kReadoutAtoms);
  }
  return graph;
}

}  // namespace

Output run(const ModelPlan& plan, const GraphBatch& batch, std::int64_t molecule_number, const Parameters& parameters,
           const RandomMode& random, const Matrix& perturbation) {
  const Molecule molecule(batch, molecule_number);
  const Draws draws(random, molecule.row());
  const Matrix x = node_input(molecule, plan, parameters, draws, perturbation);
  Output output;
  output.states = encoder(x, molecule, plan, parameters, draws);
  const Matrix& last = output.states.back();
  const Matrix graph = readout(last, plan.encoder.readout);
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

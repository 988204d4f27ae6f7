#include "attention/formula/head.hpp"

#include <cmath>

#include "attention/formula/layers.hpp"

namespace molgraph::formula {
namespace {

/// [1, C + D]: the embedding, then the inputs, with missing inputs replaced.
Matrix append_inputs(const Matrix& graph, const Matrix& inputs, const Matrix& stand_in) {
  Matrix both(1, graph.columns + inputs.columns);
  for (std::int64_t c = 0; c < graph.columns; ++c) both(0, c) = graph(0, c);
  for (std::int64_t d = 0; d < inputs.columns; ++d)
    both(0, graph.columns + d) = std::isnan(inputs(0, d)) ? stand_in(0, d) : inputs(0, d);
  return both;
}

}  // namespace

Matrix head(const Matrix& graph, const Matrix& inputs, const HeadOptions& options, const Parameters& parameters,
            const Matrix& dropout) {
  Matrix x = graph;
  for (int k = 0; k < options.last_mlp; ++k)
    x = gelu(linear(x, parameters, "head.last_mlp." + std::to_string(k) + ".0"));
  if (options.transform)
    x = layer_norm(gelu(linear(x, parameters, "head.transform")), parameters, "head.transform_norm");
  if (options.inputs > 0)
    x = gelu(linear(product_by_element(append_inputs(x, inputs, parameters.at("head.stand_in")), dropout), parameters,
                    "head.mix"));
  return linear(x, parameters, "head.linear");
}

}  // namespace molgraph::formula

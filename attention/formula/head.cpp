#include "attention/formula/head.hpp"

#include "attention/formula/layers.hpp"

namespace molgraph::formula {

Matrix head(const Matrix& graph, const HeadOptions& options, const Parameters& parameters) {
  Matrix x = graph;
  for (int k = 0; k < options.last_mlp; ++k)
    x = gelu(linear(x, parameters, "head.last_mlp." + std::to_string(k) + ".0"));
  if (options.transform)
    x = layer_norm(gelu(linear(x, parameters, "head.transform")), parameters, "head.transform_norm");
  return linear(x, parameters, "head.linear");
}

}  // namespace molgraph::formula

#include "attention/reference/head.hpp"

namespace molgraph {

torch::Tensor head(const ParameterTree& parameters, const HeadOptions& options, torch::Tensor graph,
                   const torch::Tensor& inputs, const torch::Tensor& dropout) {
  for (int k = 0; k < options.last_mlp; ++k)
    graph = torch::gelu(parameters.linear(graph, "head.last_mlp." + std::to_string(k) + ".0"));
  if (options.transform)
    graph = parameters.norm(torch::gelu(parameters.linear(graph, "head.transform")), "head.transform_norm");
  if (options.inputs > 0) {
    graph = torch::cat({graph, torch::where(inputs.isnan(), parameters["head.stand_in"], inputs)}, 1);
    if (dropout.defined()) graph = graph * dropout;
    graph = torch::gelu(parameters.linear(graph, "head.mix"));
  }
  return parameters.linear(graph, "head.linear");
}

}  // namespace molgraph

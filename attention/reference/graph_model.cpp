#include "attention/reference/graph_model.hpp"

#include "attention/reference/dropout.hpp"
#include "attention/reference/encoder.hpp"
#include "attention/reference/head.hpp"
#include "attention/reference/node_input.hpp"
#include "attention/reference/relation_classes.hpp"
#include "attention/spec/plan_check.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph {

GraphModel::GraphModel(const ModelOptions& options)
    : ParameterTree(parameters_of(model_plan(options))), plan_(model_plan(options)) {
  target_shift_ = register_buffer("target_shift", torch::zeros({plan_.outputs}, torch::kFloat64));
  target_scale_ = register_buffer("target_scale", torch::ones({plan_.outputs}, torch::kFloat64));
  for (auto& item : named_parameters())
    if (const auto own = options.architecture->initial(specs().at(item.key()), plan_.encoder))
      initialise(item.value(), *own);
}

namespace {

// The molecules' embeddings [B, C] from the states of the packed tokens [tokens, C].
torch::Tensor readout(const torch::Tensor& states, const GraphBatch& batch, Readout kind) {
  if (kind == Readout::virtual_node) return states.index_select(0, virtual_tokens(batch));
  std::vector<torch::Tensor> rows;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    const std::int64_t atoms = batch.token_offset[b + 1] - batch.token_offset[b] - 1;
    const torch::Tensor of_atoms = states.narrow(0, batch.token_offset[b] + 1, atoms);
    rows.push_back(of_atoms.sum(0) * readout_share<double>(kind == Readout::mean, atoms));
  }
  return torch::stack(rows);
}

}  // namespace

ModelOutput GraphModel::run(const GraphBatch& batch, const ForwardMode& mode) const {
  check_batch(batch, plan_, needs_paths(plan_));
  const torch::Tensor x = node_input(*this, plan_, batch, mode);
  const RelationClasses classes = relation_classes(batch, plan_.classes);
  ModelOutput output;
  const torch::Tensor states =
      Encoder(plan_.encoder, *this, "encoder.", pair_terms(plan_)).forward(x, batch, classes, mode, &output.layers);
  const torch::Tensor graph = readout(states, batch, plan_.encoder.readout);
  torch::Tensor inputs, dropout;
  if (const std::int64_t count = plan_.head.inputs; count > 0) {
    inputs = torch::tensor(torch::ArrayRef<float>(batch.inputs)).view({batch.size(), count}).to(graph.dtype());
    dropout = molecule_dropout(batch, graph.size(1) + count, RandomSite::head_input, plan_.encoder.dropout, mode,
                               graph.options());
  }
  output.scaled = head(*this, plan_.head, graph, inputs, dropout);
  output.values = to_target_unit(output.scaled);
  return output;
}

void GraphModel::set_target_scaling(const torch::Tensor& shift, const torch::Tensor& scale) {
  TORCH_CHECK(shift.sizes() == target_shift_.sizes() && scale.sizes() == target_scale_.sizes(),
              "target scaling must have one shift and one scale per output");
  torch::NoGradGuard no_grad;
  target_shift_.copy_(shift);
  target_scale_.copy_(scale);
}

}  // namespace molgraph

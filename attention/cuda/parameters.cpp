#include "attention/cuda/parameters.hpp"

#include <functional>
#include <numeric>

#include "attention/spec/parameters.hpp"

namespace molgraph::MOLGRAPH_CUDA {
namespace {

constexpr std::int64_t kAlignment = 64;   // floats: rows of vectors may begin anywhere a tensor begins

LinearPlace linear(const Parameters& parameters, const std::string& name, int in, int out) {
  return {parameters.offset(name + ".weight"), parameters.offset(name + ".bias"), in, out};
}
NormPlace norm(const Parameters& parameters, const std::string& name) {
  return {parameters.offset(name + ".weight"), parameters.offset(name + ".bias")};
}
TablePlaces tables(const Parameters& parameters, const std::string& prefix) {
  const auto at = [&](const char* name) { return parameters.offset(prefix + name); };
  return {at("spatial"),    at("gate"),     at("topology_query"), at("topology_key"), at("topology_value"),
          at("edge_query"), at("edge_key"), at("edge_value"),     at("content_bias"), at("position_bias")};
}

}  // namespace

void Parameters::place(Tensor tensor) {
  tensor.offset = size_;
  tensor.size = std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
  size_ += tensor.size;
  offsets_.emplace(tensor.name, tensor.offset);
  tensors_.push_back(std::move(tensor));
}

Parameters::Parameters(const ModelPlan& plan) {
  std::unordered_map<std::string, std::vector<std::int64_t>> shapes;
  const ParameterList all = parameters_of(plan);
  for (const ParameterSpec& spec : all) shapes.emplace(spec.name, spec.shape);
  const auto align = [this] { size_ = (size_ + kAlignment - 1) / kAlignment * kAlignment; };
  for (const ParameterSpec& spec : all) {
    if (offsets_.contains(spec.name)) continue;
    align();
    const std::size_t query = spec.name.rfind("attention.query.");
    if (query == std::string::npos) {
      place({spec.name, spec.shape});
      continue;
    }
    const std::string prefix = spec.name.substr(0, query) + "attention.";   // the three of them as one matrix and one bias
    for (const char* kind : {".weight", ".bias"}) {
      align();
      for (const char* part : {"query", "key", "value"}) place({prefix + part + kind, shapes.at(prefix + part + kind)});
    }
  }
  align();
}

std::int64_t Parameters::offset(const std::string& name) const {
  const auto found = offsets_.find(name);
  return found == offsets_.end() ? kNone : found->second;
}

EncoderPlaces::EncoderPlaces(const Parameters& parameters, const EncoderOptions& o)
    : shared(tables(parameters, "encoder.")), final_norm(norm(parameters, "encoder.final_norm")) {
  for (int k = 0; k < o.layers; ++k) {
    const std::string prefix = "encoder.layers." + std::to_string(k) + ".";
    layers.push_back({norm(parameters, prefix + "attention_norm"), norm(parameters, prefix + "ffn_norm"),
                      linear(parameters, prefix + "attention.query", o.width, 3 * o.width),
                      linear(parameters, prefix + "attention.output", o.width, o.width),
                      linear(parameters, prefix + "ffn.linear1", o.width, o.ffn),
                      linear(parameters, prefix + "ffn.linear2", o.ffn, o.width), tables(parameters, prefix)});
  }
}

}  // namespace molgraph::MOLGRAPH_CUDA

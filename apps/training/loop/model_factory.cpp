#include "apps/training/loop/model_factory.hpp"

#include <algorithm>

#include "apps/scoring/model_file.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string shape_text(c10::IntArrayRef shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

std::shared_ptr<GraphModel> make_model(const ModelConfig& config, std::uint64_t seed) {
  torch::manual_seed(seed);
  ModelOptions options = config.model;
  options.features = config.featurizer.features;
  options.outputs = config.task.num_outputs();
  return std::make_shared<GraphModel>(options);
}

std::vector<NamedTensor> named_tensors(const GraphModel& model) {
  std::vector<NamedTensor> all;
  for (const auto& item : model.named_parameters()) all.push_back({item.key(), item.value()});
  for (const auto& item : model.named_buffers()) all.push_back({item.key(), item.value()});
  return all;
}

void save_model(const std::string& path, const GraphModel& model, const ModelConfig& config) {
  std::vector<torch::Tensor> keep;
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : named_tensors(model)) {
    const bool wide = tensor.scalar_type() == torch::kFloat64;  // the scaling of the targets
    keep.push_back(tensor.detach().to(torch::kCPU).contiguous());
    views.push_back({name, wide ? DType::f64 : DType::f32, keep.back().sizes().vec(), keep.back().data_ptr()});
  }
  write_safetensors(path, {{kConfigKey, to_json(config)}, {kFeaturizerKey, config.featurizer.hash()}}, views);
}

std::vector<TensorProblem> copy_tensors(const std::map<std::string, StoredTensor>& stored, GraphModel& model) {
  torch::NoGradGuard no_grad;
  using Kind = TensorProblem::Kind;
  std::vector<TensorProblem> problems;
  auto targets = named_tensors(model);
  for (auto& [name, tensor] : targets) {
    const auto found = stored.find(name);
    if (found == stored.end()) {
      problems.push_back({Kind::missing, name, "missing: " + name + " " + shape_text(tensor.sizes())});
      continue;
    }
    const StoredTensor& source = found->second;
    const bool wide = tensor.scalar_type() == torch::kFloat64;  // the scaling of the targets
    if (tensor.sizes() != c10::IntArrayRef(source.shape) || source.dtype != (wide ? DType::f64 : DType::f32)) {
      problems.push_back({Kind::misshapen, name,
                          "misshapen: " + name + " is " + shape_text(source.shape) + ", should be " +
                              (wide ? "float64 " : "float32 ") + shape_text(tensor.sizes())});
      continue;
    }
    tensor.copy_(torch::from_blob(const_cast<std::byte*>(source.bytes.data()), source.shape,
                                  wide ? torch::kFloat64 : torch::kFloat32));
  }
  for (const auto& [name, tensor] : stored) {
    if (std::ranges::find(targets, name, &NamedTensor::name) == targets.end())
      problems.push_back({Kind::surplus, name, "surplus: " + name + " " + shape_text(tensor.shape)});
  }
  return problems;
}

torch::Tensor to_predictions(const Task& task, const torch::Tensor& values) {
  if (task.kind == TaskKind::regression) return values;
  const torch::Tensor logits = values.to(torch::kFloat32);
  if (task.kind == TaskKind::mixed) {
    torch::Tensor mixed = values.clone();
    for (std::size_t t = 0; t < task.kinds.size(); ++t)
      if (task.kinds[t] == TaskKind::binary) {
        const auto column = static_cast<std::int64_t>(t);
        mixed.select(1, column).copy_(torch::sigmoid(logits.select(1, column)));
      }
    return mixed;
  }
  if (task.kind == TaskKind::binary) return torch::sigmoid(logits);
  return torch::softmax(logits.view({values.size(0), task.num_targets(), task.classes}), 2).view_as(values);
}

LoadedModel load_model(const std::string& path) {
  const SafetensorsFile file = read_model_file(path);
  LoadedModel loaded{read_model_config(file, path), nullptr};
  loaded.model = make_model(loaded.config, 0);
  const auto problems = copy_tensors(file.tensors, *loaded.model);
  if (!problems.empty()) {
    std::string text = path + ": the weights do not fit the model";
    for (const TensorProblem& problem : problems) text += "\n  " + problem.text;
    throw FileError(text);
  }
  loaded.model->eval();
  return loaded;
}

}  // namespace molgraph

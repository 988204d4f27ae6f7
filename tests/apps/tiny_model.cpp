#include "tests/apps/tiny_model.hpp"

#include <filesystem>
#include <stdexcept>

#include "apps/scoring/run_record.hpp"
#include "apps/training/loop/model_factory.hpp"

namespace molgraph::test {

ModelConfig tiny_config(const Architecture& architecture, const std::vector<std::string>& targets) {
  ModelConfig config;
  config.model = architecture.defaults;
  EncoderOptions& encoder = config.encoder();
  encoder.layers = kTinyLayers;
  encoder.width = encoder.ffn = kTinyWidth;
  encoder.heads = 4;
  encoder.gate.enabled = &architecture == &graphormer_architecture();
  config.task.names = targets;
  config.task.units.assign(targets.size(), "");
  return config;
}

void save_tiny_run(const std::string& folder, const ModelConfig& config, std::uint64_t seed) {
  std::filesystem::create_directories(folder);
  const auto model = make_model(config, seed);
  {
    // The published initialisation is so small that all predictions would be nearly equal.
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
  }
  if (config.task.kind == TaskKind::regression) {
    const auto outputs = static_cast<std::int64_t>(config.task.num_outputs());
    model->set_target_scaling(torch::full({outputs}, 3.0), torch::full({outputs}, 2.0));
  }
  save_model(folder + "/model.safetensors", *model, config);
  write_run_record(folder, {.program = "a test"});
}

void scale_weights(const std::string& folder, const std::string& tensor, float factor) {
  const LoadedModel loaded = load_model(folder + "/model.safetensors");
  const torch::NoGradGuard no_grad;
  bool found = false;
  for (auto& item : named_tensors(*loaded.model)) {
    if (item.name != tensor) continue;
    item.tensor.mul_(factor);
    found = true;
  }
  if (!found) throw std::runtime_error("no tensor " + tensor);
  save_model(folder + "/model.safetensors", *loaded.model, loaded.config);
}

}  // namespace molgraph::test

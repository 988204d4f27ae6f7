#include "apps/training/run/import_run.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/run_files.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "apps/training/run/run_claim.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/warm_start.hpp"
#include "datasets/archives/torch_archive.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"
#include "graphormer/published.hpp"
#include "grpe/published.hpp"

namespace molgraph {
namespace {

torch::Tensor to_tensor(const StoredTensor& stored) {
  const auto copy = [&](torch::ScalarType type) {
    return torch::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, type).clone();
  };
  switch (stored.dtype) {
    case DType::f64: return copy(torch::kFloat64);
    case DType::f32: return copy(torch::kFloat32);
    case DType::i64: return copy(torch::kInt64);
    case DType::i32: return copy(torch::kInt32);
    case DType::u8: break;
  }
  return copy(torch::kUInt8);
}

/// Removes the prefixes "module." and "model." that wrappers add to all names.
StateDict without_wrappers(StateDict state) {
  for (const std::string prefix : {"module.", "model.", "module."}) {
    const auto wrapped = [&](const auto& item) { return item.first.starts_with(prefix); };
    if (state.empty() || !std::all_of(state.begin(), state.end(), wrapped)) continue;
    StateDict stripped;
    for (const auto& [name, tensor] : state) stripped.emplace(name.substr(prefix.size()), tensor);
    state = std::move(stripped);
  }
  return state;
}

StateDict read_weights(const std::string& path) {
  StateDict state;
  for (const auto& [name, stored] : read_state_dict(path)) state.emplace(name, to_tensor(stored));
  return without_wrappers(std::move(state));
}

Task task_of(const ImportOptions& options, int outputs) {
  Task task;
  task.kind = TaskKind::regression;
  task.names = options.target_names;
  if (task.names.empty()) {
    for (int t = 1; t <= outputs; ++t) task.names.push_back(outputs == 1 ? "target" : "target_" + std::to_string(t));
  }
  if (static_cast<int>(task.names.size()) != outputs)
    throw UsageError("--target-names has " + std::to_string(task.names.size()) + " names, but the model has " +
                     std::to_string(outputs) + (outputs == 1 ? " output" : " outputs"));
  if (std::set<std::string>(task.names.begin(), task.names.end()).size() != task.names.size())
    throw UsageError("--target-names contains a name twice");
  task.units.assign(task.names.size(), "");
  return task;
}

/// Returns all codes whose weights can be imported.
std::vector<PublishedCode> published_codes() {
  std::vector<PublishedCode> all = graphormer_published();
  all.insert(all.end(), grpe_published().begin(), grpe_published().end());
  return all;
}

PublishedCode published_code(const std::string& origin) {
  for (const PublishedCode& code : published_codes())
    if (code.origin == origin) return code;
  throw UsageError("'" + origin + "' is not a known origin of published weights");
}

ModelConfig config_of(const StateDict& state, const ImportOptions& options) {
  PublishedImport import{options.origin,         {}, options.heads, options.path_hops, options.max_distance,
                         options.spatial_pos_max};
  if (!options.features.empty()) import.features = features_from_string(options.features);
  ModelConfig config;
  config.model = published_code(options.origin).options(state, import, options.weights);
  config.featurizer.features = config.model.features;
  config.task = task_of(options, config.model.outputs);
  return config;
}

std::vector<PublishedLink> links_of(const ModelOptions& model) {
  return published_code(model.published.origin).links(model);
}

}  // namespace

const std::vector<std::string>& import_origins() {
  static const std::vector<std::string> origins = [] {
    std::vector<std::string> names;
    for (const PublishedCode& code : published_codes()) names.push_back(code.origin);
    return names;
  }();
  return origins;
}

void import_run(const ImportOptions& options, const std::string& run, const RunControl& control) {
  const RunDirectory directory{run};
  const RunClaim claim(run, false, control);
  const StateDict state = read_weights(options.weights);
  ModelConfig config = config_of(state, options);
  const std::shared_ptr<GraphModel> model = make_model(config, 0);
  const StateDict ours = import_published(state, links_of(config.model), model->specs(), options.weights);
  torch::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    const torch::Tensor& tensor = ours.at(item.key());
    if (!torch::isfinite(tensor).all().item<bool>())
      throw FileError(options.weights + ": weights that are not finite in the tensor " + item.key());
    item.value().copy_(tensor);
  }
  save_model(directory.model(), *model, config);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  write_run_record(run, {.finished = now_utc(),
                         .program = options.program,
                         .data = {options.weights},
                         .source = std::filesystem::path(options.weights).filename().string(),
                         .sha256 = sha256_of_file(options.weights),
                         .baseline = {kNone, kNone, kNone},
                         .checksums = checksums_of(run)});
  std::int64_t published = 0;
  for (const auto& [name, tensor] : state) published += tensor.numel();
  const EncoderOptions& e = config.encoder();
  control.note(options.origin + ": " + std::to_string(e.layers) + " layers x " + std::to_string(e.width) + " (FFN " +
               std::to_string(e.ffn) + ", " + std::to_string(e.heads) + " heads), features " +
               std::string(to_string(config.featurizer.features)) + "; " + with_thousands(model->specs().numbers()) +
               " of the " + with_thousands(published) + " published parameters are used; written to " + run);
}

void export_run(const std::string& run, const std::string& out) {
  const std::string file = model_file_of(run);
  const LoadedModel loaded = load_model(file);
  if (loaded.config.model.published.origin.empty())
    throw FileError(file + ": was not imported from published weights, so it cannot be exported to their format");
  torch::NoGradGuard no_grad;
  StateDict ours;
  for (const auto& item : loaded.model->named_parameters()) ours.emplace(item.key(), item.value());
  // The published heads do not scale targets.
  const torch::Tensor shift = loaded.model->named_buffers()["target_shift"],
                      scale = loaded.model->named_buffers()["target_scale"];
  ours["head.linear.weight"] = (ours.at("head.linear.weight") * scale.unsqueeze(1)).to(torch::kFloat32);
  ours["head.linear.bias"] = (ours.at("head.linear.bias") * scale + shift).to(torch::kFloat32);

  const StateDict theirs = export_published(ours, links_of(loaded.config.model), TiedRows::equal, file);
  std::vector<torch::Tensor> keep;
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : theirs) {
    keep.push_back(tensor.to(torch::kFloat32).contiguous());
    views.push_back({name, DType::f32, keep.back().sizes().vec(), keep.back().data_ptr()});
  }
  write_state_dict(out, views);
}

}  // namespace molgraph

#include "apps/training/loop/checkpoint.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

DType dtype_of(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kInt64: return DType::i64;
    case torch::kFloat64: return DType::f64;
    default: return DType::f32;
  }
}

}  // namespace

std::string to_text(const TrainerState& state) {
  return nlohmann::json{{"step", state.step},
                        {"epoch", state.epoch},
                        {"batch", state.batch},
                        {"loss_sum", state.loss_sum},
                        {"loss_count", state.loss_count},
                        {"best_value", state.best_value},
                        {"best_epoch", state.best_epoch},
                        {"finished", state.finished},
                        {"stopped_early", state.stopped_early},
                        {"metrics_csv", state.metrics_csv}}
      .dump();
}

TrainerState state_from_text(const std::string& text) {
  TrainerState state;
  const auto json = nlohmann::json::parse(text);
  json.at("step").get_to(state.step);
  json.at("epoch").get_to(state.epoch);
  json.at("batch").get_to(state.batch);
  json.at("loss_sum").get_to(state.loss_sum);
  json.at("loss_count").get_to(state.loss_count);
  json.at("best_value").get_to(state.best_value);
  json.at("best_epoch").get_to(state.best_epoch);
  json.at("finished").get_to(state.finished);
  json.at("stopped_early").get_to(state.stopped_early);
  json.at("metrics_csv").get_to(state.metrics_csv);
  return state;
}

void write_checkpoint(const std::string& path, const std::string& identity, const TrainerState& state,
                      const NamedTensors& tensors) {
  std::vector<torch::Tensor> keep;
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    keep.push_back(tensor.detach().contiguous());
    views.push_back({name, dtype_of(tensor), tensor.sizes().vec(), keep.back().data_ptr()});
  }
  write_safetensors(path, {{"molgraph.identity", identity}, {"molgraph.state", to_text(state)}}, views);
}

TrainerState read_checkpoint(const std::string& path, const std::string& identity, const NamedTensors& tensors) {
  const SafetensorsFile file = read_safetensors(path);
  const auto stored_identity = file.metadata.find("molgraph.identity");
  const auto stored_state = file.metadata.find("molgraph.state");
  if (stored_identity == file.metadata.end() || stored_state == file.metadata.end()) {
    throw FileError(path + ": not a checkpoint of molgraph-train");
  }
  const std::string& stored = stored_identity->second;
  if (stored != identity && stored != identity.substr(0, identity.rfind(kContentsLine))) {
    throw FileError(path +
                    ": belongs to a run with other options, other data or another split; --resume requires the "
                    "original ones");
  }
  TrainerState state;
  try {
    state = state_from_text(stored_state->second);
  } catch (const nlohmann::json::exception& error) {
    throw FileError(path + ": damaged checkpoint: " + error.what());
  }
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end() || found->second.dtype != dtype_of(tensor) ||
        c10::IntArrayRef(found->second.shape) != tensor.sizes()) {
      throw FileError(path + ": damaged checkpoint: " + name + " is missing or has the wrong shape");
    }
    torch::Tensor target = tensor;
    target.copy_(torch::from_blob(const_cast<std::byte*>(found->second.bytes.data()), found->second.shape,
                                  tensor.scalar_type()));
  }
  return state;
}

std::optional<TrainerState> state_of_checkpoint(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  try {
    const SafetensorsFile file = read_safetensors(path);
    const auto stored = file.metadata.find("molgraph.state");
    if (stored != file.metadata.end()) return state_from_text(stored->second);
  } catch (const FileError&) {  // read_checkpoint() reports the error
  } catch (const nlohmann::json::exception&) {
  }
  return std::nullopt;
}

}  // namespace molgraph

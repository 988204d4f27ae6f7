#include "apps/scoring/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"

namespace molgraph {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// The targets' mean and deviation are float64; older files have them in float32 as all else.
bool may_be_wide(const cpu::TensorSpec& spec, const StoredTensor& tensor) {
  return tensor.dtype == DType::f64 && (spec.name == kTargetShift || spec.name == kTargetScale);
}

/// Throws if the file's tensors are not those of the model.
void check_tensors(const SafetensorsFile& file, std::vector<cpu::TensorSpec> wanted, const std::string& path) {
  std::string problems;
  for (const cpu::TensorSpec& spec : wanted) {
    const auto found = file.tensors.find(spec.name);
    if (found == file.tensors.end()) {
      problems += "\n  missing: " + spec.name + " " + shape_text(spec.shape);
    } else if (found->second.shape != spec.shape || (found->second.dtype != DType::f32 && !may_be_wide(spec, found->second))) {
      problems += "\n  misshapen: " + spec.name + " is " + shape_text(found->second.shape) + ", should be float32 " +
                  shape_text(spec.shape);
    }
  }
  std::sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const auto& [name, tensor] : file.tensors) {
    const auto at = std::lower_bound(wanted.begin(), wanted.end(), name,
                                     [](const cpu::TensorSpec& spec, const std::string& key) { return spec.name < key; });
    if (at == wanted.end() || at->name != name) problems += "\n  surplus: " + name + " " + shape_text(tensor.shape);
  }
  if (!problems.empty()) throw FileError(path + ": the weights do not fit the model" + problems);
}

template <class T>
void check_finite(const std::string& name, const StoredTensor& tensor, const std::string& path) {
  const auto count = static_cast<std::size_t>(tensor.count());
  const T* values = reinterpret_cast<const T*>(tensor.bytes.data());
  const auto* bad = std::find_if(values, values + count, [](T value) { return !std::isfinite(value); });
  if (bad == values + count) return;
  throw FileError(path + ": its weights are not all finite: " + name + " holds " + (std::isnan(*bad) ? "nan" : "inf") + " at place " +
                  std::to_string(bad - values + 1) + " of " + std::to_string(count));
}

/// Before a model is made that the file's weights could never fill: its memory would be that of the configuration's sizes.
void check_weights_can_suffice(const SafetensorsFile& file, const ModelConfig& config, const std::string& path) {
  constexpr double kSlack = 4;   // nearer misses are named tensor by tensor
  const EncoderOptions& e = config.encoder();
  const double width = e.width, least = e.layers * (4 * width * width + 2 * width * e.ffn);   // queries, keys, values, output; FFN
  double held = 0;
  for (const auto& [name, tensor] : file.tensors) held += static_cast<double>(tensor.count());
  if (least <= kSlack * held + 1e6) return;
  throw FileError(path + ": the weights do not fit the model: its " + std::to_string(e.layers) + " layers of width " + std::to_string(e.width) +
                  " need more than " + number_text(least) + " numbers, the file holds " + number_text(held));
}

void softmax(float* values, std::size_t count) {
  const float largest = *std::max_element(values, values + count);
  float total = 0;
  for (std::size_t c = 0; c < count; ++c) total += values[c] = std::exp(values[c] - largest);
  for (std::size_t c = 0; c < count; ++c) values[c] /= total;
}

}  // namespace

SafetensorsFile read_model_file(const std::string& path) {
  SafetensorsFile file = read_safetensors(path);
  for (const auto& [name, tensor] : file.tensors) {
    if (tensor.dtype == DType::f32) check_finite<float>(name, tensor, path);
    if (tensor.dtype == DType::f64) check_finite<double>(name, tensor, path);
  }
  return file;
}

ModelConfig read_model_config(const SafetensorsFile& file, const std::string& path) {
  const auto found = file.metadata.find(kConfigKey);
  if (found == file.metadata.end()) throw FileError(path + ": holds tensors but no molgraph configuration");
  ModelConfig config = model_config_from_json(found->second, path);
  const auto hash = file.metadata.find(kFeaturizerKey);
  if (hash == file.metadata.end() || hash->second != config.featurizer.hash()) {
    throw FileError(path + ": the featuriser's hash does not fit its text \"" + config.featurizer.canonical_text() + "\"");
  }
  check_weights_can_suffice(file, config, path);
  return config;
}

std::vector<double> target_scaling(const SafetensorsFile& file, const char* name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) return {};
  const StoredTensor& tensor = found->second;
  const auto count = static_cast<std::size_t>(tensor.count());
  std::vector<double> values(count);
  if (tensor.dtype == DType::f64) {
    std::memcpy(values.data(), tensor.bytes.data(), count * sizeof(double));
  } else if (tensor.dtype == DType::f32) {
    std::vector<float> narrow(count);
    std::memcpy(narrow.data(), tensor.bytes.data(), count * sizeof(float));
    values.assign(narrow.begin(), narrow.end());
  } else {
    return {};
  }
  return values;
}

ModelPlan model_plan(const ModelConfig& config) {
  const auto of = [&](auto options) {
    options.features = config.featurizer.features;
    options.outputs = config.task.num_outputs();
    return model_plan(options);
  };
  return config.kind == ModelKind::graphormer ? of(config.graphormer) : of(config.grpe);
}

void ScoringModel::to_predictions(float* scaled, double* values) const {
  const Task& task = config.task;
  const std::size_t outputs = target_shift.size();
  if (task.kind == TaskKind::regression) {
    for (std::size_t o = 0; o < outputs; ++o) values[o] = scaled[o] * target_scale[o] + target_shift[o];
    return;
  }
  if (task.kind == TaskKind::binary)
    for (std::size_t o = 0; o < outputs; ++o) scaled[o] = 1 / (1 + std::exp(-scaled[o]));
  else
    for (int t = 0; t < task.num_targets(); ++t) softmax(scaled + t * task.classes, static_cast<std::size_t>(task.classes));
  std::copy_n(scaled, outputs, values);
}

void check_precision(ScorePrecision precision, int gpu) {
  if (gpu >= 0) {
    if (const std::string reason = cuda::why_unusable(gpu); !reason.empty()) throw UsageError("--device cuda: " + reason);
    return;
  }
  if (precision == ScorePrecision::tf32) throw UsageError("--precision tf32 is for GPUs: use fp32 or bf16, or --device cuda");
  if (precision == ScorePrecision::bf16 && !cpu::has_bf16()) {
    throw UsageError("this processor has no bfloat16 products (AVX512_BF16); use --precision fp32");
  }
}

cpu::Precision cpu_precision(ScorePrecision precision) {
  return precision == ScorePrecision::bf16 ? cpu::Precision::bf16 : cpu::Precision::fp32;
}

cuda::Math gpu_precision(ScorePrecision precision) {
  switch (precision) {
    case ScorePrecision::tf32: return cuda::Math::tf32;
    case ScorePrecision::bf16: return cuda::Math::bf16;
    default: return cuda::Math::fp32;
  }
}

void ScoringModel::predict(const GraphBatch& batch, float* scaled, const std::vector<cpu::KeptStates>& kept) const {
  if (!gpu) return engine->predict(batch, 1, scaled, kept);
  gpu->predict(batch, scaled, kept);
}

ScoringModel load_scoring_model(const std::string& path, ScorePrecision precision, int gpu) {
  const SafetensorsFile file = read_model_file(path);
  ScoringModel model{.config = read_model_config(file, path)};
  model.plan = model_plan(model.config);
  model.engine = std::make_unique<cpu::Model>(model.plan);
  std::vector<cpu::TensorSpec> wanted = model.engine->tensors();
  const std::int64_t outputs = model.config.task.num_outputs();
  wanted.push_back({kTargetShift, {outputs}});
  wanted.push_back({kTargetScale, {outputs}});
  check_tensors(file, wanted, path);
  const auto tensor = [&](const std::string& name) -> const float* {
    return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
  };
  if (gpu >= 0) {
    model.gpu = cuda::make_model(model.plan, gpu_precision(precision), gpu);
    model.gpu->assign(tensor);
    model.plan.pack.paths = false;   // the device finds them itself
    model.engine.reset();
  } else {
    model.engine->assign(tensor, false, 1, cpu_precision(precision));
  }
  model.target_shift = target_scaling(file, kTargetShift);
  model.target_scale = target_scaling(file, kTargetScale);
  return model;
}

}  // namespace molgraph

#include "apps/scoring/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attention/spec/parameters.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// The targets' mean and standard deviation are float64; all other tensors are float32.
bool is_double(const ParameterSpec& spec) { return spec.name == kTargetShift || spec.name == kTargetScale; }

/// Throws FileError if the file's tensors are not those of the model.
void check_tensors(const SafetensorsFile& file, std::vector<ParameterSpec> expected, const std::string& path) {
  std::string problems;
  for (const ParameterSpec& spec : expected) {
    const auto found = file.tensors.find(spec.name);
    if (found == file.tensors.end()) {
      problems += "\n  missing: " + spec.name + " " + shape_text(spec.shape);
    } else if (found->second.shape != spec.shape ||
               found->second.dtype != (is_double(spec) ? DType::f64 : DType::f32)) {
      problems += "\n  misshapen: " + spec.name + " is " + shape_text(found->second.shape) + ", should be " +
                  (is_double(spec) ? "float64 " : "float32 ") + shape_text(spec.shape);
    }
  }
  std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const auto& [name, tensor] : file.tensors) {
    const auto at = std::lower_bound(expected.begin(), expected.end(), name,
                                     [](const ParameterSpec& spec, const std::string& key) { return spec.name < key; });
    if (at == expected.end() || at->name != name) problems += "\n  surplus: " + name + " " + shape_text(tensor.shape);
  }
  if (!problems.empty()) throw FileError(path + ": the weights do not fit the model" + problems);
}

template <class T>
void check_finite(const std::string& name, const StoredTensor& tensor, const std::string& path) {
  const auto count = static_cast<std::size_t>(tensor.count());
  const T* values = reinterpret_cast<const T*>(tensor.bytes.data());
  const auto* bad = std::find_if(values, values + count, [](T value) { return !std::isfinite(value); });
  if (bad == values + count) return;
  throw FileError(path + ": its weights are not all finite: " + name + " contains " +
                  (std::isnan(*bad) ? "nan" : "inf") + " at position " + std::to_string(bad - values + 1) + " of " +
                  std::to_string(count));
}

/// Checks the configuration's sizes before memory is allocated for them: throws FileError if the file has far too few
/// weights for the model.
void check_weights_can_suffice(const SafetensorsFile& file, const ModelConfig& config, const std::string& path) {
  constexpr double kSlack = 4;  // smaller differences are reported tensor by tensor
  const EncoderOptions& e = config.encoder();
  const double width = e.width,
               required = e.layers * (4 * width * width + 2 * width * e.ffn);  // queries, keys, values, output; FFN
  double stored = 0;
  for (const auto& [name, tensor] : file.tensors) stored += static_cast<double>(tensor.count());
  if (required <= kSlack * stored + 1e6) return;
  throw FileError(path + ": the weights do not fit the model: its " + std::to_string(e.layers) + " layers of width " +
                  std::to_string(e.width) + " need more than " + number_text(required) +
                  " numbers, the file contains " + number_text(stored));
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
  if (found == file.metadata.end()) throw FileError(path + ": contains tensors but no molgraph configuration");
  ModelConfig config = model_config_from_json(found->second, path);
  const auto hash = file.metadata.find(kFeaturizerKey);
  if (hash == file.metadata.end() || hash->second != config.featurizer.hash()) {
    throw FileError(path + ": the featuriser's hash does not match its text \"" + config.featurizer.canonical_text() +
                    "\"");
  }
  check_weights_can_suffice(file, config, path);
  return config;
}

std::vector<double> target_scaling(const SafetensorsFile& file, const char* name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) return {};
  const StoredTensor& tensor = found->second;
  if (tensor.dtype != DType::f64) return {};
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(double));
  return values;
}

std::string model_difference(const ModelConfig& a, const ModelConfig& b) {
  if (!(a.featurizer == b.featurizer)) {
    return "featuriser \"" + b.featurizer.canonical_text() + "\" instead of \"" + a.featurizer.canonical_text() + "\"";
  }
  if (!std::ranges::equal(a.input_columns(), b.input_columns())) return "different input columns";
  if (a.task.kind != b.task.kind) {
    return "task " + std::string(to_string(b.task.kind)) + " instead of " + std::string(to_string(a.task.kind));
  }
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  if (a.task.names != b.task.names) return "targets " + joined(b.task.names) + " instead of " + joined(a.task.names);
  if (a.task.units != b.task.units) return "units " + joined(b.task.units) + " instead of " + joined(a.task.units);
  if (a.task.kinds != b.task.kinds) return "targets of different kinds";
  for (std::size_t t = 0; t < a.task.names.size(); ++t)
    if (a.task.is_logarithmic(t) != b.task.is_logarithmic(t))
      return (b.task.is_logarithmic(t) ? "the logarithm of " : "no logarithm of ") + a.task.names[t];
  const bool labels_unknown =
      a.task.has(TaskKind::binary) && (a.task.class_labels.empty() || b.task.class_labels.empty());
  if (a.task.classes != b.task.classes || (!labels_unknown && a.task.class_labels != b.task.class_labels))
    return "different classes";
  return {};
}

ModelPlan model_plan(const ModelConfig& config) {
  ModelOptions options = config.model;
  options.features = config.featurizer.features;
  options.outputs = config.task.num_outputs();
  return model_plan(options);
}

void ScoringModel::to_predictions(float* scaled, double* values) const {
  const Task& task = config.task;
  const std::size_t outputs = target_shift.size();
  if (task.kind == TaskKind::regression) {
    for (std::size_t o = 0; o < outputs; ++o) values[o] = scaled[o] * target_scale[o] + target_shift[o];
    return;
  }
  if (task.kind == TaskKind::mixed) {
    for (std::size_t t = 0; t < outputs; ++t)
      values[t] = task.kind_of(t) == TaskKind::binary ? 1 / (1 + std::exp(-scaled[t]))
                                                      : scaled[t] * target_scale[t] + target_shift[t];
    return;
  }
  if (task.kind == TaskKind::binary)
    for (std::size_t o = 0; o < outputs; ++o) scaled[o] = 1 / (1 + std::exp(-scaled[o]));
  else
    for (int t = 0; t < task.num_targets(); ++t)
      softmax(scaled + t * task.classes, static_cast<std::size_t>(task.classes));
  std::copy_n(scaled, outputs, values);
}

void check_device(const Device& device, Precision precision) {
  const std::string reason = why_unusable(device, precision);
  if (reason.empty()) return;
  if (device.is_gpu()) throw UsageError("device cuda: " + reason);
  throw UsageError("precision " + std::string(to_string(precision)) + ": " + reason +
                   (precision == Precision::tf32 ? "; use fp32 or bf16, or a GPU" : "; use fp32"));
}

void check_device(const Device& device, const EncoderOptions& encoder, const std::string& of) {
  if (const std::string why = why_unusable(device, encoder); !why.empty()) throw UsageError(of + ": " + why);
}

ScoringModel load_scoring_model(const std::string& path, const Device& device, Precision precision) {
  const SafetensorsFile file = read_model_file(path);
  ScoringModel model{.config = read_model_config(file, path)};
  check_device(device, model.config.encoder(), path);
  const ModelPlan plan = model_plan(model.config);
  const ParameterList parameters = parameters_of(plan);
  std::vector<ParameterSpec> expected(parameters.begin(), parameters.end());
  const std::int64_t outputs = model.config.task.num_outputs();
  for (const char* name : {kTargetShift, kTargetScale}) expected.push_back({.name = name, .shape = {outputs}});
  check_tensors(file, std::move(expected), path);
  model.engine = make_engine(plan, device, precision);
  model.engine->assign(
      [&](const std::string& name) { return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data()); },
      false);
  model.target_shift = target_scaling(file, kTargetShift);
  model.target_scale = target_scaling(file, kTargetScale);
  return model;
}

}  // namespace molgraph

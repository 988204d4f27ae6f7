// Model files: damaged bytes, header, configuration (as JSON, with edge values) and weights. The last two get correct
// checksums, so that the damage reaches the code that reads them.
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/scoring/architectures.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/scoring/predictor.hpp"
#include "attention/spec/parameters.hpp"
#include "datasets/archives/safetensors.hpp"
#include "datasets/system/files.hpp"
#include "tests/fuzz/kind.hpp"

namespace molgraph::fuzz {
namespace {

using Json = nlohmann::json;

constexpr const char* kNames[] = {"graphormer", "grpe", "classes", "walks"};
constexpr std::string_view kJsonSymbols = "{}[]\",:0123456789-+.eE\\tfn ";

ModelConfig config_of(std::size_t seed) {
  ModelConfig config;
  config.model = architecture_from_string(seed == 1 ? "grpe" : "graphormer").defaults;
  EncoderOptions& encoder = config.encoder();
  encoder.layers = 2;
  encoder.width = encoder.ffn = 8;
  encoder.heads = 2;
  encoder.gate.enabled = seed != 2;
  if (seed == 3) {
    encoder.position = NodePosition::random_walk;
    encoder.position_dim = 4;
    config.featurizer.features = Features::zinc;
  }
  config.task.names = {"a", "b"};
  config.task.units = {"", "eV"};
  if (seed == 2) {
    config.task.kind = TaskKind::multiclass;
    config.task.classes = 3;
    config.task.class_labels = {"x", "y", "z"};
  }
  return config;
}

/// Writes a model with random weights of the right shapes.
void write_model(const std::string& path, const ModelConfig& config, Random& random) {
  const ParameterList specs = parameters_of(model_plan(config));
  const std::int64_t outputs = config.task.num_outputs();
  std::vector<std::vector<float>> weights;
  std::vector<TensorView> views;
  for (const ParameterSpec& spec : specs) {
    std::vector<float>& values = weights.emplace_back(static_cast<std::size_t>(spec.size()));
    for (float& value : values) value = static_cast<float>(below(random, 2001)) / 2000 - 0.5f;
    views.push_back({spec.name, DType::f32, spec.shape, values.data()});
  }
  const std::vector<double> shift(static_cast<std::size_t>(outputs), 3), scale(static_cast<std::size_t>(outputs), 2);
  views.push_back({kTargetShift, DType::f64, {outputs}, shift.data()});
  views.push_back({kTargetScale, DType::f64, {outputs}, scale.data()});
  write_safetensors(path, {{kConfigKey, to_json(config)}, {kFeaturizerKey, config.featurizer.hash()}}, views);
}

void collect(Json& json, std::vector<Json*>& nodes) {
  nodes.push_back(&json);
  if (json.is_structured())
    for (Json& child : json) collect(child, nodes);
}

/// Replaces, removes or duplicates one value.
void damage_value(Json& root, Random& random) {
  static const std::vector<Json> kEdges{nullptr,
                                        true,
                                        false,
                                        -1,
                                        0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        255,
                                        256,
                                        1000,
                                        65536,
                                        2147483647,
                                        -2147483648LL,
                                        9223372036854775807LL,
                                        18446744073709551615ULL,
                                        0.5,
                                        -0.0,
                                        1e308,
                                        "",
                                        "x",
                                        "none",
                                        "laplacian",
                                        "random_walk",
                                        "single",
                                        "row",
                                        "reverse",
                                        "grpe",
                                        "graphormer",
                                        "regression",
                                        "binary",
                                        "multiclass",
                                        Json::array(),
                                        Json::object(),
                                        Json::array({1, 2, 3}),
                                        Json::array({0, -5, 70000}),
                                        std::string(100'000, 'n')};
  std::vector<Json*> nodes;
  collect(root, nodes);
  Json& node = *one_of(random, nodes);
  if (node.is_object() && !node.empty()) {
    auto at = node.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(random, node.size())));
    if (one_in(random, 3)) node.erase(at);
    else if (one_in(random, 2)) node[at.key() + "_"] = at.value();
    else *at = one_of(random, kEdges);
  } else if (node.is_number_integer() && one_in(random, 2)) {
    node = node.get<std::int64_t>() + static_cast<std::int64_t>(below(random, 9)) - 4;
  } else if (node.is_boolean() && !one_in(random, 4)) {
    node = !node.get<bool>();
  } else {
    node = one_of(random, kEdges);
  }
}

/// Sets weights to values that a failed training can produce, or removes or duplicates a tensor.
void damage_weights(SafetensorsFile& file, Random& random) {
  static constexpr float kEdges[] = {std::numeric_limits<float>::quiet_NaN(),
                                     std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::max(),
                                     -1e30f,
                                     1e20f,
                                     std::numeric_limits<float>::denorm_min(),
                                     0.0f,
                                     1e6f};
  for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
    auto at = file.tensors.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(random, file.tensors.size())));
    StoredTensor& tensor = at->second;
    if (one_in(random, 8)) {
      if (one_in(random, 2)) file.tensors.emplace(at->first + "x", tensor);
      else file.tensors.erase(at);
      continue;
    }
    const std::size_t width = size_of(tensor.dtype), count = tensor.bytes.size() / width;
    const double edge = one_of(random, kEdges);
    const auto narrow = static_cast<float>(edge);
    const void* value = width == sizeof edge ? static_cast<const void*>(&edge) : &narrow;
    const bool all = one_in(random, 4);
    for (std::size_t k = all ? 0 : below(random, count); k < count; k += all ? 1 : count)
      std::memcpy(tensor.bytes.data() + k * width, value, width);
  }
}

void write_tensors(const std::string& path, const SafetensorsFile& file) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : file.tensors)
    views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_safetensors(
      path, {{kConfigKey, file.metadata.at(kConfigKey)}, {kFeaturizerKey, file.metadata.at(kFeaturizerKey)}}, views);
}

/// The file with a damaged header and the correct length of it.
std::string with_damaged_header(const std::string& bytes, Random& random) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::string header = damaged(bytes.substr(sizeof length, length), random, kJsonSymbols);
  const std::uint64_t fits = header.size();
  return std::string(reinterpret_cast<const char*>(&fits), sizeof fits) + header + bytes.substr(sizeof length + length);
}

class Models : public Kind {
 public:
  void make_seeds(const std::string& folder) const override {
    Random random(1);
    for (std::size_t s = 0; s < std::size(kNames); ++s)
      write_model(folder + "/" + kNames[s] + ".safetensors", config_of(s), random);
  }

  void open(const std::string& folder, const std::vector<std::string>& more) override {
    std::vector<std::string> paths = more;
    for (const char* name : kNames) paths.push_back(folder + "/" + name + ".safetensors");
    for (const std::string& path : paths) {
      bytes_.push_back(read_file(path));
      files_.push_back(read_safetensors(path));
    }
  }

  bool run(Random& random, const std::string& scratch) const override {
    const std::string path = scratch + "/model.safetensors";
    const std::size_t seed = below(random, bytes_.size());
    SafetensorsFile file = files_[seed];
    switch (below(random, 5)) {
      case 0: put_file(path, damaged(bytes_[seed], random, kJsonSymbols)); break;
      case 1: put_file(path, with_damaged_header(bytes_[seed], random)); break;
      case 2:
        damage_weights(file, random);
        write_tensors(path, file);
        break;
      default: {
        Json config = Json::parse(file.metadata.at(kConfigKey));
        for (std::size_t n = 1 + below(random, 2); n > 0; --n) damage_value(config, random);
        file.metadata[kConfigKey] = config.dump();
        write_tensors(path, file);
      }
    }
    return use(path);
  }

 private:
  static bool use(const std::string& path) {
    const Predictor predictor({path}, {.threads = 1, .limits = {}});
    const std::vector<std::string> smiles{"CCO", "c1ccccc1C(=O)[O-]", "[Na+].[Cl-]", "C1CC", "", "F/C=C/[C@H](N)Br"};
    const std::vector<Prediction> predictions = predictor.predict(smiles, EmbeddingOptions{});
    require(predictions.size() == smiles.size(), "a prediction per text");
    for (const Prediction& one : predictions) {
      require(one.values.size() == static_cast<std::size_t>(predictor.task().num_outputs()), "a value per output");
      require((one.status == RowStatus::ok) == one.reason.empty(), "a reason where the status is not ok");
      for (const double value : one.values)
        require(std::isfinite(value) || one.status != RowStatus::ok, "status ok, value not finite");
      for (const float value : one.embedding)
        require(std::isfinite(value) || one.status != RowStatus::ok, "status ok, embedding not finite");
    }
    require(predictions[3].status == RowStatus::invalid_smiles && predictions[4].status == RowStatus::empty,
            "statuses of invalid texts");
    return true;
  }

  std::vector<std::string> bytes_;
  std::vector<SafetensorsFile> files_;
};

}  // namespace

std::unique_ptr<Kind> make_models() { return std::make_unique<Models>(); }

}  // namespace molgraph::fuzz

#include "apps/scoring/tree_file.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

#include "apps/scoring/model_file.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTreesKey = "molgraph.trees";
constexpr int kVersion = 2;

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  else if constexpr (std::is_same_v<T, float>) return DType::f32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  else if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  else return DType::u8;
}

/// Tensors of a file that is written, with their numbers.
class Arrays {
 public:
  template <class T>
  void add(const std::string& name, const std::vector<T>& values) {
    views_.push_back({name, dtype_of<T>(), {static_cast<std::int64_t>(values.size())}, values.data()});
  }
  /// One field of every node.
  template <class T, class Field>
  std::vector<T> of_nodes(const std::vector<TreeNode>& nodes, Field field) {
    std::vector<T> values;
    values.reserve(nodes.size());
    for (const TreeNode& node : nodes) values.push_back(static_cast<T>(field(node)));
    return values;
  }
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<TensorView> views_;
};

Json description(const Trees& trees) {
  Json targets = Json::array();
  for (const TreeTarget& t : trees.targets)
    targets.push_back({{"name", t.name}, {"kind", to_string(t.kind)}, {"classes", t.classes}});
  return {{"version", kVersion},
          {"fingerprint", "count-Morgan, radius 2, " + std::to_string(kFingerprintBins) + " counts"},
          {"descriptors", trees.descriptors},
          {"columns", trees.columns},
          {"targets", targets}};
}

/// A one-dimensional tensor of a file that is read. Throws FileError.
template <class T>
std::vector<T> array(const SafetensorsFile& file, const std::string& name, const std::string& path) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) throw FileError(path + ": damaged trees: there is no " + name);
  const StoredTensor& tensor = found->second;
  if (tensor.dtype != dtype_of<T>() || tensor.shape.size() != 1)
    throw FileError(path + ": damaged trees: " + name + " has another type or shape");
  std::vector<T> values(static_cast<std::size_t>(tensor.count()));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

void read_description(const std::string& json, const std::string& path, Trees& trees) {
  try {
    const Json all = Json::parse(json);
    const auto version = all.at("version").get<int>();
    if (version != kVersion)
      throw FileError(path + ": has version " + std::to_string(version) + "; this program reads version " +
                      std::to_string(kVersion));
    all.at("descriptors").get_to(trees.descriptors);
    all.at("columns").get_to(trees.columns);
    for (const Json& t : all.at("targets"))
      trees.targets.push_back({.name = t.at("name").get<std::string>(),
                               .kind = task_kind_from_string(t.at("kind").get<std::string>()),
                               .classes = t.at("classes").get<int>()});
  } catch (const nlohmann::json::exception& problem) {
    throw FileError(path + ": damaged trees: " + problem.what());
  } catch (const UsageError& problem) {
    throw FileError(path + ": damaged trees: " + problem.what());
  }
}

void read_nodes(const SafetensorsFile& file, const std::string& path, Trees& trees) {
  const auto feature = array<std::int32_t>(file, "feature", path), left = array<std::int32_t>(file, "left", path),
             right = array<std::int32_t>(file, "right", path);
  const auto threshold = array<float>(file, "threshold", path), value = array<float>(file, "value", path);
  const auto missing_left = array<std::uint8_t>(file, "missing_left", path);
  const std::size_t count = feature.size();
  if (left.size() != count || right.size() != count || threshold.size() != count || value.size() != count ||
      missing_left.size() != count)
    throw FileError(path + ": damaged trees: its arrays of nodes differ in length");
  trees.nodes.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    trees.nodes.push_back({.feature = feature[i],
                           .threshold = threshold[i],
                           .value = value[i],
                           .left = left[i],
                           .right = right[i],
                           .missing_left = missing_left[i] != 0});
}

void check_task(const Trees& trees, const Task& task, const std::string& path) {
  bool same = trees.targets.size() == task.names.size();
  for (std::size_t t = 0; same && t < trees.targets.size(); ++t) {
    const TreeTarget& target = trees.targets[t];
    same = target.name == task.names[t] && target.kind == task.kind_of(t) &&
           target.classes == (task.kind == TaskKind::multiclass ? task.classes : 1);
  }
  if (!same) throw FileError(path + ": its trees predict other targets than the model beside it");
}

}  // namespace

void write_trees(const std::string& path, const Trees& trees, const FeaturizerOptions& featurizer) {
  Arrays arrays;
  const auto feature = arrays.of_nodes<std::int32_t>(trees.nodes, [](const TreeNode& n) { return n.feature; });
  const auto threshold = arrays.of_nodes<float>(trees.nodes, [](const TreeNode& n) { return n.threshold; });
  const auto value = arrays.of_nodes<float>(trees.nodes, [](const TreeNode& n) { return n.value; });
  const auto left = arrays.of_nodes<std::int32_t>(trees.nodes, [](const TreeNode& n) { return n.left; });
  const auto right = arrays.of_nodes<std::int32_t>(trees.nodes, [](const TreeNode& n) { return n.right; });
  const auto missing_left =
      arrays.of_nodes<std::uint8_t>(trees.nodes, [](const TreeNode& n) { return n.missing_left; });
  std::vector<double> weight;
  for (const TreeTarget& target : trees.targets) weight.push_back(target.weight);
  arrays.add("feature", feature);
  arrays.add("threshold", threshold);
  arrays.add("value", value);
  arrays.add("left", left);
  arrays.add("right", right);
  arrays.add("missing_left", missing_left);
  arrays.add("tree_offset", trees.tree_offset);
  arrays.add("output_offset", trees.output_offset);
  arrays.add("base", trees.base);
  arrays.add("scale", trees.scale);
  arrays.add("weight", weight);
  write_safetensors(path,
                    {{kTreesKey, description(trees).dump(-1, ' ', false, Json::error_handler_t::replace)},
                     {kFeaturizerKey, featurizer.hash()}},
                    arrays.views());
}

Trees read_trees(const std::string& path, const Task& task, const FeaturizerOptions& featurizer) {
  const SafetensorsFile file = read_safetensors(path);
  const auto about = file.metadata.find(kTreesKey), hash = file.metadata.find(kFeaturizerKey);
  if (about == file.metadata.end() || hash == file.metadata.end()) throw FileError(path + ": holds no trees");
  if (hash->second != featurizer.hash())
    throw FileError(path + ": its trees were made with another featuriser than the model beside it");
  Trees trees;
  read_description(about->second, path, trees);
  read_nodes(file, path, trees);
  trees.tree_offset = array<std::int64_t>(file, "tree_offset", path);
  trees.output_offset = array<std::int64_t>(file, "output_offset", path);
  trees.base = array<double>(file, "base", path);
  trees.scale = array<double>(file, "scale", path);
  const auto weight = array<double>(file, "weight", path);
  if (weight.size() != trees.targets.size()) throw FileError(path + ": damaged trees: not one weight for each target");
  for (std::size_t t = 0; t < weight.size(); ++t) trees.targets[t].weight = weight[t];
  if (const std::string why = trees_problem(trees); !why.empty()) throw FileError(path + ": damaged trees: " + why);
  check_task(trees, task, path);
  return trees;
}

}  // namespace molgraph

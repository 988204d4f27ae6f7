#include "apps/scoring/tree_file.hpp"

#include <algorithm>

#include "apps/scoring/partner_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr const char* kTreesKey = "molgraph.trees";
constexpr int kOldestVersion = 1, kForestVersion = 2;  // 1: all binary outputs are log-odds

/// One field of every node.
template <class T, class Field>
std::vector<T> node_field(const std::vector<TreeNode>& nodes, Field field) {
  std::vector<T> values;
  values.reserve(nodes.size());
  for (const TreeNode& node : nodes) values.push_back(static_cast<T>(field(node)));
  return values;
}

void read_nodes(const PartnerFile& file, Trees& trees) {
  const auto feature = file.array<std::int32_t>("feature"), left = file.array<std::int32_t>("left"),
             right = file.array<std::int32_t>("right");
  const auto threshold = file.array<float>("threshold"), value = file.array<float>("value");
  const auto missing_left = file.array<std::uint8_t>("missing_left");
  const std::size_t count = feature.size();
  if (left.size() != count || right.size() != count || threshold.size() != count || value.size() != count ||
      missing_left.size() != count)
    file.throw_damaged("the node arrays differ in length");
  trees.nodes.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    trees.nodes.push_back({.feature = feature[i],
                           .threshold = threshold[i],
                           .value = value[i],
                           .left = left[i],
                           .right = right[i],
                           .missing_left = missing_left[i] != 0});
}

}  // namespace

void write_trees(const std::string& path, const Trees& trees, const FeaturizerOptions& featurizer) {
  const auto feature = node_field<std::int32_t>(trees.nodes, [](const TreeNode& n) { return n.feature; });
  const auto threshold = node_field<float>(trees.nodes, [](const TreeNode& n) { return n.threshold; });
  const auto value = node_field<float>(trees.nodes, [](const TreeNode& n) { return n.value; });
  const auto left = node_field<std::int32_t>(trees.nodes, [](const TreeNode& n) { return n.left; });
  const auto right = node_field<std::int32_t>(trees.nodes, [](const TreeNode& n) { return n.right; });
  const auto missing_left = node_field<std::uint8_t>(trees.nodes, [](const TreeNode& n) { return n.missing_left; });
  const bool forest = std::ranges::count(trees.forest, true) > 0;
  PartnerJson about{{"version", forest ? kForestVersion : kOldestVersion},
                    {"fingerprint", "count-Morgan, radius 2, " + std::to_string(kFingerprintBins) + " counts"},
                    {"descriptors", trees.descriptors},
                    {"columns", trees.columns},
                    {"targets", targets_json(trees.targets)}};
  if (forest) about["forest"] = trees.forest;
  write_partner(path, kTreesKey, about, trees.targets, featurizer,
                {array_view("feature", feature), array_view("threshold", threshold), array_view("value", value),
                 array_view("left", left), array_view("right", right), array_view("missing_left", missing_left),
                 array_view("tree_offset", trees.tree_offset), array_view("output_offset", trees.output_offset),
                 array_view("base", trees.base), array_view("scale", trees.scale)});
}

Trees read_trees(const std::string& path, const Task& task, const FeaturizerOptions& featurizer) {
  const PartnerFile file(path, "trees", kTreesKey, featurizer);
  const int version = file.check_version(kOldestVersion, kForestVersion);
  Trees trees;
  trees.descriptors = file.get<std::vector<std::string>>("descriptors");
  trees.columns = file.get<std::vector<std::string>>("columns");
  read_nodes(file, trees);
  trees.tree_offset = file.array<std::int64_t>("tree_offset");
  trees.output_offset = file.array<std::int64_t>("output_offset");
  trees.base = file.array<double>("base");
  trees.scale = file.array<double>("scale");
  trees.targets = file.targets(task);
  file.read_shares(trees.targets);
  trees.forest.assign(trees.targets.size(), false);
  if (version == kForestVersion) trees.forest = file.get<std::vector<bool>>("forest");
  if (const std::string why = trees_problem(trees); !why.empty()) file.throw_damaged(why);
  return trees;
}

}  // namespace molgraph

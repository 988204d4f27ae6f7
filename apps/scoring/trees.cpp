#include "apps/scoring/trees.hpp"

#include <algorithm>
#include <cmath>

#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

double leaf_of(const Trees& trees, std::size_t tree, const float* row) {
  std::size_t at = static_cast<std::size_t>(trees.tree_offset[tree]);
  while (trees.nodes[at].feature >= 0) {
    const TreeNode& node = trees.nodes[at];
    const float number = row[node.feature];
    const bool left = std::isnan(number) ? node.missing_left : number < node.threshold;
    at = static_cast<std::size_t>(left ? node.left : node.right);
  }
  return static_cast<double>(trees.nodes[at].value);
}

void softmax(double* values, std::size_t count) {
  const double largest = *std::max_element(values, values + count);
  double total = 0;
  for (std::size_t c = 0; c < count; ++c) total += values[c] = std::exp(values[c] - largest);
  for (std::size_t c = 0; c < count; ++c) values[c] /= total;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::string node_problem(const Trees& trees, std::size_t at, std::int64_t end) {
  const TreeNode& node = trees.nodes[at];
  if (!std::isfinite(node.threshold) || !std::isfinite(node.value)) return "contains a number that is not finite";
  if (node.feature < 0) return {};
  if (static_cast<std::size_t>(node.feature) >= trees.features())
    return text("uses column %d of %zu", node.feature, trees.features());
  for (const std::int32_t child : {node.left, node.right})
    if (child <= static_cast<std::int64_t>(at) || child >= end)  // prevents cycles
      return text("has child %d, which is not a later node of its tree", child);
  return {};
}

/// Whether these are valid offsets into `count` elements: from 0 to `count`, non-decreasing.
bool are_offsets(const std::vector<std::int64_t>& offsets, std::size_t count) {
  return !offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(count) &&
         std::ranges::is_sorted(offsets);
}

}  // namespace

std::size_t Trees::features() const { return kFingerprintBins + descriptors.size() + columns.size(); }

void tree_predictions(const Trees& trees, std::span<const float> row, double* values) {
  for (std::size_t o = 0; o < trees.outputs(); ++o) {
    double sum = 0;
    for (std::int64_t t = trees.output_offset[o]; t < trees.output_offset[o + 1]; ++t)
      sum += leaf_of(trees, static_cast<std::size_t>(t), row.data());
    values[o] = trees.base[o] + trees.scale[o] * sum;
  }
  for (const BlendTarget& target : trees.targets) {
    if (target.kind == TaskKind::binary) *values = sigmoid(*values);
    if (target.kind == TaskKind::multiclass) softmax(values, static_cast<std::size_t>(target.classes));
    values += target.classes;
  }
}

std::string trees_problem(const Trees& trees) {
  if (std::string why = targets_problem(trees.targets); !why.empty()) return why;
  const std::size_t outputs = outputs_of(trees.targets);
  if (trees.base.size() != outputs || trees.scale.size() != outputs || trees.output_offset.size() != outputs + 1)
    return text("the targets have %zu outputs, but base (%zu), scale or output_offset has another size", outputs,
                trees.base.size());
  for (std::size_t o = 0; o < outputs; ++o)
    if (!std::isfinite(trees.base[o]) || !std::isfinite(trees.scale[o]))
      return text("the base or scale of output %zu is not finite", o);
  const std::size_t count = trees.tree_offset.empty() ? 0 : trees.tree_offset.size() - 1;
  if (!are_offsets(trees.output_offset, count)) return "invalid offsets of the outputs";
  if (!are_offsets(trees.tree_offset, trees.nodes.size())) return "invalid offsets of the trees";
  for (std::size_t t = 0; t < count; ++t) {
    if (trees.tree_offset[t] == trees.tree_offset[t + 1]) return text("tree %zu has no nodes", t);
    for (std::int64_t at = trees.tree_offset[t]; at < trees.tree_offset[t + 1]; ++at)
      if (const std::string why = node_problem(trees, static_cast<std::size_t>(at), trees.tree_offset[t + 1]);
          !why.empty())
        return text("node %lld of tree %zu ", static_cast<long long>(at - trees.tree_offset[t]), t) + why;
  }
  return {};
}

}  // namespace molgraph

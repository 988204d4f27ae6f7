#include "apps/scoring/trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kTogether = TreePredictor::kTogether;

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

std::string trees_problem(const Trees& trees) {
  if (std::string why = targets_problem(trees.targets); !why.empty()) return why;
  if (trees.forest.size() != trees.targets.size())
    return text("forest has %zu entries for %zu targets", trees.forest.size(), trees.targets.size());
  for (std::size_t t = 0; t < trees.targets.size(); ++t)
    if (trees.forest[t] && trees.targets[t].kind != TaskKind::binary)
      return trees.targets[t].name + " has a forest but is not binary";
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
  if (trees.nodes.size() > std::numeric_limits<std::int32_t>::max()) return "too many nodes";
  for (std::size_t t = 0; t < count; ++t) {
    if (trees.tree_offset[t] == trees.tree_offset[t + 1]) return text("tree %zu has no nodes", t);
    for (std::int64_t at = trees.tree_offset[t]; at < trees.tree_offset[t + 1]; ++at)
      if (const std::string why = node_problem(trees, static_cast<std::size_t>(at), trees.tree_offset[t + 1]);
          !why.empty())
        return text("node %lld of tree %zu ", static_cast<long long>(at - trees.tree_offset[t]), t) + why;
  }
  return {};
}

TreePredictor::TreePredictor(const Trees& trees)
    : features_(trees.features()), targets_(trees.targets), forest_(trees.forest), output_offset_(trees.output_offset),
      base_(trees.base), scale_(trees.scale) {
  std::vector<int> height(trees.nodes.size(), 0);         // steps on the longest path to a leaf
  for (std::size_t at = trees.nodes.size(); at-- > 0;) {  // children come after their parent
    const TreeNode& node = trees.nodes[at];
    if (node.feature < 0) continue;
    height[at] =
        1 + std::max(height[static_cast<std::size_t>(node.left)], height[static_cast<std::size_t>(node.right)]);
  }
  nodes_.reserve(trees.nodes.size());
  for (const TreeNode& node : trees.nodes) {
    const auto self = static_cast<std::int32_t>(nodes_.size());
    if (node.feature < 0) nodes_.push_back({node.value, 0, {self, self}});
    else
      nodes_.push_back({node.threshold,
                        2 * static_cast<std::uint32_t>(node.feature) + (node.missing_left ? 1U : 0U),
                        {node.left, node.right}});
  }
  for (std::size_t t = 0; t + 1 < trees.tree_offset.size(); ++t) {
    const std::int64_t root = trees.tree_offset[t];
    trees_.push_back({static_cast<std::int32_t>(root), height[static_cast<std::size_t>(root)]});
  }
}

void TreePredictor::add_leaves(std::size_t output, const float* rows, std::size_t molecules, double* sums) const {
  const Node* const nodes = nodes_.data();
  for (auto t = output_offset_[output]; t < output_offset_[output + 1]; ++t) {
    const Tree& tree = trees_[static_cast<std::size_t>(t)];
    std::array<std::int32_t, kTogether> at;
    at.fill(tree.root);
    for (int step = 0; step < tree.depth; ++step) {
      for (std::size_t m = 0; m < molecules; ++m) {
        const Node& node = nodes[at[m]];
        const float number = rows[m * features_ + node.feature_and_missing / 2];
        // Without branches, which the processor could not predict. A comparison with NaN is false.
        const unsigned missing_left = node.feature_and_missing & static_cast<unsigned>(number != number);
        const unsigned left = static_cast<unsigned>(number < node.threshold) | missing_left;
        at[m] = node.child[1 - left];
      }
    }
    for (std::size_t m = 0; m < molecules; ++m) sums[m] += static_cast<double>(nodes[at[m]].threshold);
  }
}

void TreePredictor::predict(std::span<const float> rows, double* values) const {
  const std::size_t count = rows.size() / features_;
  for (std::size_t first = 0; first < count; first += kTogether) {
    const std::size_t molecules = std::min(kTogether, count - first);
    for (std::size_t o = 0; o < outputs(); ++o) {
      std::array<double, kTogether> sums{};
      add_leaves(o, rows.data() + first * features_, molecules, sums.data());
      for (std::size_t m = 0; m < molecules; ++m) values[(first + m) * outputs() + o] = base_[o] + scale_[o] * sums[m];
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t output = 0;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const auto classes = static_cast<std::size_t>(targets_[t].classes);
      if (forest_[t]) *values = limited_probability(*values, base_[output]);
      else if (targets_[t].kind == TaskKind::binary) *values = sigmoid(*values);
      else if (targets_[t].kind == TaskKind::multiclass) softmax(values, classes);
      values += classes;
      output += classes;
    }
  }
}

}  // namespace molgraph

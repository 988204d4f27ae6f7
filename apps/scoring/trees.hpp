// Predictions of the trees that a run may contain in addition to its model. Training fits them
// (apps/training/baselines); scoring requires no library.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

/// One node of a tree. Evaluation starts at the first node of the tree and ends at a leaf.
struct TreeNode {
  std::int32_t feature = -1;           ///< column to compare; -1 = a leaf
  float threshold = 0;                 ///< go left if the value is below it, else right
  float value = 0;                     ///< of a leaf
  std::int32_t left = -1, right = -1;  ///< later nodes of the same tree; -1 in a leaf
  bool missing_left = false;           ///< whether a missing value (NaN) goes left
};

/// Trees for all outputs of a task, target-major like a model's outputs. Output o is base[o] + scale[o] * (sum of the
/// leaves of its trees): in the target's unit for regression, the log-odds of label 1 for a binary target (with a
/// random forest: the mean frequency of label 1 in the leaves; base is that in training), and the input of the softmax
/// over the classes for multiclass.
struct Trees {
  std::vector<std::string> descriptors;  ///< names of the columns after the fingerprint counts
  std::vector<std::string> columns;      ///< names of the user's input columns, which follow the descriptors
  std::vector<BlendTarget> targets;
  std::vector<bool> forest;                    ///< [targets] whether a binary target has a random forest
  std::vector<std::int64_t> output_offset{0};  ///< [outputs + 1] into the trees
  std::vector<std::int64_t> tree_offset{0};    ///< [trees + 1] into the nodes
  std::vector<double> base, scale;             ///< [outputs]
  std::vector<TreeNode> nodes;

  std::size_t outputs() const { return base.size(); }
  /// Length of a molecule's row: the fingerprint counts (kFingerprintBins), the descriptors, the columns.
  std::size_t features() const;
};

/// Why these trees are invalid for every task, as in a damaged file; "" if they are valid. The evaluation of valid
/// trees terminates and stays within bounds.
std::string trees_problem(const Trees& trees);

/// Trees in a form in which several molecules descend through one tree at the same time.
class TreePredictor {
 public:
  /// Maximum number of molecules that descend through a tree together. Their steps do not depend on each other, so the
  /// processor overlaps them.
  static constexpr std::size_t kTogether = 16;

  /// `trees` must be valid.
  explicit TreePredictor(const Trees& trees);
  const std::vector<BlendTarget>& targets() const { return targets_; }
  std::size_t features() const { return features_; }
  std::size_t outputs() const { return base_.size(); }
  /// Computes the predictions [molecules, outputs] in the target's unit, as probabilities, or as class probabilities.
  /// `rows` [molecules, features()]: NaN = missing; a count of 0 is also missing. The predictions of a molecule do not
  /// depend on the others. Thread-safe.
  void predict(std::span<const float> rows, double* values) const;

 private:
  /// A leaf is its own child, so that shorter paths end in the same number of steps as the longest one.
  struct Node {
    float threshold;                    ///< of a leaf: its value
    std::uint32_t feature_and_missing;  ///< twice the column, plus 1 if a missing value goes left
    std::array<std::int32_t, 2> child;  ///< left, right
  };
  struct Tree {
    std::int32_t root;
    int depth;  ///< steps on the longest path
  };
  /// Adds the leaves of the trees of an output for `molecules` <= kTogether rows to `sums`.
  void add_leaves(std::size_t output, const float* rows, std::size_t molecules, double* sums) const;

  std::size_t features_;
  std::vector<BlendTarget> targets_;
  std::vector<bool> forest_;                 ///< [targets]
  std::vector<std::int64_t> output_offset_;  ///< [outputs + 1] into the trees
  std::vector<double> base_, scale_;         ///< [outputs]
  std::vector<Tree> trees_;
  std::vector<Node> nodes_;
};

}  // namespace molgraph

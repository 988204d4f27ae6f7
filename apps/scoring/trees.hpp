// Trees that a run may hold beside its model: what they say of a molecule. They are made in training
// (apps/training/baselines); scoring needs no library for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

/// One place of a tree. A molecule starts at the first node of the tree and goes on until it comes to a leaf.
struct TreeNode {
  std::int32_t feature = -1;           ///< the column that is asked for; -1 = a leaf
  float threshold = 0;                 ///< a number below it goes left, another one right
  float value = 0;                     ///< of a leaf
  std::int32_t left = -1, right = -1;  ///< nodes of the same tree behind this one; -1 in a leaf
  bool missing_left = false;           ///< where a number that is missing (NaN) goes
};

/// Trees of all outputs of a task, target-major as a model's outputs. Output o is base[o] + scale[o] * (sum of the
/// leaves of its trees): in the target's unit for regression, the log-odds of the label 1 for a binary target, and what
/// the softmax over its classes takes for multiclass.
struct Trees {
  std::vector<std::string> descriptors;  ///< names of the columns behind the fingerprint's counts
  std::vector<std::string> columns;      ///< names of the user's own columns behind those
  std::vector<BlendTarget> targets;
  std::vector<std::int64_t> output_offset{0};  ///< [outputs + 1] into the trees
  std::vector<std::int64_t> tree_offset{0};    ///< [trees + 1] into the nodes
  std::vector<double> base, scale;             ///< [outputs]
  std::vector<TreeNode> nodes;

  std::size_t outputs() const { return base.size(); }
  /// Numbers of one molecule: the fingerprint's counts (kFingerprintBins), the descriptors, the columns.
  std::size_t features() const;
};

/// Predictions [outputs] of one molecule as users see them: the target's unit, probabilities, class probabilities.
/// `row` [features()]: NaN = missing; so is a count of 0.
void tree_predictions(const Trees& trees, std::span<const float> row, double* values);

/// Why these cannot be trees of any task, "" if they can: what a damaged file would hold. A walk through trees without
/// a problem ends, and touches nothing outside.
std::string trees_problem(const Trees& trees);

}  // namespace molgraph

// Weights of labels in the loss: weights of rows and targets, balance of targets and classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct WeightOptions {
  std::vector<double> tasks;     ///< [T] weight of each label of a target; empty = MoleculeSet::target_weight, or all 1
  bool balance_tasks = false;    ///< a target's share of the loss depends on its weight, not on its number of labels
  bool balance_classes = false;  ///< all classes of a target have equal shares of its loss
};

/// Label weights. The weight of a label is the product of the weights of its row (MoleculeSet::weight; for a sparse
/// label, SparseLabels::weight), its target and its class, times a constant that makes the mean weight of the training
/// labels 1. The loss is the sum over weighted labels divided by their number. It therefore has the same magnitude as
/// without weights, and a label's share does not depend on the other labels in its batch. Class c of a target has the
/// weight W/(K W_c) (scikit-learn's "balanced"): W is the sum of the row weights of the target's training labels, W_c
/// the sum for the class, K the number of classes that occur.
class LabelWeights {
 public:
  LabelWeights() = default;  ///< all weights are 1
  LabelWeights(const MoleculeSet& set, const std::vector<std::int64_t>& training, const WeightOptions& options);

  bool all_one() const { return factor_.empty(); }
  /// Returns the weight of target t of molecule g; 0 for a missing label.
  float of(const MoleculeSet& set, std::int64_t g, std::size_t t) const;
  /// Returns the same for a known label.
  float of(const MoleculeSet& set, std::int64_t g, std::size_t t, double label) const;
  /// Returns all weights [G, T]; empty if all are 1.
  std::vector<float> table(const MoleculeSet& set) const;
  /// Returns a text with the weight of each target's labels in a row of weight 1: "y 1.5 (0: 0.6, 1: 3)"; "" if all
  /// are 1.
  std::string text(const Task& task) const;

 private:
  std::size_t class_of(const MoleculeSet& set, std::size_t t, double label) const;

  std::size_t classes_ = 1;     ///< per target; 1 if classes are not balanced
  std::vector<double> factor_;  ///< [T, classes]
};

}  // namespace molgraph

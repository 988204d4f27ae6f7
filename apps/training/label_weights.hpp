// How much each label counts in the loss: weights of rows and targets, balance of targets and classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct WeightOptions {
  std::vector<double> tasks;     ///< [T] of each label of a target; empty = MoleculeSet::target_weight, else all 1
  bool balance_tasks = false;    ///< every target has the share of the loss that its weight says, however many labels
  bool balance_classes = false;  ///< every class of a target has the same share of that target's loss
};

/// The weight of a label is that of its row (MoleculeSet::weight; of a sparse label SparseLabels::weight) times that of
/// its target times that of its class, and one number that makes the labels of the training part weigh 1 on average: so
/// the loss, a sum over weighted labels divided by their number, has the size of one without weights, and a label's
/// share does not depend on what else is in its batch. Class c of a target weighs W/(K W_c), W being the sum of its
/// training labels' row weights, W_c those of the class, K the number of classes that occur (scikit-learn's
/// "balanced").
class LabelWeights {
 public:
  LabelWeights() = default;  ///< all are 1
  LabelWeights(const MoleculeSet& set, const std::vector<std::int64_t>& training, const WeightOptions& options);

  bool all_one() const { return factor_.empty(); }
  /// Of molecule g's target t; 0 of a missing label.
  float of(const MoleculeSet& set, std::int64_t g, std::size_t t) const;
  /// The same of a label that is known.
  float of(const MoleculeSet& set, std::int64_t g, std::size_t t, double label) const;
  /// [G, T] of() all; empty if all are 1.
  std::vector<float> table(const MoleculeSet& set) const;
  /// What a label of each target weighs in a row of weight 1, for people: "y 1.5 (0: 0.6, 1: 3)"; "" if all are 1.
  std::string text(const Task& task) const;

 private:
  std::size_t class_of(const MoleculeSet& set, std::size_t t, double label) const;

  std::size_t classes_ = 1;     ///< of each target; 1 where classes are not balanced
  std::vector<double> factor_;  ///< [T, classes]
};

}  // namespace molgraph

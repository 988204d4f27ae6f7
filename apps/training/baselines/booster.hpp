// One gradient-boosted model, or forest, of one target, by XGBoost (Chen & Guestrin 2016, "XGBoost: A Scalable Tree
// Boosting System"): the only place that knows the library. A build without it has the same functions, which say so.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/trees.hpp"
#include "apps/training/baselines/feature_rows.hpp"

namespace molgraph {

/// "1.7.4"; "" in a build without XGBoost.
std::string xgboost_version();

/// How a booster learns. Chosen on the validation parts of ESOL, FreeSolv, BACE, BBBP and Lipophilicity, and kept.
struct BoosterOptions {
  TaskKind kind = TaskKind::regression;
  int classes = 1;          ///< of multiclass
  double base = 0;          ///< what is predicted before the first tree: a number, or the probability of a binary 1
  double lr = 0.05;         ///< each tree's share
  int depth = 6;            ///< of a tree
  int bins = 64;            ///< thresholds that are tried per column
  double rows = 0.6;        ///< share of the rows that a tree sees
  double columns = 0.1;     ///< share of the columns that a node chooses among
  double l2 = 3;            ///< penalty on a leaf's square
  double least_weight = 1;  ///< of the second derivatives in a leaf
  int forest = 1;           ///< trees of a round, side by side: their mean is its step
  std::uint64_t seed = 0;
};

/// Rows of `FeatureRows` with their labels and, where there are some, their weights and bounds.
struct LabelledRows {
  std::vector<std::size_t> rows;
  std::vector<float> labels;        ///< [rows] a number, 0 or 1, or the class
  std::vector<float> weights;       ///< [rows], or empty: all 1
  std::vector<std::int8_t> bounds;  ///< [rows] of MoleculeSet::bound, or empty: all 0; for regression
};

/// Computes with one thread, so that its trees depend on nothing else: several boosters may learn side by side.
class Booster {
 public:
  /// `valid` may be empty. Throws RunError: without XGBoost, or with what XGBoost says.
  Booster(const FeatureRows& features, const LabelledRows& train, const LabelledRows& valid,
          const BoosterOptions& options);
  ~Booster();
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  /// One more tree, of multiclass one per class.
  void add_round();
  /// [valid rows, outputs] what all trees so far say, before a sigmoid or softmax, `base` included.
  std::vector<float> valid_margins();
  /// The trees of the first `rounds` rounds of every output, in Trees::nodes' form; a forest's say their share of its
  /// mean.
  std::vector<std::vector<std::vector<TreeNode>>> trees(int rounds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph

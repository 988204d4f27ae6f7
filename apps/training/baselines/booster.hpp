// One gradient-boosted model or forest of one target, trained with XGBoost (Chen & Guestrin 2016, "XGBoost: A Scalable
// Tree Boosting System"). Only booster.cpp uses the library. A build without it has the same functions
// (booster_absent.cpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/trees.hpp"
#include "apps/training/baselines/feature_rows.hpp"

namespace molgraph {

/// Returns the version, such as "1.7.4"; "" in a build without XGBoost.
std::string xgboost_version();

/// Hyperparameters of a booster. The defaults were chosen on the validation sets of ESOL, FreeSolv, BACE, BBBP and
/// Lipophilicity and are the same for all tables.
struct BoosterOptions {
  TaskKind kind = TaskKind::regression;
  int classes = 1;              ///< of a multiclass target
  double base = 0;              ///< prediction without trees: a number, or the probability of label 1 (binary)
  double lr = 0.05;             ///< learning rate
  int depth = 6;                ///< maximum depth of a tree
  int bins = 64;                ///< number of candidate thresholds per column
  double rows = 0.6;            ///< fraction of rows sampled per tree
  double columns = 0.1;         ///< fraction of columns sampled per node
  double l2 = 3;                ///< L2 penalty on leaf weights
  double min_child_weight = 1;  ///< minimum sum of second derivatives in a leaf
  int forest = 1;               ///< number of trees per round, whose mean is the round's step
  std::uint64_t seed = 0;
};

/// Rows of `FeatureRows` with their labels and, if any, their weights and bounds.
struct LabelledRows {
  std::vector<std::size_t> rows;
  std::vector<float> labels;        ///< [rows] number, 0 or 1, or class
  std::vector<float> weights;       ///< [rows], or empty: all 1
  std::vector<std::int8_t> bounds;  ///< [rows] see MoleculeSet::bound, or empty: all 0; regression only
};

/// Uses one thread, so that its trees do not depend on the number of threads. Several boosters may be trained in
/// parallel.
class Booster {
 public:
  /// `valid` may be empty. Throws RunError in a build without XGBoost, and with the message of any XGBoost error.
  Booster(const FeatureRows& features, const LabelledRows& train, const LabelledRows& valid,
          const BoosterOptions& options);
  ~Booster();
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  /// Adds one tree (multiclass: one per class; a forest: all its trees).
  void add_round();
  /// Returns the margins [valid rows, outputs] of all trees so far before sigmoid or softmax, including `base`.
  std::vector<float> valid_margins();
  /// Returns the trees of the first `rounds` rounds of every output, in the form of Trees::nodes. The leaves of a
  /// forest are already divided by its number of trees.
  std::vector<std::vector<std::vector<TreeNode>>> trees(int rounds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph

// What a model's prediction of a molecule is made of, atom by atom. docs/reference/explanation.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// One target of one molecule, in the target's unit; of classes in logits: the log-odds of a binary target, of several
/// classes the logarithm of the probability of the class that is predicted minus the mean of all classes' (divided by
/// the temperature, where the run has one). prediction = baseline + the atoms' sum + descriptors + blend.
struct TargetExplanation {
  std::vector<double> atoms;  ///< [n] in the molecule's order
  double baseline = 0;        ///< prediction of the same graph whose atoms are all the mean atom of the training part
  double descriptors = 0;     ///< of the numbers that the head reads beside the graph
  double blend = 0;           ///< of the trees and the Gaussian process beside the model
  double prediction = 0;      ///< of an ensemble the mean over its models, of classes that of their logits
  double error = 0;           ///< what the sum is too large by
  bool complete = true;       ///< |error| <= 1 % of max(|prediction - baseline|, a tenth of the target's deviation)
};

/// What explanations are made by.
enum class ExplainMethod : std::uint8_t {
  none,
  atoms,   ///< integrated gradients: Explanation::targets
  rollout  ///< attention rollout: Explanation::rollout; of every model, also without a training mean
};

/// One molecule. Both lists are empty where status is not ok.
struct Explanation {
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::vector<TargetExplanation> targets;
  /// [n], their sum 1: how much of each atom the row that the head reads is drawn from. No unit, no sign, no target.
  std::vector<double> rollout;
};

}  // namespace molgraph

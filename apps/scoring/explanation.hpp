// Attributions of a prediction to atoms. docs/reference/explanation.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// One target of one molecule, in the model's unit (Task::model_unit) or, for classification, in logits: the log-odds
/// of a binary target; for multiclass, the log-probability of the predicted class minus the mean over all classes
/// (divided by the run's temperature, if any). prediction = baseline + the atoms' sum + descriptors + blend, except for
/// ExplainMethod::fragments, which has only `fragments` and `prediction`: the value or logit of the whole prediction.
struct TargetExplanation {
  std::vector<double> atoms;  ///< [n] in the molecule's order
  /// [fragments] of ExplainMethod::fragments: the prediction minus that of the molecule without the fragment. NaN if
  /// nothing is left or what is left cannot be predicted. They do not add up to the prediction.
  std::vector<double> fragments;
  double baseline = 0;     ///< prediction if each atom is replaced by the mean atom of the training set
  double descriptors = 0;  ///< contribution of the head's numeric inputs
  double blend = 0;        ///< contribution of the trees and the Gaussian process
  double prediction = 0;   ///< of an ensemble, the mean over its members (for classes, of their logits)
  double error = 0;        ///< the sum minus the prediction
  bool complete = true;    ///< |error| <= 1 % of max(|prediction - baseline|, a tenth of the target's deviation)
};

/// The method of an explanation.
enum class ExplainMethod : std::uint8_t {
  none,
  atoms,      ///< integrated gradients: Explanation::targets
  fragments,  ///< occlusion of ring systems, linkers and side chains: Explanation::fragment and targets
  rollout     ///< attention rollout: Explanation::rollout; available for every model, also without a training mean
};

/// One molecule. All lists are empty if status is not ok.
struct Explanation {
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::vector<TargetExplanation> targets;
  std::vector<int> fragment;  ///< [n] number of each atom's fragment; murcko_fragments()
  /// [n], sum 1: the contribution of each atom to the head's input. No unit, no sign, the same for all targets.
  std::vector<double> rollout;
};

}  // namespace molgraph

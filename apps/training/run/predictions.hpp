// Predictions of a trained model: for the training, validation and test set, and for benchmark molecules whose labels
// are not public.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/training/loop/evaluate.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Predictions [n, outputs] for the training, validation and test set, in this order.
using PartPredictions = std::array<std::vector<double>, 3>;
std::array<const std::vector<std::int64_t>*, 3> parts_of(const Split& split);

/// Union of the training sets and union of the validation sets of several splits that share one test set.
Split union_of(const std::vector<Split>& splits);
/// Splits of the ensemble's `members` if each has its own (LoadedData::member_splits). Empty if all members train on
/// `base_split`, for example after a split by time or order.
std::vector<Split> splits_of_members(const LoadedData& data, const Split& base_split, std::int64_t members);
/// Molecules of the training and the validation set, each once.
std::vector<std::int64_t> known_molecules(const Split& split);

/// Pooled predictions of models that were trained on different splits, for the sets of `whole`. Each molecule gets the
/// mean over the models that have it in the same set. If every validation molecule is in the validation set of one
/// model, its prediction therefore comes from a model that was not trained on it. `models[i]` [n, outputs] belongs to
/// `splits[i]`.
PartPredictions pooled(const std::vector<PartPredictions>& models, const std::vector<Split>& splits,
                       const Split& whole);

/// Predictions of one model, or the mean of several.
struct AllPredictions {
  PartPredictions parts;
  std::vector<double> calibration;  ///< [n, outputs] of Split::calibration
  std::map<std::string, std::vector<double>>
      hidden;                        ///< by set, one row per table row; NaN for rows without a molecule
  std::vector<double> output_scale;  ///< [outputs] of the model; for several models the smallest

  void add_share(const AllPredictions& one, double share);
  /// Calls change(row [outputs]) for every row of every set.
  template <class Change>
  void for_each_row(std::size_t outputs, const Change& change) {
    const auto of = [&](std::vector<double>& rows) {
      for (std::size_t i = 0; i < rows.size(); i += outputs) change(&rows[i]);
    };
    for (auto& part : parts) of(part);
    of(calibration);
    for (auto& [name, rows] : hidden) of(rows);
  }
};

/// What the errors of prediction intervals are divided by, after adding an offset (TargetCalibration::errors)
/// [n, outputs]; empty = errors are not divided. For an ensemble, the standard deviation over its members; for a single
/// model with a Gaussian process, the difficulty of ProcessPredictor::predict().
struct Difficulty {
  std::vector<double> valid, test, calibration;
};

/// Population standard deviation [n, outputs] of several models' predictions for the same rows.
std::vector<double> deviation_of(const std::vector<const std::vector<double>*>& models);

/// Predictions [n, outputs] of the mean predictor, the same for each of `molecules`: the mean of the exact labels in
/// the training set of `split`, for classes their frequencies. NaN for a target without exact labels.
std::vector<double> mean_predictions(const LoadedData& data, const Split& split, std::size_t molecules);

/// False for the training set of computed targets: evaluating it costs as much as an epoch and is of little use.
bool is_measured(const LoadedData& data, std::size_t part);

/// Predicts all measured sets (is_measured()); `output_scale` remains empty. Throws Stopped.
AllPredictions predict_all(const PredictFunction& run, const PackOptions& pack, const LoadedData& data,
                           const Split& split, const RunControl& control);

/// Writes OGB-LSC submissions, FOLDER/y_pred_*.npz: y_pred, float32, in table order. A row without a molecule gets the
/// training mean. Writes nothing if there are no hidden sets.
void write_submissions(const std::string& folder, const LoadedData& data, const Split& split,
                       const AllPredictions& predictions, const RunControl& control);

}  // namespace molgraph

// What a trained model says of its data: of the three parts, and of molecules whose labels are hidden for a benchmark's
// judges.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/training/evaluate.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Predictions [n, outputs] for the three parts, in the order train, valid, test.
using PartPredictions = std::array<std::vector<double>, 3>;
std::array<const std::vector<std::int64_t>*, 3> parts_of(const Split& split);

/// Of several splits with one test part: what is in the training part of any of them, and in the validation part of
/// any.
Split union_of(const std::vector<Split>& splits);
/// The splits of an ensemble's `members` where they have their own (LoadedData::rounds); empty where all train on
/// `asked`, as after a split by time or order.
std::vector<Split> rounds_of_members(const LoadedData& data, const Split& asked, std::int64_t members);
/// Molecules of the training and the validation part, each once.
std::vector<std::int64_t> known_molecules(const Split& split);

/// What models that were trained on different splits say of the parts of `whole`: of each molecule the mean of the
/// models in whose same part it is. So where every molecule of a validation part is in that of one model, it is
/// predicted by a model that has not learned it. Each of `models` [n, outputs] goes with the split of the same place.
PartPredictions pooled(const std::vector<PartPredictions>& models, const std::vector<Split>& splits,
                       const Split& whole);

/// Of one model, or the mean of several.
struct AllPredictions {
  PartPredictions parts;
  std::vector<double> calibration;  ///< [n, outputs] of Split::calibration
  std::map<std::string, std::vector<double>>
      hidden;                        ///< by part, a row per row of the table; one without a molecule is NaN
  std::vector<double> output_scale;  ///< [outputs] of the model; of several the smallest

  void add_share(const AllPredictions& one, double share);
  /// Calls change(row [outputs]) for every row of every part.
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

/// [n, outputs] The standard deviation (of the population) of several models' predictions of the same rows.
std::vector<double> deviation_of(const std::vector<const std::vector<double>*>& models);

/// [n, outputs] The same for each of `molecules`: the mean of the training part's exact labels, of classes their
/// frequencies; NaN for a target without any.
std::vector<double> mean_predictions(const LoadedData& data, std::size_t molecules);

/// False for the training part of computed targets: as much work as an epoch, which tells little.
bool is_measured(const LoadedData& data, std::size_t part);

/// Everything but `output_scale`, of the parts that are measured. Throws Stopped.
AllPredictions predict_all(const PredictFunction& run, const PackOptions& pack, const LoadedData& data,
                           const RunControl& control);

/// What OGB-LSC's judges take: y_pred, float32, in the order of the table, as FOLDER/y_pred_*.npz. A row without a
/// molecule gets the training mean. Nothing without hidden parts.
void write_submissions(const std::string& folder, const LoadedData& data, const AllPredictions& predictions,
                       const RunControl& control);

}  // namespace molgraph

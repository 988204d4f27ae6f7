// Files of a run: paths, splits and predictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/report/report_record.hpp"
#include "apps/scoring/calibration.hpp"
#include "apps/scoring/domain.hpp"
#include "apps/scoring/explanation_file.hpp"
#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/tree_file.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// The first line of config.toml.
inline constexpr const char* kConfigHeading =
    "# All options of this run, resolved; molgraph-train --config takes this file.";

/// Paths inside a run directory.
struct RunDirectory {
  std::string folder;
  std::string config() const { return folder + "/config.toml"; }
  std::string model() const { return folder + "/model.safetensors"; }
  std::string best() const { return folder + "/checkpoints/best.safetensors"; }
  std::string last() const { return folder + "/checkpoints/last.safetensors"; }
  std::string metrics() const { return folder + "/metrics.csv"; }
  std::string splits() const { return folder + "/splits.csv"; }
  std::string valid_predictions() const { return folder + "/valid_predictions.csv"; }
  std::string test_predictions() const { return folder + "/test_predictions.csv"; }
  std::string rejected() const { return folder + "/rejected.csv"; }
  std::string duplicates() const { return folder + "/duplicates.csv"; }
  std::string trees() const { return folder + "/" + kTreesFile; }
  std::string process() const { return folder + "/" + kProcessFile; }
  std::string calibration() const { return folder + "/" + kCalibrationFile; }
  std::string domain() const { return folder + "/" + kDomainFile; }
  std::string explanation() const { return folder + "/" + kExplanationFile; }
  std::string results() const { return folder + "/results.csv"; }
  std::string report_record() const { return folder + "/" + kReportRecord; }
  std::string report_page() const { return folder + "/" + kReportPage; }
  std::string model_card() const { return folder + "/" + kModelCard; }
  std::string refit() const { return folder + "/refit"; }  ///< run of the second training of --refit, without a model
  std::string inner(std::size_t fold) const { return folder + "/inner_" + std::to_string(fold); }  ///< likewise
  std::string lock() const { return folder + "/training.lock"; }  ///< exists while a process writes to the run
  std::string log() const { return folder + "/log.txt"; }
  /// Whether --resume keeps the file `path` of the run, which describes the options or the data: if it exists and a
  /// model has been trained, at least in part, because the same options and data are then required.
  bool keeps(const std::string& path) const;
  /// All of these files, including those of existing runs inside (refit, model_0, model_1, ...).
  std::vector<std::string> files() const;
};

/// Writes the columns row, id, smiles, split in the order of `set`. The split is empty for unused molecules.
void write_splits(const std::string& path, const MoleculeSet& set, const Split& split);

/// Writes the columns row, status, reason, smiles; no file without rejected rows.
void write_rejected(const std::string& path, const MoleculeSet& set);

/// Writes the columns row, first, id, smiles, and for each target its cell and NAME_used; no file without duplicate
/// molecules.
void write_duplicates(const std::string& path, const std::vector<RepeatedRow>& rows, const Task& task);

/// Prediction intervals [n, T] in the model's units; NaN = none.
struct IntervalColumns {
  std::vector<double> low, high;
};

/// Writes the columns id, smiles, for each target its true value and NAME_pred (multiclass: the class, and
/// NAME_prob_CLASS), then NAME_low and NAME_high for each target with `intervals`. If a target has such a name, the
/// interval columns are left out. `predictions` [n, outputs] for the molecules `indices`.
void write_predictions(const std::string& path, const MoleculeSet& set, const std::vector<std::int64_t>& indices,
                       const std::vector<double>& predictions, const std::vector<double>& output_scale,
                       const std::optional<IntervalColumns>& intervals = std::nullopt);

/// Model file of a run directory, or `run` itself if it is a file. Throws FileError if there is none.
std::string model_file_of(const std::string& run);

}  // namespace molgraph

// run.json, the record of a run; and the weight files of a run, none of which may be missing.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

inline constexpr const char* kRunRecord = "run.json";

/// An outlier label of its target, which may be wrong (label_limits.hpp).
struct SuspiciousLabel {
  std::string target;
  double value = 0;      ///< in the target's unit
  std::int64_t row = 0;  ///< in the table, counted from 1 as in messages
  std::string id;
  std::string part;                  ///< "train", "valid", "test", "calibration"; "" for folds, which differ in it
  std::string merged{};              ///< "the mean of rows 3, 8 (-3.500, -350.0)"; "" = it is the label of its row
  double median = 0;                 ///< of the labels in the training and validation sets
  double deviations = 0;             ///< its distance from the median in median absolute deviations of that side
  std::vector<double> neighbours{};  ///< labels of the most similar molecules, at most three
};

/// Mean R2 or ROC-AUC over the targets of one kind.
struct KindQuality {
  std::string name;          ///< "r2-descriptors", "r2-numbers" (measured ones) or "roc-auc-classes"
  double value = 0;          ///< NaN if it is undefined for every target
  std::int64_t targets = 0;  ///< number of targets for which it is defined
};

/// The measured labels of a corpus.
struct MeasuredLabels {
  std::int64_t columns = 0, labels = 0, molecules = 0;
  std::vector<KindQuality> valid{};  ///< on the validation set
};

/// Written at the end of training; at its start, only `members` is written. Counts are molecules, except `rejected`.
struct RunRecord {
  std::int64_t members = 0;       ///< model_0 ... of an ensemble or of folds; 0 = the weights are in the folder itself
  std::string finished;           ///< ISO 8601, UTC; "" = training has not ended, and the following fields are not set
  std::string program;            ///< "molgraph 0.1.0"
  double seconds = 0;             ///< of the call that finished the training
  std::vector<std::string> data;  ///< as in --data-path
  std::string source, sha256, rdkit;  ///< of the table's file or data set
  std::int64_t molecules = 0, rejected = 0;
  std::string split;                    ///< "random", "published" ...
  std::array<std::int64_t, 3> parts{};  ///< molecules in train, valid, test
  std::string metric;                   ///< --metric: the first one of the results
  std::array<double, 3> baseline{};     ///< metric of predicting the training set's mean or class frequency; NaN = none
  /// The metric of other methods by name ("nearest_neighbour", "trees", "gaussian_process"; with a blend
  /// "transformer"); empty if there are none.
  std::vector<std::pair<std::string, std::array<double, 3>>> baselines;
  std::string start;               ///< --from: "pretrained: grpe-small.safetensors", or a path; "" = from scratch
  std::string target_descriptors;  ///< "rdkit" = pre-trained with these descriptors as targets; else ""
  MeasuredLabels measured_labels;  ///< additional labels of the pre-training
  std::vector<std::string> auxiliary_targets{};  ///< targets that are trained but not predicted
  bool refit = false;  ///< the model was also trained on the validation set; its results there are an earlier model's
  /// The partners that are blended with every model: "trees", "gaussian_process" (run_blend.hpp); empty = none.
  std::vector<std::string> blend;
  std::string precision;    ///< of the matrix products: to_string(UsedPrecision); "" = not recorded
  bool calibrated = false;  ///< the folder contains calibration.json (calibration.hpp)
  bool explained = false;   ///< each model's folder contains explanation.safetensors (explanation_file.hpp)
  /// In the training, validation and test sets: private data, which molgraph-info --strip removes.
  std::vector<SuspiciousLabel> suspicious_labels{};
  /// SHA-256 of the files that predictions are computed from, by path in the folder (run_files.hpp); empty = not
  /// recorded.
  std::map<std::string, std::string> checksums{};
};

/// Throws FileError if `path` does not exist ("<path>: <missing>") or cannot be examined.
void require_existing(const std::string& path, const std::string& missing);
/// The folder of a run's file with links resolved, because "." and "link" may refer to an ensemble's model_0.
std::filesystem::path real_folder_of(const std::string& file);
/// Whether it is the folder name of an ensemble member or a fold: "model_0", with at most nine digits.
bool is_member(const std::string& name);

/// Atomic. Throws FileError.
void write_run_record(const std::string& folder, const RunRecord& record);
/// Returns nullopt if the folder has none (for example a folder of checkpoints). Throws FileError if it is damaged.
std::optional<RunRecord> read_run_record(const std::string& folder);
/// Removes `suspicious_labels` from the folder's record and keeps everything else, including fields of later versions.
/// Throws FileError.
void strip_run_record(const std::string& folder);

/// The weight files of a run directory, of a folder of runs (model_0, model_1, ...) or a model file itself, in order.
/// Throws FileError naming the missing one, according to the folder's record or, without a record, if a later model
/// exists.
std::vector<std::string> weight_files(const std::string& run);

}  // namespace molgraph

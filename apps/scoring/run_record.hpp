// run.json: what a run knows of itself beside its weights; and the weights of a run, of which none may be missing.
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

/// A label so far from all others of its target that it may be wrong (label_limits.hpp).
struct SuspiciousLabel {
  std::string target;
  double value = 0;      ///< in the target's unit
  std::int64_t row = 0;  ///< in the table, from 1 as in messages
  std::string id;
  std::string part;       ///< "train", "valid", "test", "calibration"; "" of folds, where it has another one in each
  std::string merged{};   ///< "the mean of rows 3, 8 (-3.500, -350.0)"; "" = it is the label of its row
  double median = 0;      ///< of the labels in training and validation part
  double deviations = 0;  ///< its distance from the median in median absolute deviations of that side
  std::vector<double> neighbours{};  ///< labels of the most similar molecules, at most three
};

/// How well the targets of one kind are predicted: their mean R2 or ROC-AUC.
struct KindQuality {
  std::string name;          ///< "r2-descriptors", "r2-numbers" (measured ones) or "roc-auc-classes"
  double value = 0;          ///< NaN where no target can be judged
  std::int64_t targets = 0;  ///< so many can
};

/// The measured labels of a corpus.
struct MeasuredLabels {
  std::int64_t columns = 0, labels = 0, molecules = 0;
  std::vector<KindQuality> valid{};  ///< of the validation part
};

/// Written at the end of training, and with `members` alone at its start. Counts are molecules, but for `rejected`.
struct RunRecord {
  std::int64_t members = 0;       ///< model_0 ... of an ensemble or of folds; 0 = the weights lie in the folder itself
  std::string finished;           ///< ISO 8601, UTC; "" = training has not ended: what follows is not known yet
  std::string program;            ///< "molgraph 0.1.0"
  double seconds = 0;             ///< of the call that ended the training
  std::vector<std::string> data;  ///< as --data-path names them
  std::string source, sha256, rdkit;  ///< of the table's file or data set
  std::int64_t molecules = 0, rejected = 0;
  std::string split;                    ///< "random", "published" ...
  std::array<std::int64_t, 3> parts{};  ///< molecules in train, valid, test
  std::string metric;                   ///< the one that chose the best epoch
  std::array<double, 3> baseline{};  ///< the metric of always saying the training part's mean or frequency; NaN = none
  /// The metric of other methods by their name ("nearest_neighbour", "trees", "gaussian_process"; with a blend
  /// "transformer"); empty where none was made.
  std::vector<std::pair<std::string, std::array<double, 3>>> baselines;
  std::string start;               ///< --from: "pretrained: grpe-small.safetensors", or a path; "" = from nothing
  std::string target_descriptors;  ///< "rdkit": pre-trained, its targets are these numbers of its molecules; else ""
  MeasuredLabels measured_labels;  ///< that it was pre-trained on as well
  std::vector<std::string> auxiliary_targets{};  ///< that it has learned and does not predict
  bool refit = false;  ///< the model has learned the validation part too; its numbers there are an earlier model's
  /// What stands beside every model and is mixed with it: "trees", "gaussian_process" (run_blend.hpp); empty = nothing.
  std::vector<std::string> blend;
  std::string precision;    ///< what its products were computed in: "fp32", "tf32", "bf16"; "" = not recorded
  bool calibrated = false;  ///< calibration.json stands beside it (calibration.hpp)
  bool explained = false;   ///< explanation.safetensors stands beside each model's weights (explanation_file.hpp)
  /// Of its training, validation and test part: private data, which molgraph-info --strip takes out.
  std::vector<SuspiciousLabel> suspicious_labels{};
  /// SHA-256 of the files that predictions are made from, by their path in the folder (run_files.hpp); empty = not
  /// recorded.
  std::map<std::string, std::string> checksums{};
};

/// The folder of a run's file as its own name, without links: "." and "link" may stand for an ensemble's model_0.
std::filesystem::path real_folder_of(const std::string& file);
/// Is it the name of an ensemble's or fold's folder: "model_0", with at most nine digits?
bool is_member(const std::string& name);

/// Atomic. Throws FileError.
void write_run_record(const std::string& folder, const RunRecord& record);
/// Nothing if the folder has none, as those of earlier versions. Throws FileError if it is damaged.
std::optional<RunRecord> read_run_record(const std::string& folder);
/// Takes `suspicious_labels` out of the folder's record; all else stays as it is, fields of later versions too. Throws
/// FileError.
void strip_run_record(const std::string& folder);

/// The weight files of a run directory, of a folder of runs (model_0, model_1, ...) or a model file itself, in order.
/// Throws FileError naming the one that is missing: by the folder's record, without one where a later model is there.
std::vector<std::string> weight_files(const std::string& run);

}  // namespace molgraph

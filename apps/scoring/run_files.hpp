// Which files belong to a run: run.json has the SHA-256 of those that predictions are made from.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace molgraph {

/// The SHA-256 of the files in a run directory that predictions are made from (weights, partners, calibration, training
/// molecules, training mean), by their path in it, those of its members model_0, model_1, ... too. Throws FileError.
std::map<std::string, std::string> checksums_of(const std::string& folder);

/// Checks that files are those that their runs wrote. The records of a file are the run.json beside it and, of a member
/// of an ensemble or of folds, the run.json above it; the file must agree with both, and one must exist. A record
/// without checksums, of an earlier version or of a training that has not ended, accepts every file.
class RunFiles {
 public:
  /// Why `file`, which exists, does not belong to its run; "" = it does. Throws FileError if it or a record cannot be
  /// read.
  std::string problem(const std::string& file);

 private:
  struct Record {
    bool exists = false;
    std::map<std::string, std::string> checksums;
  };
  const Record& record_of(const std::string& folder);

  std::map<std::string, Record> records_;  ///< by folder
};

/// Throws FileError for the first of `files` that does not belong to its run. A model file that is one of `given`, the
/// runs as the user names them, is not checked, nor is what lies beside it: it is scored without its run.
void check_run_files(const std::vector<std::string>& given, const std::vector<std::string>& files);

/// What a run directory lacks for predictions: files that are missing by its run.json, but for domain.safetensors,
/// which may have been taken out, and files that are not its own. Throws FileError as weight_files().
std::vector<std::string> run_file_problems(const std::string& run);

}  // namespace molgraph

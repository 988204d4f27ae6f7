// Checks which files belong to a run. run.json contains the SHA-256 of the files that predictions are computed from.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace molgraph {

/// The SHA-256 of the files in a run directory that predictions are computed from (weights, partners, calibration,
/// training molecules, training mean), by their path in it, including those of its members model_0, model_1, ... Throws
/// FileError.
std::map<std::string, std::string> checksums_of(const std::string& folder);

/// Checks that files are those that their runs wrote. The records of a file are the run.json in its folder and, for an
/// ensemble member or a fold, the run.json in the parent folder. The file must match both, and one must exist. A record
/// without checksums (of an unfinished training) accepts every file.
class RunFiles {
 public:
  /// Why `file`, which exists, does not belong to its run; "" if it does. Throws FileError if it or a record cannot be
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

/// Throws FileError for a run in `given` whose training is not finished and for the first of `files` that does not
/// belong to its run. If `given` (the runs as specified by the user) contains a model file, it is scored without its
/// run, so neither it nor the files in its folder are checked.
void check_run_files(const std::vector<std::string>& given, const std::vector<std::string>& files);

/// Problems of a run directory: files that are in run.json but missing (except domain.safetensors, which may have been
/// removed), and files that do not belong to the run. Throws FileError like weight_files().
std::vector<std::string> run_file_problems(const std::string& run);

}  // namespace molgraph

// Exclusive access to a run directory while a process writes to it. A failed start leaves no files.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "apps/training/loop/run_control.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

/// Another process is writing to the run directory.
class RunInUse : public UsageError {
 public:
  using UsageError::UsageError;
};

/// True if the folder contains weights or a checkpoint, of one model or of a member: --resume can continue from them or
/// molgraph-score can use them.
bool contains_run(const std::string& folder);

/// Creates the folder if it does not exist and locks it: flock on FOLDER/training.lock, which contains a description of
/// the process. The operating system releases the lock when the process ends in any way; the destructor removes the
/// file.
class RunClaim {
 public:
  /// Without `resume`, throws UsageError if the folder contains a run, and removes the files of a start that was killed
  /// before its first checkpoint. Throws RunInUse with the process that has the claim, and FileError if the folder
  /// cannot be written.
  RunClaim(const std::string& folder, bool resume, const RunControl& control = {});
  /// Releases the claim. If the folder still contains no run, removes the files and folders that this start created.
  ~RunClaim();
  RunClaim(const RunClaim&) = delete;
  RunClaim& operator=(const RunClaim&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_, created_;         ///< created_: the topmost folder that was created
  std::set<std::string> initial_names_;  ///< file names in the folder at the start
  bool resumes_ = false;                 ///< resumes an earlier start, whose files are kept
  int lock_ = -1;
};

/// Claims runs/NAME for the data set or table, or runs/NAME-2 and so on if it exists.
std::unique_ptr<RunClaim> claim_free_folder(const std::string& data, const RunControl& control = {});

}  // namespace molgraph

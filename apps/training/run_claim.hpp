// A run directory while one process writes it: others are refused, and a start that fails leaves nothing behind.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "apps/training/run_control.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

/// Another process writes this run directory.
class RunInUse : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Is there anything in the folder that --resume could go on with, or that scores: weights or a checkpoint, of one
/// model or a member?
bool holds_a_run(const std::string& folder);

/// Makes the folder if need be and locks it: flock on FOLDER/training.lock, which names the process for people. The
/// lock ends with the process, however that ends; the file goes with the claim.
class RunClaim {
 public:
  /// Without `resume`: throws UsageError if the folder holds a run; what a start left that was killed before its first
  /// checkpoint is removed. Throws RunInUse naming the process that has the claim, FileError where the folder cannot be
  /// written.
  RunClaim(const std::string& folder, bool resume, const RunControl& control = {});
  /// Releases the claim. If the folder still holds no run, what this start wrote is removed, with the folders made for
  /// it.
  ~RunClaim();
  RunClaim(const RunClaim&) = delete;
  RunClaim& operator=(const RunClaim&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_, made_;     ///< made_: the topmost folder that was not there before
  std::set<std::string> before_;  ///< names in the folder
  bool goes_on_ = false;          ///< with a start of before, whose files stay
  int lock_ = -1;
};

/// Claims runs/NAME of a data set or table, or runs/NAME-2 ... if it exists.
std::unique_ptr<RunClaim> claim_free_folder(const std::string& data, const RunControl& control = {});

}  // namespace molgraph

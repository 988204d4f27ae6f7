// The command line of molgraph-train: which options a run gets, by defaults, a recipe, --config, the run that --resume
// goes on with, and the flags themselves.
#pragma once

#include <string>
#include <vector>

#include "apps/programs/shell/program.hpp"
#include "apps/training/option_conflicts.hpp"
#include "apps/training/train_options.hpp"

namespace molgraph {

/// What one call asks for.
struct TrainCall {
  TrainOptions options;
  NamedFlags named;            ///< what stands on the command line
  std::string output, config;  ///< --output-dir without slashes behind it, --config
  bool resume = false;
  CommonOptions common;
};

/// The call as it stands: a recipe's values and those of a run to resume are not in its options. Throws UsageError,
/// EndProgram.
TrainCall read_call(const std::vector<std::string>& arguments);

/// The options to train with. Reads the run of --resume, so only the first of several processes asks. Throws
/// UsageError, FileError.
TrainOptions options_asked_for(const std::vector<std::string>& arguments, const TrainCall& call);

}  // namespace molgraph

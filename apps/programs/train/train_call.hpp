// The command line of molgraph-train and molgraph-pretrain: which options a run gets, by defaults, a recipe, --config,
// the run that --resume goes on with, and the flags themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/programs/shell/program.hpp"
#include "apps/training/option_conflicts.hpp"
#include "apps/training/train_options.hpp"

namespace molgraph {

/// One of the programs that train.
struct TrainProgram {
  std::string name, what, example;
  std::string data{};           ///< help of --data-path; "" = the option's own
  std::string nothing_to_read;  ///< what to say where no data are named
  TrainOptions base{};          ///< before anything is said
  NamedFlags hidden{};          ///< keys of options that its help leaves out
  bool by_molecules = false;    ///< has --molecules-seen, which sets the steps
};
/// molgraph-train itself.
TrainProgram train_program();
/// molgraph-pretrain: the same options without those that mean nothing to it.
TrainProgram pretrain_program();

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
TrainCall read_call(const TrainProgram& program, const std::vector<std::string>& arguments);

/// The options to train with. Reads the run of --resume, so only the first of several processes asks. Throws
/// UsageError, FileError.
TrainOptions options_asked_for(const TrainProgram& program, const std::vector<std::string>& arguments,
                               const TrainCall& call);

}  // namespace molgraph

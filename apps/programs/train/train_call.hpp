// The command line of molgraph-train and molgraph-pretrain. A run's options come from defaults, a recipe, --config, the
// run to resume and flags.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/programs/shell/program.hpp"
#include "apps/training/options/option_conflicts.hpp"
#include "apps/training/options/train_options.hpp"

namespace molgraph {

/// A training program.
struct TrainProgram {
  std::string name, what, example;
  std::string nothing_to_read;                ///< error message if no data are given
  TrainOptions base{};                        ///< defaults
  NamedFlags hidden{};                        ///< keys of options that are hidden in the help
  bool by_molecules = false;                  ///< has --molecules-seen, which sets the steps
  std::map<std::string, std::string> help{};  ///< by key of the option: the help that replaces the listed one
};
/// molgraph-train itself.
TrainProgram train_program();
/// molgraph-pretrain: the same options without those that do not apply.
TrainProgram pretrain_program();

/// The contents of a command line.
struct TrainCall {
  TrainOptions options;
  NamedFlags named;            ///< options on the command line
  std::string output, config;  ///< --output-dir without trailing slashes; --config
  bool resume = false;
  CommonOptions common;
};

/// Reads the command line. The options do not include values of a recipe or of a run to resume. Throws UsageError and
/// EndProgram.
TrainCall read_call(const TrainProgram& program, const std::vector<std::string>& arguments);

/// The options to train with. Reads the run to resume, so only the first of several processes calls this. Throws
/// UsageError and FileError.
TrainOptions requested_options(const TrainProgram& program, const std::vector<std::string>& arguments,
                               const TrainCall& call);

}  // namespace molgraph

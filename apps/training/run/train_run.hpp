// Options and environment of one training run.
#pragma once

#include <memory>
#include <string>

#include "apps/training/loop/processes.hpp"
#include "apps/training/loop/run_control.hpp"
#include "apps/training/options/option_conflicts.hpp"
#include "apps/training/options/train_options.hpp"
#include "attention/spec/device.hpp"

namespace molgraph {

struct TrainRun {
  TrainOptions options;
  NamedFlags named;     ///< flags on the command line
  std::string folder;   ///< the run directory, claimed by the first process
  std::string program;  ///< program name in run.json: "molgraph 0.1.0"
  int threads = 0;      ///< 0 = all usable cores
  Device device;        ///< its `threads` are not used
  bool resume = false;
  std::vector<std::string> found_targets{};  ///< targets of the resumed run if --target-columns is not set
  std::shared_ptr<Processes> processes = std::make_shared<Processes>();  ///< all of them call run_training()
  RunControl control;
};

}  // namespace molgraph

// Published weights to a run directory, and back.
#pragma once

#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/training/run_control.hpp"

namespace molgraph {

/// graphormer-v1, graphormer-v2, graphormer-hf, grpe.
const std::vector<std::string>& import_origins();

struct ImportOptions {
  std::string weights;  ///< an archive of torch.save, or safetensors
  std::string origin;
  std::string features;                   ///< "" = by the tables
  int heads = 0;                          ///< 0 = by the tables (GRPE's do not tell)
  int path_hops = 0;                      ///< 0 = 5 for ogb, 20 for zinc
  int max_distance = 0;                   ///< 0 = by the tables
  int spatial_pos_max = 0;                ///< 0 = off
  std::string program;                    ///< who imports, for run.json: "molgraph 0.1.0"
  std::vector<std::string> target_names;  ///< empty = target, or target_1, target_2 ...
};

/// Writes RUN/model.safetensors and RUN/run.json, and returns what it is. Throws UsageError if a run is there already
/// or a flag does not fit, FileError naming every tensor that is missing, surplus or misshapen.
ModelConfig import_run(const ImportOptions& options, const std::string& run, const RunControl& control = {});

/// Writes the weights of a run that was imported, and perhaps fine-tuned since, as a state dict of its origin. Rows
/// that no molecule can ask for are zeros; a scaling of the targets goes into the head. Throws FileError if the run was
/// never imported or has grown parts (a gate) that the origin has no place for.
void export_run(const std::string& run, const std::string& out);

}  // namespace molgraph

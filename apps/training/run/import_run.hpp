// Imports published weights into a run directory and exports them again.
#pragma once

#include <string>
#include <vector>

#include "apps/training/loop/run_control.hpp"

namespace molgraph {

/// Returns the known origins: graphormer-v1, graphormer-v2, graphormer-hf, grpe.
const std::vector<std::string>& import_origins();

struct ImportOptions {
  std::string weights;  ///< a torch.save archive or a safetensors file
  std::string origin;
  std::string features;                   ///< "" = inferred from the tables
  int heads = 0;                          ///< 0 = inferred from the tables (impossible for GRPE)
  int path_hops = 0;                      ///< 0 = 5 for ogb, 20 for zinc
  int max_distance = 0;                   ///< 0 = inferred from the tables
  int spatial_pos_max = 0;                ///< 0 = off
  std::string program;                    ///< name and version for run.json: "molgraph 0.1.0"
  std::vector<std::string> target_names;  ///< empty = target, or target_1, target_2 ...
};

/// Writes RUN/model.safetensors and RUN/run.json. Throws UsageError if the run exists already or a flag does not fit.
/// Throws FileError naming every tensor that is missing, surplus or misshapen.
void import_run(const ImportOptions& options, const std::string& run, const RunControl& control = {});

/// Writes the weights of an imported run, which may have been fine-tuned, as a state dict of its origin. Table rows
/// that no molecule uses are zeros. The scaling of the targets is merged into the head. Throws FileError if the run was
/// not imported or has additional parts (a gate) that the origin does not support.
void export_run(const std::string& run, const std::string& out);

}  // namespace molgraph

// Starting from the weights of another run (--from).
#pragma once

#include <string>
#include <vector>

#include "apps/training/model_factory.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Other targets than those of the run one starts from: head and target scaling are new.
bool needs_new_head(const Task& start, const Task& task);

/// What to warn of where the run that `from` names (a folder, or its model file) has learned test molecules of `data`
/// with the same target: its splits.csv has them in another part (compared as canonical SMILES, on `threads` threads).
/// "" = nothing, or the run does not say: a file that cannot be read is none.
std::string leak_warning(const std::string& from, const Task& start, const LoadedData& data, int threads);

/// What of the model did not come from the other run.
struct WarmStart {
  bool new_head = false;           ///< needs_new_head()
  std::vector<std::string> fresh;  ///< other tensors that keep their initial values: the gates
};

/// Copies the weights of `file` (its configuration is `start`) into `model` (its configuration is `config`).
/// Throws FileError naming tensors that fit neither as they are, nor as a new head, nor as a new gate.
WarmStart warm_start(const std::string& file, const ModelConfig& start, const ModelConfig& config, GraphModel& model);

}  // namespace molgraph

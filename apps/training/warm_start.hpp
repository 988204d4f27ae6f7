// Training from the weights of another run (--from).
#pragma once

#include <string>
#include <vector>

#include "apps/training/model_factory.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// True if the targets differ from those of the starting run. Head and target scaling are then new.
bool needs_new_head(const Task& start, const Task& task);

/// Warning if the run `from` (a folder or its model file) has a target of `data` and its splits.csv lists test
/// molecules of `data` outside its test set (compared as canonical SMILES, on `threads` threads). "" if it lists none
/// or if its files are missing or unreadable.
std::string leak_warning(const std::string& from, const Task& start, const LoadedData& data, int threads);

/// Tensors that were not copied from the other run.
struct WarmStart {
  bool new_head = false;           ///< needs_new_head()
  std::vector<std::string> fresh;  ///< gates that keep their initial values
};

/// Copies the weights of `file` (with configuration `start`) into `model` (with configuration `config`). Throws
/// FileError with the tensors that do not match and belong neither to a new head nor to a new gate.
WarmStart warm_start(const std::string& file, const ModelConfig& start, const ModelConfig& config, GraphModel& model);

}  // namespace molgraph

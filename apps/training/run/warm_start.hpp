// Training from the weights of another run (--from).
#pragma once

#include <string>
#include <vector>

#include "apps/training/loop/model_factory.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Warnings if the run `from` (a folder or its model file) has a target of `data` and its splits.csv lists validation
/// molecules of `data` in its training set (after --refit, also in its validation set), or test molecules outside its
/// test set (compared as canonical SMILES, on `threads` threads). None if its files are missing or unreadable.
std::vector<std::string> leak_warnings(const std::string& from, const Task& start, const LoadedData& data, int threads);

/// Tensors that were not copied from the other run.
struct WarmStart {
  bool new_head = false;           ///< needs_new_head()
  std::vector<std::string> fresh;  ///< gates that keep their initial values
};

/// Copies the weights of `file` (with configuration `start`) into `model` (with configuration `config`). Throws
/// FileError with the tensors that do not match and belong neither to a new head nor to a new gate.
WarmStart warm_start(const std::string& file, const ModelConfig& start, const ModelConfig& config, GraphModel& model);

}  // namespace molgraph

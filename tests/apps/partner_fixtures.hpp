// What tests of baselines and of a blend's partners share.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/archives/safetensors.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph::testing {

/// Molecules of which only the targets [G, T] are known.
inline MoleculeSet set_of(TaskKind kind, std::vector<std::string> names, std::vector<double> targets, int classes = 0) {
  MoleculeSet set;
  set.task.kind = kind;
  set.task.classes = classes;
  set.task.units.resize(names.size());
  set.task.names = std::move(names);
  set.row.resize(targets.size() / set.task.names.size());
  set.targets = std::move(targets);
  return set;
}

/// The file written anew with something changed, and a checksum that fits.
inline void rewrite(const std::string& path, const std::function<void(SafetensorsFile&)>& change) {
  SafetensorsFile file = read_safetensors(path);
  change(file);
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : file.tensors)
    views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_safetensors(path, file.metadata, views);
}

}  // namespace molgraph::testing

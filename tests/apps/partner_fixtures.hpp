// Helpers for tests of baselines and of the partners of a blend.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/archives/safetensors.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph::testing {

/// A set with targets [G, T] and without molecular graphs.
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

/// Applies `change` to the file and writes it again with a matching checksum.
inline void rewrite(const std::string& path, const std::function<void(SafetensorsFile&)>& change) {
  SafetensorsFile file = read_safetensors(path);
  change(file);
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : file.tensors)
    views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_safetensors(path, file.metadata, views);
}

}  // namespace molgraph::testing

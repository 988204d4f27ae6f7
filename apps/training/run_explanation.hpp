// What a run keeps so that its predictions can be explained (docs/reference/explanation.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Writes explanation.safetensors beside the weights of `folder`: the mean of the node input's rows over all atoms of
/// the molecules `train` that its model has learned. The same bytes for any number of threads. Without molecules there
/// is none, and one that is there is taken away. Throws FileError.
void write_explanation(const std::string& folder, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                       int threads);

}  // namespace molgraph

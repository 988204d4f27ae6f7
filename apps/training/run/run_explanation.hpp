// Data that a run stores for explanations of its predictions (docs/reference/explanation.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Writes explanation.safetensors next to the weights in `folder`: the mean of the node input's rows over all atoms of
/// the molecules `train` that the model was trained on. The file does not depend on the number of threads. Without
/// molecules, removes an existing file. Throws FileError.
void write_explanation(const std::string& folder, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                       int threads);

}  // namespace molgraph

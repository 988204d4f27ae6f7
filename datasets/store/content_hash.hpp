// Recognises whether two runs have the same molecules and labels in the same sets.
#pragma once

#include <cstdint>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// XXH3 of the molecules of the training, validation, test and calibration sets, in their order: row of the source,
/// SMILES, weight, measured labels (rounded to float) and their bounds. Excludes descriptors, which can differ in the
/// last digits between processors.
std::uint64_t content_hash(const MoleculeSet& set, const Split& split);

}  // namespace molgraph

// Names and sizes of RDKit's 2-D descriptors and of the count-Morgan fingerprint. Does not need a chemistry toolkit.
// `Featurizer` (featurize/smiles/smiles.hpp) computes the values.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace molgraph {

/// Returns the names in the order of Python's rdkit.Chem.Descriptors.descList (2022.09.3): "MaxEStateIndex" ...
/// "fr_urea". Includes the whole list except "Ipc" (docs/models/descriptors.md section 4).
std::span<const std::string_view> descriptor_names();

/// Number of bins of the folded fingerprint of radius 2 (RDKit's GetHashedMorganFingerprint with its defaults).
constexpr std::size_t kFingerprintBins = 2048;

}  // namespace molgraph

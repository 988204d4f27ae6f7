// RDKit's 2-D descriptors and the count-Morgan fingerprint of a molecule: their names and sizes. No chemistry toolkit
// is needed to read these; `Featurizer` (featurize/smiles/smiles.hpp) computes the values.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace molgraph {

/// The names, in the order in which Python's rdkit.Chem.Descriptors.descList (2022.09.3) has them: "MaxEStateIndex" ...
/// "fr_urea". All of that list but "Ipc" (docs/models/descriptors.md section 4).
std::span<const std::string_view> descriptor_names();

/// Bins of the folded fingerprint of radius 2 (RDKit's GetHashedMorganFingerprint with its defaults).
constexpr std::size_t kFingerprintBins = 2048;

}  // namespace molgraph

// All descriptors of a molecule and its fingerprint. Private to featurize.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "featurize/descriptors/descriptors.hpp"

namespace RDKit {
class ROMol;
}

namespace molgraph {

/// Compiled once and shared by threads. Values equal those of Python's rdkit.Chem.Descriptors of RDKit 2022.09.3 for
/// the same molecule, except for the differences listed in docs/models/descriptors.md.
class DescriptorCalculator {
 public:
  /// `fragment_file`: RDKit's Data/FragmentDescriptors.csv. Throws FileError that names the file.
  explicit DescriptorCalculator(const std::string& fragment_file);
  ~DescriptorCalculator();

  /// Writes [descriptor_names().size()] values of a sanitised molecule with at least one atom, as parsed by RDKit's
  /// SMILES parser. A value is NaN if RDKit gives NaN, infinity or an error. Never throws for a molecule.
  void descriptors(const RDKit::ROMol& molecule, std::span<double> values) const;

  /// Seconds that a call of descriptors() spends in each step; for benchmarks.
  struct StepTime {
    std::string_view step;
    double seconds = 0;
  };
  std::span<const StepTime> time_steps(const RDKit::ROMol& molecule) const;

 private:
  struct Tables;
  template <typename Clock>
  void run(const RDKit::ROMol& molecule, std::span<double> values, Clock clock) const;

  std::unique_ptr<const Tables> tables_;
};

/// Writes [kFingerprintBins] counts of RDKit's GetHashedMorganFingerprint(molecule, 2), at most 255 each. A bit of the
/// bit fingerprint is set if its count is not 0.
void morgan_fingerprint(const RDKit::ROMol& molecule, std::span<std::uint8_t> counts);

}  // namespace molgraph

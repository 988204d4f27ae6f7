// Warnings about a data set before training starts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Counts rejected rows and keeps the first few as examples.
class RejectionTally {
 public:
  void add(const RejectedRow& row);
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }
  std::int64_t total() const { return total_; }
  /// "12 of 1,128 rows were rejected: 10 invalid_smiles, 2 too_large; row 17: ring 1 not closed (C1CC)"; "" if none.
  std::string text(std::int64_t rows) const;

 private:
  std::int64_t total_ = 0;
  std::map<std::string, std::int64_t> counts_;
  std::vector<std::string> examples_;
};

/// Molecules (by canonical SMILES) that are in more than one set of the split.
struct SharedMolecules {
  std::int64_t count = 0;
  std::string example;  ///< "CCO, row 5 in train and row 7 in test"
};
SharedMolecules shared_molecules(const MoleculeSet& set, const Split& split, int threads);
/// Warning about shared molecules; "" if there are none.
std::string shared_molecules_warning(const MoleculeSet& set, const Split& split, int threads);

/// Warnings about constant targets, targets with few labels or few distinct ones, molecules without any label, and
/// part_warnings(). Targets with the same problem share a line with their number and the first few names.
std::vector<std::string> target_warnings(const MoleculeSet& set, const Split& split);

/// Warnings about targets without a metric on the validation or test set: no labels or (binary) only one class; and
/// about targets with few test labels.
std::vector<std::string> part_warnings(const MoleculeSet& set, const Split& split);

/// "1,234,567".
std::string with_commas(std::int64_t number);

}  // namespace molgraph

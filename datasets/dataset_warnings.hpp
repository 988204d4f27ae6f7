// What a chemist is glad to be told before training starts.
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
  /// "12 of 1,128 rows have no molecule: 10 invalid_smiles, 2 too_large; row 17: ring 1 not closed (C1CC)"; "" if none.
  std::string text(std::int64_t rows) const;

 private:
  std::int64_t total_ = 0;
  std::map<std::string, std::int64_t> counts_;
  std::vector<std::string> examples_;
};

/// Molecules (by canonical SMILES) in two parts of the split.
struct SharedMolecules {
  std::int64_t count = 0;
  std::string example;  ///< "CCO, row 5 in train and row 7 in test"
};
SharedMolecules shared_molecules(const MoleculeSet& set, const Split& split, int threads);
/// The same in words; "" if there are none.
std::string shared_molecules_warning(const MoleculeSet& set, const Split& split, int threads);

/// Constant targets, targets with few values or few different ones, molecules without any value, and part_warnings().
/// Targets with one kind of trouble share a line: their number and the first few names.
std::vector<std::string> target_warnings(const MoleculeSet& set, const Split& split);

/// Targets on which validation or test have nothing to say: without values, or (binary) without one of the classes.
std::vector<std::string> part_warnings(const MoleculeSet& set, const Split& split);

/// "1,234,567".
std::string with_commas(std::int64_t number);

}  // namespace molgraph

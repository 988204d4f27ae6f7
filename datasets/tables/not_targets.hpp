// Columns of numbers that are no measurements: identifiers, years, constants, computed descriptors.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/tables/column_stats.hpp"

namespace molgraph {

/// Rows from which on consecutive whole numbers are taken for an identifier.
inline constexpr std::int64_t kFewestIdentifiers = 50;
/// Rows from which on a column with one value is left out of the targets.
inline constexpr std::int64_t kFewestConstant = 10;

/// Why a column that nobody named should not be predicted.
struct NotMeasured {
  std::string why;       ///< "an identifier", "a year", "constant", "the descriptor MolWt" ...; "" = it may be a target
  bool by_name = false;  ///< its name says so, and its values allow it
};

/// By its name: whole numbers called id, idx, cid or sid (as a word of the name, such as Molecule_ID or mol_idx), or
/// index or row if no two are the same; whole numbers of 1800 to 2100 called year. By its values: consecutive whole
/// numbers in any order (half of a range may be missing), all different and one in each row, in at least
/// kFewestIdentifiers rows; one value in at least kFewestConstant rows; a descriptor's values
/// (ColumnStats::descriptor).
NotMeasured why_not_measured(const ColumnStats& column);

}  // namespace molgraph

// Columns of numbers that are no measurements: identifiers, years, constants, computed descriptors.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/tables/column_stats.hpp"

namespace molgraph {

/// Rows from which on whole numbers that are all different are taken for an identifier.
inline constexpr std::int64_t kFewestIdentifiers = 50;
/// Rows from which on a column with one value is left out of the targets.
inline constexpr std::int64_t kFewestConstant = 10;

/// Why a column that nobody named should not be predicted.
struct NoTarget {
  std::string why;       ///< "an identifier", "a year", "constant", "the descriptor MolWt"; "" = it may be a target
  bool by_name = false;  ///< its name says so, and its values allow it
};

/// By its name: whole numbers called id, index, idx, row, cid or sid (as a word of the name, such as Molecule_ID or
/// rowIndex), and whole numbers of 1800 to 2100 called year. By its values: whole numbers without gaps that are all
/// different, in at least kFewestIdentifiers rows; one value in at least kFewestConstant rows; a descriptor's values
/// (ColumnStats::descriptor).
NoTarget why_no_target(const ColumnStats& column);

}  // namespace molgraph

// Numeric columns that are not measurements: identifiers, years, constants, computed descriptors.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/tables/column_stats.hpp"

namespace molgraph {

/// Minimum number of rows for treating consecutive whole numbers as an identifier.
inline constexpr std::int64_t kMinIdentifierRows = 50;
/// Minimum number of rows for leaving a column with a single value out of the targets.
inline constexpr std::int64_t kMinConstantRows = 10;

/// Why a column that the user did not name is not a target.
struct NotMeasured {
  std::string why;       ///< "an identifier", "a year", "constant", "the descriptor MolWt" ...; "" = may be a target
  bool by_name = false;  ///< the name gives the reason, and the values agree
};

/// Finds columns that are not measurements. By name: whole numbers called id, idx, cid or sid (as a word of the name,
/// such as Molecule_ID or mol_idx), or index or row if all are distinct; whole numbers from 1800 to 2100 called year.
/// By values: consecutive whole numbers in any order (up to half of the range may be missing), distinct and present in
/// every row, in at least kMinIdentifierRows rows; one value in at least kMinConstantRows rows; the values of a
/// descriptor (ColumnStats::descriptor).
NotMeasured why_not_measured(const ColumnStats& column);

}  // namespace molgraph

// Columns that hold a descriptor, such as the molecular weight, which a table often has beside its measurements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// True for the name of a descriptor, in any case.
bool is_descriptor_name(std::string_view column);

/// Sets ColumnStats::descriptor of the columns of numbers that equal one of descriptor_names() in all of the first 200
/// rows (molecules of at most 150 atoms), as far as the digits of their cells go: at least 20 cells with at least four
/// different values, and as many of the descriptor. `places`: the table's column of each of `stats`. Does nothing where
/// RDKit's data, which descriptors need, are missing.
void mark_descriptors(const std::string& path, const TableOptions& options, const std::vector<int>& places,
                      std::vector<ColumnStats>& stats);

}  // namespace molgraph

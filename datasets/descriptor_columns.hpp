// Detection of table columns that contain a descriptor, such as the molecular weight.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// True for the name of a descriptor, ignoring case.
bool is_descriptor_name(std::string_view column);

/// Sets ColumnStats::descriptor of the numeric columns that equal one of descriptor_names() in all of the first 200
/// rows (molecules of at most 150 atoms), within the precision of their digits. The column needs at least 20 cells, and
/// both the column and the descriptor at least four distinct values. `positions`: the table's column for each of
/// `stats`. Does nothing if RDKit's data, which descriptors need, are missing.
void mark_descriptors(const std::string& path, const TableOptions& options, const std::vector<int>& positions,
                      std::vector<ColumnStats>& stats);

}  // namespace molgraph

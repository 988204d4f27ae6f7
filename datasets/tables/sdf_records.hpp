// Records of an SD file: the mol block as it stands, its title and its data items.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/tables/table_lines.hpp"

namespace molgraph {

/// One record. Values of several lines are joined by line feeds.
struct SdfRecord {
  std::string title;      ///< first line, trimmed
  std::string mol_block;  ///< up to and with "M  END" (or all lines before the first data item)
  std::vector<std::pair<std::string, std::string>> properties;  ///< in file order
  std::size_t bytes = 0;                                        ///< of text, to bound what is held
};

/// Reads the next record; the last one may lack its "$$$$". Throws DataError for a record above kMostRowBytes.
bool read_sdf_record(LineReader& lines, std::int64_t row, SdfRecord& record);

}  // namespace molgraph

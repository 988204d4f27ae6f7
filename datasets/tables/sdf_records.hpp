// Records of an SD file: the unchanged mol block, its title and its data items.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/tables/table_lines.hpp"

namespace molgraph {

/// One record. Values with several lines are joined by line feeds.
struct SdfRecord {
  std::string title;      ///< first line, trimmed
  std::string mol_block;  ///< up to and including "M  END" (or all lines before the first data item)
  std::vector<std::pair<std::string, std::string>> properties;  ///< in file order
  std::size_t bytes = 0;                                        ///< size of the text, to limit memory
};

/// Reads the next record; the last one may lack its "$$$$". Throws DataError if a record exceeds kMaxRowBytes.
bool read_sdf_record(LineReader& lines, std::int64_t row, SdfRecord& record);

}  // namespace molgraph

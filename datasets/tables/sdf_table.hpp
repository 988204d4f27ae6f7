// An SD file as a table: its columns, and its records as rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/tables/sdf_records.hpp"
#include "datasets/tables/table_reader.hpp"

namespace molgraph {

class SdfTable {
 public:
  /// Reads ahead (1,000 records or 64 MiB) and returns the columns: smiles, name (if a record has a title) and the
  /// properties. If `whole` is not null, it is a second reader of the same file, and the columns are those of all
  /// records. Throws DataError.
  std::vector<std::string> find_columns(LineReader& lines, LineReader* whole);
  /// Reads the next record, which has this 0-based number. Returns false at the end. A property without a column is
  /// left out; the first one is reported.
  bool next(LineReader& lines, std::int64_t row, TableRow& out, const ReadingHooks& hooks);

  /// Whether there are records that next() has not returned yet.
  bool has_read_ahead() const { return !records_.empty(); }
  void forget_read_ahead() { records_.clear(); }

 private:
  void add_properties(const SdfRecord& record, const LineReader& lines, std::int64_t row);

  std::deque<SdfRecord> records_;  ///< read ahead
  bool has_names_ = false;         ///< the title has a column
  bool reported_ = false;          ///< a property without a column
  std::vector<std::string> properties_;
  std::unordered_map<std::string, std::size_t> property_columns_;
};

}  // namespace molgraph

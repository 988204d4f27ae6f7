// Several tables read as one, in constant memory, from any place on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// Where the tables are to be read on.
struct InputPosition {
  std::size_t table = 0;    ///< index of the table
  std::int64_t number = 0;  ///< 0-based number of the next row, counted through all tables
  TablePosition in_table;
};

/// All tables must have the columns of the first; where their order differs, cells are put into the first one's order.
class InputTables {
 public:
  /// `inputs`: paths, patterns ("library/*.csv.gz", sorted by name) or "-" alone for standard input. The columns of all
  /// are looked at now. Throws FileError (nothing matches, unreadable), DataError (other columns), UsageError (a stream
  /// beside other inputs).
  InputTables(const std::vector<std::string>& inputs, const TableOptions& options);

  const std::vector<std::string>& columns() const { return columns_; }
  int smiles_column() const { return smiles_column_; }
  int id_column() const { return id_column_; }    ///< -1 = row number
  TableFormat format() const { return format_; }  ///< of the first table
  std::size_t tables() const { return paths_.size(); }
  /// "-" or a path.
  const std::string& path(std::size_t table) const { return paths_[table]; }
  /// Can be read only once.
  bool is_stream() const { return stream_; }

  /// False at the end. `row.row` counts within its table.
  bool next(TableRow& row);
  /// Of the row that next() gave last.
  std::size_t table() const { return table_; }
  InputPosition position() const;
  /// How much of all bytes lies before this place, from 0 to 1; -1 = unknown: a stream or gzipped tables.
  double share_before(const InputPosition& position) const;
  /// Not for streams, but to go forward. Throws FileError.
  void seek(const InputPosition& position);
  /// True if next() would wait for whoever writes into the pipe.
  bool would_wait() const { return reader_ && reader_->would_wait(); }

 private:
  void open(std::size_t table);

  std::vector<std::string> paths_;
  TableOptions options_;
  std::vector<std::string> columns_;
  int smiles_column_ = 0, id_column_ = -1;
  TableFormat format_ = TableFormat::csv;
  bool stream_ = false;
  std::unique_ptr<TableReader> reader_;
  std::size_t table_ = 0;
  std::vector<std::size_t> place_;  ///< [columns] of the open table: index in columns_; empty = the same order
  std::int64_t number_ = 0;
  std::vector<std::uint64_t> bytes_before_;  ///< [tables + 1]; empty = unknown
};

/// The paths that `inputs` stand for: patterns expanded and sorted, everything else as it is. Throws FileError.
std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs);

/// Text that changes when the content of a file does: its size, and a hash of its first and last 64 KiB. For files that
/// are too long to be read twice.
std::string content_mark(const std::string& path);
/// The file's name and its content_mark().
std::string fingerprint_of(const std::string& path);

}  // namespace molgraph

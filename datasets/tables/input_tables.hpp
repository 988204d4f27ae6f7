// Several tables read as one, in constant memory, from any position.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// Position at which reading of the tables continues.
struct InputPosition {
  std::size_t table = 0;    ///< index of the table
  std::int64_t number = 0;  ///< 0-based number of the next row across all tables
  TablePosition in_table;
};

/// All tables must have the columns of the first. If their order differs, cells are put into the order of the first
/// table.
class InputTables {
 public:
  /// `inputs`: paths, patterns ("library/*.csv.gz", sorted by name) or only "-" for standard input. Checks the columns
  /// of all tables immediately. Throws FileError (no matching file, unreadable), DataError (different columns),
  /// UsageError (a stream together with other inputs).
  InputTables(const std::vector<std::string>& inputs, const TableOptions& options);

  const std::vector<std::string>& columns() const { return columns_; }
  int smiles_column() const { return smiles_column_; }
  int id_column() const { return id_column_; }    ///< -1 = row number
  TableFormat format() const { return format_; }  ///< of the first table
  std::size_t tables() const { return paths_.size(); }
  /// Returns "-" or a path.
  const std::string& path(std::size_t table) const { return paths_[table]; }
  /// True if the input can be read only once.
  bool is_stream() const { return stream_; }

  /// Returns false at the end. `row.row` counts within its table.
  bool next(TableRow& row);
  /// Index of the table of the row that next() returned last.
  std::size_t table() const { return table_; }
  InputPosition position() const;
  /// Returns the share of all bytes before this position, from 0 to 1; -1 = unknown (a stream or gzipped tables).
  double share_before(const InputPosition& position) const;
  /// Streams can only be moved forward. Throws FileError.
  void seek(const InputPosition& position);
  /// True if next() would block until the other end of the pipe writes.
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
  std::vector<std::size_t> column_index_;  ///< [columns] of the open table: index in columns_; empty = same order
  std::int64_t number_ = 0;
  std::vector<std::uint64_t> bytes_before_;  ///< [tables + 1]; empty = unknown
};

/// Returns the paths of `inputs`: expands and sorts patterns, keeps everything else. Throws FileError.
std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs);

/// Returns text that changes when the content of a file changes: its size, and a hash of its first and last 64 KiB. For
/// files that are too large to be read twice.
std::string content_fingerprint(const std::string& path);
/// Returns the file's name and its content_fingerprint().
std::string fingerprint_of(const std::string& path);

}  // namespace molgraph

// The rows of a table in windows, read ahead by a thread of its own; and what became of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/table_reader.hpp"
#include "featurize/smiles.hpp"

namespace molgraph {

/// Consecutive rows and the molecules in them.
struct RowWindow {
  std::vector<TableRow> rows;
  std::vector<std::string> molecules;  ///< [rows] SMILES or mol blocks; "" for a malformed row
  bool mol_blocks = false;             ///< what `molecules` are
};

/// Memory is bounded by a few windows, whatever the length of the table.
class RowWindows {
 public:
  /// Opens the table and begins to read. Throws as TableReader does. From here on SIGINT and SIGTERM are caught: a read
  /// that waits for input does not hinder next() from throwing Stopped.
  RowWindows(const std::string& path, const TableOptions& options, std::size_t rows_per_window);
  ~RowWindows();
  RowWindows(const RowWindows&) = delete;
  RowWindows& operator=(const RowWindows&) = delete;

  const std::vector<std::string>& columns() const;
  int smiles_column() const;
  TableFormat format() const;
  /// The cell of the id column, else the row's 0-based number.
  std::string id(const TableRow& row) const;
  /// The molecule as the table states it; of an SDF record the canonical SMILES that complete_smiles() found.
  const std::string& smiles(const TableRow& row) const;
  /// Fills the empty SMILES cells of SDF records, on `threads` threads.
  void complete_smiles(RowWindow& window, int threads) const;

  /// False at the end. Throws what reading threw, after the rows before it; and Stopped.
  bool next(RowWindow& window);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the reading thread, which may outlive this object in a blocked read
};

/// A malformed row is no molecule, whatever its cells say: `results` (Prediction or Embedding) get its status and
/// reason.
template <class Result>
void mark_malformed_rows(const RowWindow& window, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (window.rows[i].problem.empty()) continue;
    results[i].status = RowStatus::invalid_smiles;
    results[i].reason = window.rows[i].problem;
  }
}

/// How many rows ended how.
class StatusCounts {
 public:
  void add(RowStatus status) { ++counts_[static_cast<std::size_t>(status)]; }
  std::int64_t rows() const;
  std::int64_t ok() const { return counts_[0]; }
  /// "12 ok, 1 empty, 2 invalid_smiles"; statuses that did not occur are left out, but for ok.
  std::string text() const;

 private:
  std::array<std::int64_t, 6> counts_{};  // by RowStatus, ok first
};

/// What --strict says to a bad row. Throws DataError naming input, row, reason and text.
[[noreturn]] void refuse_row(const std::string& input, const TableRow& row, RowStatus status, const std::string& reason,
                             const std::string& text);

/// The last lines of a program that went over a table: the counts on the log; 3 without any usable row, else 0.
int finish_rows(const StatusCounts& counts, double seconds);

}  // namespace molgraph

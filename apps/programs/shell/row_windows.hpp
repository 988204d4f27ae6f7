// Windows of table rows, read ahead by a separate thread, and counts of the rows' statuses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/tables/input_tables.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// Consecutive rows of one table and their molecules.
struct RowWindow {
  std::vector<TableRow> rows;
  std::vector<std::string> molecules;  ///< [rows] SMILES or mol blocks; "" for a malformed row
  bool mol_blocks = false;             ///< `molecules` are mol blocks, not SMILES
  std::size_t table = 0;               ///< index of the table
  std::int64_t first = 0;              ///< number of the first row, counted over all tables
  InputPosition end;                   ///< start of the next window
  double share = -1;                   ///< InputTables::share_before(end)
};

struct WindowOptions {
  std::size_t rows = 512;  ///< maximum per window; the first windows are smaller, so that results appear early
  std::int64_t block = 0;  ///< windows end at row numbers that are multiples of this; 0 = no such limit
  std::int64_t end = -1;   ///< number of the row to stop before; -1 = read all
};

/// Reads tables ahead. Memory is bounded by a few windows, regardless of row length. A window ends early if a pipe has
/// no more data at the moment, so that available rows are not delayed.
class RowWindows {
 public:
  /// Starts reading at the current position of `tables` and catches SIGINT and SIGTERM from now on. next() throws
  /// Stopped even while a read is waiting for input.
  RowWindows(InputTables tables, const WindowOptions& options);
  ~RowWindows();
  RowWindows(const RowWindows&) = delete;
  RowWindows& operator=(const RowWindows&) = delete;

  /// The cell of the id column. Without an id column, or if the cell is blank, the row number over all tables, from 1.
  std::string id(const RowWindow& window, std::size_t row) const;
  /// The SMILES from the table; for an SDF record, the canonical SMILES from complete_smiles().
  const std::string& smiles(const TableRow& row) const;
  /// Fills empty SMILES cells of SDF records, except those of molecules that are too large (`results` [rows]:
  /// Prediction or Embedding): RDKit may need minutes for them.
  template <class Result>
  void complete_smiles(RowWindow& window, const std::vector<Result>& results) const;

  /// Returns false at the end and after cancel(). Rethrows an exception of the reader after all earlier rows. Throws
  /// Stopped after a signal. Thread-safe: each thread gets different windows.
  bool next(RowWindow& window);
  /// Makes next() return false immediately, even if it is waiting in another thread.
  void cancel();

 private:
  void complete_smiles(TableRow& row) const;

  struct State;
  std::shared_ptr<State> state_;  // shared with the reading thread, which may outlive this object in a blocked read
};

template <class Result>
void RowWindows::complete_smiles(RowWindow& window, const std::vector<Result>& results) const {
  for (std::size_t i = 0; window.mol_blocks && i < results.size(); ++i)
    if (results[i].status != RowStatus::too_large) complete_smiles(window.rows[i]);
}

/// Sets status and reason of malformed rows in `results` (Prediction or Embedding), regardless of their cells.
template <class Result>
void mark_malformed_rows(const RowWindow& window, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (window.rows[i].problem.empty()) continue;
    results[i].status = RowStatus::invalid_smiles;
    results[i].reason = window.rows[i].problem;
  }
}

/// Number of rows per status.
class StatusCounts {
 public:
  static constexpr std::size_t kStatuses = static_cast<std::size_t>(RowStatus::invalid_input) + 1;  // the last status

  void add(RowStatus status) { ++counts_[static_cast<std::size_t>(status)]; }
  void add(const StatusCounts& others) {
    for (std::size_t s = 0; s < kStatuses; ++s) counts_[s] += others.counts_[s];
  }
  std::int64_t rows() const;
  std::int64_t ok() const { return counts_[0]; }
  const std::array<std::int64_t, kStatuses>& by_status() const { return counts_; }
  void set(const std::array<std::int64_t, kStatuses>& counts) { counts_ = counts; }
  /// For example "12 ok, 1 empty, 2 invalid_smiles"; omits statuses with a count of zero, except ok.
  std::string text() const;

 private:
  std::array<std::int64_t, kStatuses> counts_{};  // index: RowStatus
};

/// Logs the counts at the end of a program that processed a table. Returns exit code 3 if no row is usable, else 0.
int finish_rows(const StatusCounts& counts, double seconds);

}  // namespace molgraph

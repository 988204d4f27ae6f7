// The rows of a table in windows, read ahead by a thread of its own; and what became of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/tables/input_tables.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// Consecutive rows of one table and the molecules in them.
struct RowWindow {
  std::vector<TableRow> rows;
  std::vector<std::string> molecules;  ///< [rows] SMILES or mol blocks; "" for a malformed row
  bool mol_blocks = false;             ///< what `molecules` are
  std::size_t table = 0;               ///< index of the table
  std::int64_t first = 0;              ///< number of the first row, counted through all tables
  InputPosition end;                   ///< where the next window begins
  double share = -1;                   ///< InputTables::share_before() the end
};

struct WindowOptions {
  std::size_t rows = 512;  ///< per window at most; the first ones are smaller, so that results come early
  std::int64_t block = 0;  ///< no window goes past a row whose number is a multiple of this; 0 = no such limit
  std::int64_t end = -1;   ///< number of the row to stop before; -1 = read all
};

/// Reads tables ahead. Memory is bounded by a few windows, whatever their length; a pipe that gives no more for the
/// moment ends a window, so that nobody waits for rows to come.
class RowWindows {
 public:
  /// Begins to read at the place where `tables` stand. From here on SIGINT and SIGTERM are caught: a read that waits
  /// for input does not hinder next() from throwing Stopped.
  RowWindows(InputTables tables, const WindowOptions& options);
  ~RowWindows();
  RowWindows(const RowWindows&) = delete;
  RowWindows& operator=(const RowWindows&) = delete;

  /// The cell of the id column; where there is none or it is blank, the number of the row through all tables, from 1.
  std::string id(const RowWindow& window, std::size_t row) const;
  /// The molecule as the table states it; of an SDF record the canonical SMILES that complete_smiles() found.
  const std::string& smiles(const TableRow& row) const;
  /// Fills the empty SMILES cells of SDF records.
  void complete_smiles(RowWindow& window) const;

  /// False at the end, and after cancel(). Throws what reading threw, after the rows before it; and Stopped. May be
  /// called by several threads, which then get different windows.
  bool next(RowWindow& window);
  /// Lets next() return false at once, also where it waits in another thread.
  void cancel();

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
  static constexpr std::size_t kStatuses = static_cast<std::size_t>(RowStatus::invalid_input) + 1;  // the last of them

  void add(RowStatus status) { ++counts_[static_cast<std::size_t>(status)]; }
  void add(const StatusCounts& others) {
    for (std::size_t s = 0; s < kStatuses; ++s) counts_[s] += others.counts_[s];
  }
  std::int64_t rows() const;
  std::int64_t ok() const { return counts_[0]; }
  const std::array<std::int64_t, kStatuses>& by_status() const { return counts_; }
  void set(const std::array<std::int64_t, kStatuses>& counts) { counts_ = counts; }
  /// "12 ok, 1 empty, 2 invalid_smiles"; statuses that did not occur are left out, but for ok.
  std::string text() const;

 private:
  std::array<std::int64_t, kStatuses> counts_{};  // by RowStatus, ok first
};

/// The last lines of a program that went over a table: the counts on the log; 3 without any usable row, else 0.
int finish_rows(const StatusCounts& counts, double seconds);

}  // namespace molgraph

#include "apps/programs/shell/row_windows.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "apps/programs/shell/program.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/tables/column_stats.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kWindowsAhead = 2;
constexpr std::size_t kFirstRows = 32;              // rows of the first windows
constexpr int kWindowsOfSize = 16;                  // number of windows before their length doubles
constexpr std::size_t kBytesPerWindow = 16u << 20;  // bounds memory if rows are long
constexpr std::chrono::milliseconds kSignalCheckInterval{100};
constexpr std::chrono::milliseconds kWaitForReader{200};

std::size_t bytes_of(const TableRow& row) {
  std::size_t bytes = row.mol_block.size() + row.problem.size();
  for (const std::string& cell : row.cells) bytes += sizeof(std::string) + cell.size();
  return bytes;
}

}  // namespace

struct RowWindows::State {
  State(InputTables tables_, const WindowOptions& options_)
      : tables(std::move(tables_)), options(options_), window_rows(std::min(kFirstRows, options_.rows)),
        smiles_column(tables.smiles_column()), id_column(tables.id_column()) {}

  InputTables tables;  // used only by the reading thread once it runs
  const WindowOptions options;
  std::size_t window_rows;  // grows to options.rows
  int windows_of_size = 0;
  const int smiles_column, id_column;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<RowWindow> ready;
  std::exception_ptr error;
  bool done = false, cancelled = false;
  std::thread thread;
  TableRow row;  // already read, belongs to the next table
  bool row_pending = false;

  /// False if the window must end before the next row.
  bool may_continue(const RowWindow& window, std::size_t bytes) const {
    if (window.rows.size() >= window_rows || bytes >= kBytesPerWindow) return false;
    const std::int64_t next = window.first + static_cast<std::int64_t>(window.rows.size());
    if (options.end >= 0 && next >= options.end) return false;
    if (window.rows.empty()) return true;
    return (options.block == 0 || next % options.block != 0) && !tables.would_wait();
  }

  /// Reads the next row into `row`; false at the end and after an error.
  bool read_row() {
    try {
      return tables.next(row);
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }

  RowWindow read_window() {
    RowWindow window;
    window.end = tables.position();
    window.first = window.end.number - (row_pending ? 1 : 0);
    std::size_t bytes = 0;
    while (may_continue(window, bytes)) {
      if (!row_pending && !read_row()) break;
      row_pending = !window.rows.empty() && tables.table() != window.table;
      if (row_pending) break;
      window.table = tables.table();
      bytes += bytes_of(row);
      window.mol_blocks = window.mol_blocks || !row.mol_block.empty();
      window.rows.push_back(std::move(row));
      row = {};
      window.end = tables.position();
    }
    window.share = tables.share_before(window.end);
    for (const TableRow& one : window.rows) {
      const bool malformed = !one.problem.empty();
      const std::string& text = window.mol_blocks ? one.mol_block : one.cells[static_cast<std::size_t>(smiles_column)];
      window.molecules.push_back(malformed ? std::string() : text);
    }
    if (++windows_of_size == kWindowsOfSize && window_rows < options.rows) {
      window_rows = std::min(options.rows, 2 * window_rows);
      windows_of_size = 0;
    }
    return window;
  }

  void read_all() {
    while (true) {
      RowWindow window = read_window();
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return ready.size() < kWindowsAhead || cancelled; });
      const bool last = error != nullptr || window.rows.empty() || cancelled;
      if (!window.rows.empty()) ready.push_back(std::move(window));
      done = last;
      changed.notify_all();
      if (last) return;
    }
  }
};

RowWindows::RowWindows(InputTables tables, const WindowOptions& options)
    : state_(std::make_shared<State>(std::move(tables), options)) {
  catch_stop_signals();
  state_->thread = std::thread([state = state_] { state->read_all(); });
}

RowWindows::~RowWindows() {
  std::unique_lock lock(state_->mutex);
  state_->cancelled = true;
  state_->changed.notify_all();
  // A read from a terminal or a pipe may block forever. The thread then ends with the process.
  const bool ended = state_->changed.wait_for(lock, kWaitForReader, [&] { return state_->done; });
  lock.unlock();
  if (ended) {
    state_->thread.join();
  } else {
    state_->thread.detach();
  }
}

void RowWindows::cancel() {
  const std::lock_guard lock(state_->mutex);
  state_->cancelled = true;
  state_->changed.notify_all();
}

std::string RowWindows::id(const RowWindow& window, std::size_t row) const {
  if (const int column = state_->id_column; column >= 0) {
    const std::string& cell = window.rows[row].cells[static_cast<std::size_t>(column)];
    if (!is_missing(cell)) return cell;  // an SMI has a column of names even if no line has a name
  }
  return std::to_string(window.first + static_cast<std::int64_t>(row) + 1);  // counted as in messages and training
}

const std::string& RowWindows::smiles(const TableRow& row) const {
  return row.cells[static_cast<std::size_t>(state_->smiles_column)];
}

void RowWindows::complete_smiles(TableRow& row) const {
  std::string& cell = row.cells[static_cast<std::size_t>(state_->smiles_column)];
  if (cell.empty()) cell = smiles_of_mol_block(row.mol_block);
}

bool RowWindows::next(RowWindow& window) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  while (true) {
    if (state.cancelled) return false;
    if (const int signal = stop_requested()) throw Stopped{signal};
    if (!state.ready.empty()) {
      window = std::move(state.ready.front());
      state.ready.pop_front();
      state.changed.notify_all();
      return true;
    }
    if (state.done) {
      if (state.error) std::rethrow_exception(std::exchange(state.error, nullptr));
      return false;
    }
    state.changed.wait_for(lock, kSignalCheckInterval);
  }
}

std::int64_t StatusCounts::rows() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }

std::string StatusCounts::text() const {
  std::string text;
  for (std::size_t s = 0; s < counts_.size(); ++s) {
    if (counts_[s] == 0 && s != 0) continue;
    text += (text.empty() ? "" : ", ") + with_thousands(counts_[s]) + " " +
            std::string(to_string(static_cast<RowStatus>(s)));
  }
  return text;
}

int finish_rows(const StatusCounts& counts, double seconds) {
  const std::string summary =
      with_thousands(counts.rows()) + " rows in " + duration_text(seconds) + ": " + counts.text();
  if (counts.ok() == 0) {
    spdlog::error("no usable row; {}", summary);
    return kExitData;
  }
  if (counts.ok() == counts.rows()) {
    spdlog::info("{}", summary);
  } else {
    spdlog::warn("{}; see the columns status and reason", summary);
  }
  return kExitDone;
}

}  // namespace molgraph

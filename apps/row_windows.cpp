#include "apps/row_windows.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "apps/program.hpp"
#include "datasets/threads.hpp"
#include "featurize/chemistry.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kWindowsAhead = 2;
constexpr std::size_t kBytesPerWindow = 64u << 20;  // long rows fill a window earlier, so that memory stays bounded
constexpr std::chrono::milliseconds kLookAtSignals{100};
constexpr std::chrono::milliseconds kWaitForReader{200};

std::size_t bytes_of(const TableRow& row) {
  std::size_t bytes = row.mol_block.size() + row.problem.size();
  for (const std::string& cell : row.cells) bytes += cell.size();
  return bytes;
}

}  // namespace

struct RowWindows::State {
  State(const std::string& path, const TableOptions& options, std::size_t rows)
      : reader(path, options),
        rows_per_window(rows),
        columns(reader.columns()),
        smiles_column(reader.smiles_column()),
        id_column(reader.id_column()) {}

  TableReader reader;  // used by the reading thread alone once it runs
  const std::size_t rows_per_window;
  const std::vector<std::string> columns;
  const int smiles_column, id_column;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<RowWindow> ready;
  std::exception_ptr error;
  bool done = false, unwanted = false;
  std::thread thread;

  RowWindow read_window() {
    RowWindow window;
    std::size_t bytes = 0;
    TableRow row;
    while (window.rows.size() < rows_per_window && bytes < kBytesPerWindow) {
      try {
        if (!reader.next(row)) break;
      } catch (...) {
        error = std::current_exception();
        break;
      }
      bytes += bytes_of(row);
      window.mol_blocks = window.mol_blocks || !row.mol_block.empty();
      window.rows.push_back(std::move(row));
      row = {};
    }
    for (const TableRow& one : window.rows) {
      const bool malformed = !one.problem.empty();
      const std::string& text = window.mol_blocks ? one.mol_block : one.cells[static_cast<std::size_t>(smiles_column)];
      window.molecules.push_back(malformed ? std::string() : text);
    }
    return window;
  }

  void read_all() {
    while (true) {
      RowWindow window = read_window();
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return ready.size() < kWindowsAhead || unwanted; });
      const bool last = error != nullptr || window.rows.empty() || unwanted;
      if (!window.rows.empty()) ready.push_back(std::move(window));
      done = last;
      changed.notify_all();
      if (last) return;
    }
  }
};

RowWindows::RowWindows(const std::string& path, const TableOptions& options, std::size_t rows_per_window)
    : state_(std::make_shared<State>(path, options, rows_per_window)) {
  catch_stop_signals();
  state_->thread = std::thread([state = state_] { state->read_all(); });
}

RowWindows::~RowWindows() {
  std::unique_lock lock(state_->mutex);
  state_->unwanted = true;
  state_->changed.notify_all();
  // A read from a terminal or a pipe may wait for ever: then the thread ends with the process.
  const bool ended = state_->changed.wait_for(lock, kWaitForReader, [&] { return state_->done; });
  lock.unlock();
  if (ended) {
    state_->thread.join();
  } else {
    state_->thread.detach();
  }
}

const std::vector<std::string>& RowWindows::columns() const { return state_->columns; }
int RowWindows::smiles_column() const { return state_->smiles_column; }
TableFormat RowWindows::format() const { return state_->reader.format(); }

std::string RowWindows::id(const TableRow& row) const {
  const int column = state_->id_column;
  return column >= 0 ? row.cells[static_cast<std::size_t>(column)] : std::to_string(row.row + 1);  // as messages and the trainer count
}

const std::string& RowWindows::smiles(const TableRow& row) const {
  return row.cells[static_cast<std::size_t>(state_->smiles_column)];
}

void RowWindows::complete_smiles(RowWindow& window, int threads) const {
  if (!window.mol_blocks) return;
  constexpr std::int64_t kPiece = 16;
  parallel_for(static_cast<std::int64_t>(window.rows.size()), kPiece, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   TableRow& row = window.rows[static_cast<std::size_t>(i)];
                   std::string& cell = row.cells[static_cast<std::size_t>(state_->smiles_column)];
                   if (cell.empty()) cell = smiles_of_mol_block(row.mol_block);
                 }
               });
}

bool RowWindows::next(RowWindow& window) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  while (true) {
    if (const int signal = stop_requested()) throw Stopped{signal};
    if (!state.ready.empty()) {
      window = std::move(state.ready.front());
      state.ready.pop_front();
      state.changed.notify_all();
      return true;
    }
    if (state.done) {
      if (state.error) std::rethrow_exception(state.error);
      return false;
    }
    state.changed.wait_for(lock, kLookAtSignals);
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

void refuse_row(const std::string& input, const TableRow& row, RowStatus status, const std::string& reason,
                const std::string& text) {
  throw DataError(input == "-" ? "standard input" : input, row.row + 1, std::string(to_string(status)) + ": " + reason,
                  text);
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

// Code that molgraph-score and molgraph-embed share: parallel processing of tables in constant memory that keeps the
// order of the rows, shards, and resuming after an interruption.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/batch/resume_record.hpp"
#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/ordered_pipeline.hpp"
#include "apps/programs/shell/output_file.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/programs/shell/row_windows.hpp"
#include "apps/scoring/predictor.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {

struct BatchOptions {
  CommonOptions common;
  TableFlags table;
  std::vector<std::string> inputs;
  std::string output;
  std::string shard;  ///< "i/n"
  bool strict = false, resume = false;
  int batch_size = static_cast<int>(WindowOptions{}.rows);
  std::string precision = "fp32";
  std::string config;  ///< the --config file

  PredictorOptions predictor() const;
};

/// Throws UsageError if an output file is also an input. `models`: model files; `read`: other input files; `written`:
/// all files that the program may write; empty = those of a line output OUT.
void reject_overwriting(const BatchOptions& options, const std::vector<std::string>& models, std::vector<FileRole> read,
                        const std::vector<std::string>& written = {});

/// Adds all options except the model. `output_help` lists the suffixes.
void add_batch_options(CommandLine& line, BatchOptions& options, const std::string& output_help);

/// Rows per gzip member. If the output is gzipped, the bounds of shards are multiples of this.
inline constexpr std::int64_t kRowsPerMember = 8192;

/// Logs how molecules are standardised, if at all, and if the precision of matrix products differs from the option.
void log_model_notes(const Predictor& predictor);

/// The input rows that this process handles.
struct InputRange {
  InputTables tables;         ///< positioned at the first row
  std::int64_t first = 0;     ///< number of the first row
  std::int64_t end = -1;      ///< number of the row to stop before; -1 = no shard
  bool writes_header = true;  ///< the output begins with the header: no shard, or shard 0
};
/// Opens the input. Counts the rows first if there is a shard. Throws the errors of InputTables, and UsageError for an
/// invalid shard.
InputRange open_input(const BatchOptions& options);

/// A processed window.
template <class Result>
struct DoneWindow {
  RowWindow window;
  std::vector<Result> results;  ///< [rows]
  std::string text;             ///< result of RowSink::text()
  StatusCounts counts;
};

/// Receives the results.
template <class Result>
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Returns the lines of a window. Called by several threads.
  virtual std::string text(const RowWindows&, const RowWindow&, const std::vector<Result>&) const { return {}; }
  /// Called in order by one thread.
  virtual void write(const RowWindows& windows, const DoneWindow<Result>& done) = 0;
  virtual void finish() = 0;
  /// False if write() needs only the text. Rows and results are then freed early.
  virtual bool needs_rows() const { return true; }
  /// Called instead of finish() after a signal or an error. Keeps the rows written so far if they are useful, and
  /// returns a description of where they are; "" if they are lost.
  virtual std::string keep(bool /*stopped_by_signal*/) { return {}; }
  /// Called instead of finish() if --strict allows no output.
  virtual void discard() {}
};

/// Writes lines to a file or stream. Output to a file can be resumed.
class TextOutput {
 public:
  /// `weights`: the model's files; `made_from`: options specific to this program that the output depends on. With
  /// --resume, done() is true afterwards if nothing is left to do; otherwise, `range` is positioned at the next row.
  /// Throws UsageError if --resume is impossible or missing, FileError if an existing output was made from other inputs
  /// or has no record of its inputs, and DataError if --strict rejects rows of a finished output.
  TextOutput(const BatchOptions& options, InputRange& range, std::string header,
             const std::vector<std::string>& weights, std::map<std::string, std::string> made_from);
  /// Without finish() or keep(), leaves OUT.part only if it can be resumed.
  ~TextOutput();
  bool done() const { return done_; }
  /// If done(): the exit code of the call that wrote the output.
  int exit_code() const;
  /// Counts of the rows of the earlier call.
  const StatusCounts& counts() const { return record_.counts; }

  void write(std::string_view text, const InputPosition& end, const StatusCounts& counts);
  void finish();
  std::string keep(bool stopped_by_signal);
  void discard();

 private:
  std::optional<ResumeRecord> unfinished_before(const BatchOptions& options) const;
  void check_finished(const BatchOptions& options);
  void write_block();
  void save_record();
  bool record_complete_part();

  std::string path_, part_;  // OUT, with symbolic links resolved, and OUT.part
  bool gzip_ = false, stream_ = false, resumable_ = false, done_ = false, shard_ = false;
  std::unique_ptr<OutputFile> file_;
  std::string text_;            // text of an incomplete gzip member
  ResumeRecord record_;         // contents of the file
  InputPosition received_end_;  // end of the last write(), whose text may still be in text_
  StatusCounts received_counts_;
  bool recorded_ = false;  // there is an OUT.part.json
  std::chrono::steady_clock::time_point next_save_;
};

/// Processes all rows. `compute` returns one result per molecule of the window and is called by several threads.
/// `before`: counts of rows that an interrupted call wrote. Returns the exit code.
template <class Result>
int run_batch(const BatchOptions& options, const std::string& what, InputRange range, StatusCounts before,
              const std::function<std::vector<Result>(const RowWindow&)>& compute, RowSink<Result>& sink);

/// A sink for results that are lines of text.
template <class Result>
class TextSink : public RowSink<Result> {
 public:
  using Format = std::function<std::string(const RowWindows&, const RowWindow&, const std::vector<Result>&)>;
  TextSink(TextOutput& output, Format format) : output_(output), format_(std::move(format)) {}
  std::string text(const RowWindows& windows, const RowWindow& window,
                   const std::vector<Result>& results) const override {
    return format_(windows, window, results);
  }
  void write(const RowWindows&, const DoneWindow<Result>& done) override {
    output_.write(done.text, done.window.end, done.counts);
  }
  void finish() override { output_.finish(); }
  bool needs_rows() const override { return false; }
  std::string keep(bool stopped_by_signal) override { return output_.keep(stopped_by_signal); }
  void discard() override { output_.discard(); }

 private:
  TextOutput& output_;
  Format format_;
};

// --- templates ---

/// Ends a --strict call at the first bad row. Throws DataError with input, row, reason and text.
[[noreturn]] void reject_row(const std::string& input, const TableRow& row, RowStatus status, const std::string& reason,
                             const std::string& text);
WindowOptions window_options(const BatchOptions& options, const InputRange& range);
void log_interruption(std::int64_t rows, const std::string& where);
int finish_batch(const BatchOptions& options, const StatusCounts& counts, double seconds);

template <class Result>
int run_batch(const BatchOptions& options, const std::string& what, InputRange range, StatusCounts before,
              const std::function<std::vector<Result>(const RowWindow&)>& compute, RowSink<Result>& sink) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < range.tables.tables(); ++t) names.push_back(range.tables.path(t));
  const WindowOptions chosen = window_options(options, range);
  const double share_before = range.tables.share_before(range.tables.position());
  RowWindows windows(std::move(range.tables), chosen);
  StatusCounts counts = before;
  Progress progress(what, "molecules", range.end < 0 ? 0 : range.end - range.first - before.rows());
  progress.set_share(share_before);
  bool rejects = false;  // --strict ends the call
  OrderedPipeline<RowWindow, DoneWindow<Result>> pipeline;
  pipeline.threads = thread_count(options.common.threads);
  pipeline.next = [&](RowWindow& window) { return windows.next(window); };
  pipeline.cancel = [&] { windows.cancel(); };
  pipeline.work = [&](RowWindow&& window) {
    DoneWindow<Result> done{std::move(window), {}, {}, {}};
    done.results = compute(done.window);
    mark_malformed_rows(done.window, done.results);
    windows.complete_smiles(done.window, done.results);
    for (const Result& result : done.results) done.counts.add(result.status);
    done.text = sink.text(windows, done.window, done.results);
    if (!sink.needs_rows() && !options.strict) {
      done.window.rows = {};
      done.results = {};
    }
    done.window.molecules = {};
    return done;
  };
  pipeline.consume = [&](DoneWindow<Result>&& done) {
    for (std::size_t i = 0; options.strict && i < done.results.size(); ++i) {
      const Result& result = done.results[i];
      const TableRow& row = done.window.rows[i];
      if (result.status != RowStatus::ok) {
        rejects = true;
        reject_row(names[done.window.table], row, result.status, result.reason, windows.smiles(row));
      }
    }
    sink.write(windows, done);
    counts.add(done.counts);
    progress.set_share(done.window.share);
    progress.update(counts.rows() - before.rows());
  };
  try {
    pipeline.run();
    sink.finish();
  } catch (const Stopped&) {
    log_interruption(counts.rows(), sink.keep(true));
    throw;
  } catch (const ClosedPipe&) {
    throw;
  } catch (...) {
    if (rejects) sink.discard();
    else log_interruption(counts.rows(), sink.keep(false));
    throw;
  }
  return finish_batch(options, counts, progress.seconds());
}

}  // namespace molgraph

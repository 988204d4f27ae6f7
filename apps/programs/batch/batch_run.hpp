// What molgraph-score and molgraph-embed have in common: tables in, rows out in the same order, in constant memory, on
// all cores; shards; and going on after an interruption.
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
  std::string config;  ///< the file of --config

  PredictorOptions predictor() const;
};

/// Throws UsageError if one of the files to write is read too. `models`: their files; `read`: what else the program
/// reads; `written`: all files that it may write; empty = those of lines in OUT.
void refuse_overwriting(const BatchOptions& options, const std::vector<std::string>& models, std::vector<FileRole> read,
                        const std::vector<std::string>& written = {});

/// Adds everything but the model. `output_help` says which suffixes there are.
void add_batch_options(CommandLine& line, BatchOptions& options, const std::string& output_help);

/// Rows of one gzip member, and of one step of a shard's bounds where the output is gzipped.
inline constexpr std::int64_t kRowsPerMember = 8192;

/// Says what is done to each molecule before the model sees it, where anything is, and if products are computed in
/// another precision than was asked for.
void tell_model(const Predictor& predictor);

/// The rows of the inputs that this process is to work on.
struct InputRange {
  InputTables tables;      ///< stands at the first row
  std::int64_t first = 0;  ///< its number
  std::int64_t end = -1;   ///< number of the row to stop before; -1 = there is no shard
  bool leads = true;       ///< the output begins with the header: no shard, or shard 0
};
/// Counts the rows first where there is a shard. Throws as InputTables does; UsageError for a shard that is none.
InputRange open_input(const BatchOptions& options);

/// What a worker made of a window.
template <class Result>
struct DoneWindow {
  RowWindow window;
  std::vector<Result> results;  ///< [rows]
  std::string text;             ///< of RowSink::text()
  StatusCounts counts;
};

/// Where the results go to.
template <class Result>
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Lines of a window; called by several threads.
  virtual std::string text(const RowWindows&, const RowWindow&, const std::vector<Result>&) const { return {}; }
  /// In order, by one thread.
  virtual void write(const RowWindows& windows, const DoneWindow<Result>& done) = 0;
  virtual void finish() = 0;
  /// False if write() needs the text alone: then rows and results are given back early.
  virtual bool needs_rows() const { return true; }
  /// Instead of finish(), after a signal or an error: keeps the rows so far if they are of use and says where, for
  /// people; "" if they are lost.
  virtual std::string keep(bool /*stopped_by_signal*/) { return {}; }
  /// Instead of finish(), where --strict wants no output.
  virtual void discard() {}
};

/// Lines of text into a file or stream; a file can be gone on with.
class TextOutput {
 public:
  /// `weights`: the model's files; `made_from`: options that no other program has and that the output depends on. Looks
  /// at --resume: is done() afterwards if there is nothing left to do, else the range stands where the next row is.
  /// Throws UsageError where --resume cannot work or would be needed, FileError where the unfinished or finished output
  /// is made from something else or does not say what it is made from, DataError where --strict refuses rows of a
  /// finished one.
  TextOutput(const BatchOptions& options, InputRange& range, std::string header,
             const std::vector<std::string>& weights, std::map<std::string, std::string> made_from);
  /// Without finish() or keep(): leaves OUT.part only if it can be gone on with.
  ~TextOutput();
  bool done() const { return done_; }
  /// Of an output that was done() before: what the call that wrote it ended with.
  int exit_code() const;
  /// Of the rows that were there before.
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
  bool record_whole_part();

  std::string path_, part_;  // OUT, through symbolic links, and OUT.part
  bool gzip_ = false, stream_ = false, resumable_ = false, done_ = false, shard_ = false;
  std::unique_ptr<OutputFile> file_;
  std::string text_;     // of a gzip member that is not full
  ResumeRecord record_;  // what the file holds
  InputPosition given_;  // what write() was given, perhaps still in text_
  StatusCounts given_counts_;
  bool recorded_ = false;  // there is an OUT.part.json
  std::chrono::steady_clock::time_point next_save_;
};

/// All of a call. `compute`: one result per molecule of the window, called by several threads; `before`: of rows that
/// an interrupted call wrote. Returns the exit code.
template <class Result>
int run_batch(const BatchOptions& options, const std::string& what, InputRange range, StatusCounts before,
              const std::function<std::vector<Result>(const RowWindow&)>& compute, RowSink<Result>& sink);

/// The sink of results that are lines.
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

/// Ends a --strict call at its first bad row. Throws DataError naming input, row, reason and text.
[[noreturn]] void refuse_row(const std::string& input, const TableRow& row, RowStatus status, const std::string& reason,
                             const std::string& text);
WindowOptions window_options(const BatchOptions& options, const InputRange& range);
void say_interrupted(std::int64_t rows, const std::string& where);
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
  OrderedPipeline<RowWindow, DoneWindow<Result>> pipeline;
  pipeline.threads = thread_count(options.common.threads);
  pipeline.next = [&](RowWindow& window) { return windows.next(window); };
  pipeline.cancel = [&] { windows.cancel(); };
  pipeline.work = [&](RowWindow&& window) {
    DoneWindow<Result> done{std::move(window), {}, {}, {}};
    done.results = compute(done.window);
    mark_malformed_rows(done.window, done.results);
    windows.complete_smiles(done.window);
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
        refuse_row(names[done.window.table], row, result.status, result.reason, windows.smiles(row));
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
    say_interrupted(counts.rows(), sink.keep(true));
    throw;
  } catch (const ClosedPipe&) {
    throw;
  } catch (...) {
    if (options.strict) sink.discard();
    else say_interrupted(counts.rows(), sink.keep(false));
    throw;
  }
  return finish_batch(options, counts, progress.seconds());
}

}  // namespace molgraph

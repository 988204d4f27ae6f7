#include "apps/programs/batch/batch_run.hpp"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "apps/programs/shell/log.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/scoring/side_files.hpp"
#include "attention/engine.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kRowsPerMark = 65'536;       // distance of stored positions when rows are counted
constexpr std::int64_t kRowsPerSignalCheck = 4096;  // rows between checks for signals when rows are counted
constexpr std::chrono::milliseconds kFirstSave{500};
constexpr std::int64_t kMaxShards = 1'000'000;
constexpr int kSaveIntervalFactor = 20;  // saving the record takes at most 1/20 of the time

bool is_gzipped(const std::string& path) { return without_gz(path).size() != path.size(); }

struct Shard {
  std::int64_t index = 0, count = 1;
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  bool valid = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  if (valid) {
    const auto second = std::from_chars(first.ptr + 1, end, shard.count);
    valid = second.ec == std::errc() && second.ptr == end && shard.index >= 0 && shard.index < shard.count &&
            shard.count <= kMaxShards;
  }
  if (!valid) throw UsageError("--shard " + text + ": use I/N with 0 <= I < N <= 1,000,000, such as 0/4");
  return shard;
}

/// Returns the number of rows, and stores the position of every kRowsPerMark-th row in `marks`.
std::int64_t count_rows(InputTables& tables, std::vector<InputPosition>& marks) {
  catch_stop_signals();
  Progress progress("Counting", "rows", 0);
  TableRow row;
  std::int64_t rows = 0;
  marks.push_back(tables.position());
  while (tables.next(row)) {
    if (++rows % kRowsPerMark == 0) marks.push_back(tables.position());
    if (rows % kRowsPerSignalCheck == 0) {
      if (const int signal = stop_requested()) throw Stopped{signal};
      progress.set_share(tables.share_before(tables.position()));
      progress.update(rows);
    }
  }
  return rows;
}

UsedPrecision precision_of(const BatchOptions& options) {
  return used_precision(device_from_string(options.common.device), precision_from_string(options.precision));
}

/// Adds inputs and options that the rows depend on.
std::map<std::string, std::string> with_inputs(std::map<std::string, std::string> made_from,
                                               const BatchOptions& options, const InputTables& tables) {
  std::string inputs;
  for (std::size_t t = 0; t < tables.tables(); ++t) {
    inputs += (t > 0 ? "; " : "") + fingerprint_of(tables.path(t));
  }
  const TableOptions table = options.table.options();
  made_from["inputs"] = inputs;
  made_from["columns"] = table.smiles_column + "," + table.id_column + "," + options.table.format +
                         (table.no_header ? ", no header"
                          : table.header  ? ", header"
                                          : "");
  made_from["shard"] = options.shard.empty() ? "none" : options.shard;
  made_from["precision"] = to_string(precision_of(options).precision);
  made_from["device"] = device_from_string(options.common.device).is_gpu() ? "cuda" : "cpu";
  made_from["max_atoms"] = std::to_string(options.common.max_atoms);
  made_from["program"] = version_text();
  return made_from;
}

}  // namespace

PredictorOptions BatchOptions::predictor() const {
  tell_notes(log_warning);
  // 1 thread per window: windows are distributed over the threads.
  return {1, {.max_atoms = common.max_atoms}, precision_from_string(precision), device_from_string(common.device)};
}

void add_batch_options(CommandLine& line, BatchOptions& options, const std::string& output_help) {
  CLI::App& app = line.app();
  app.add_option("-i,--input", options.inputs,
                 "CSV, TSV, SMI or SDF, also .gz; several files, or a pattern such as 'library/*.csv.gz', form one "
                 "table; - is standard input")
      ->required()
      ->type_name("IN");
  app.add_option("-o,--output", options.output, output_help)->required()->type_name("OUT");
  app.add_flag("--resume", options.resume,
               "Continue an interrupted run of the same command from OUT.part; does nothing if OUT is finished (see "
               "its record, OUT.json)");
  app.add_option("--shard", options.shard,
                 "Process only part I (from 0) of N (at most 1,000,000) equal parts of the rows; the outputs of all "
                 "parts, concatenated, are the complete output")
      ->type_name("I/N");
  app.add_flag("--strict", options.strict,
               "Stop with exit code 3 at the first row that is not ok; writes no output file");
  limit(app.add_option("--batch-size", options.batch_size, "Rows per thread and step; does not change results"),
        WholeRange{1, 1'000'000})
      ->capture_default_str();
  choose(app.add_option("--precision", options.precision,
                        "Precision of matrix products: bf16 is faster, with about three digits; tf32 is for GPUs"),
         {"fp32", "tf32", "bf16"})
      ->capture_default_str();
  line.add_table(options.table);
  line.add_common(options.common, kThreads | kDevice | kAtomLimit);
}

void log_model_notes(const Predictor& predictor) {
  const UsedPrecision& precision = predictor.precision();
  if (!precision.note.empty()) spdlog::warn(precision.note);
  if (!precision.instructions.empty()) spdlog::info("Matrix products in {}", to_string(precision));
  if (predictor.featurizer().standardize == Standardize::parent)
    spdlog::info("salts and solvents are removed and molecules are neutralised, as in training (--standardize parent)");
}

InputRange open_input(const BatchOptions& options) {
  InputRange range{InputTables(options.inputs, options.table.options())};
  if (options.shard.empty()) return range;
  const Shard shard = parse_shard(options.shard);
  if (range.tables.is_stream()) throw UsageError("--shard needs files: a stream cannot be counted first");
  std::vector<InputPosition> marks;
  const std::int64_t rows = count_rows(range.tables, marks);
  const std::int64_t step = is_gzipped(options.output) ? kRowsPerMember : 1, steps = (rows + step - 1) / step;
  // Rounded up, so that shard 0 has rows: the header is in the same gzip member as the first row.
  const auto bound = [&](std::int64_t part) {
    return std::min(rows, (steps * part + shard.count - 1) / shard.count * step);
  };
  range.first = bound(shard.index);
  range.end = bound(shard.index + 1);
  range.writes_header = shard.index == 0;
  range.tables = InputTables(options.inputs, options.table.options());
  range.tables.seek(marks[static_cast<std::size_t>(
      std::min(range.first / kRowsPerMark, static_cast<std::int64_t>(marks.size()) - 1))]);
  TableRow skipped;
  while (range.tables.position().number < range.first && range.tables.next(skipped)) {
  }
  return range;
}

WindowOptions window_options(const BatchOptions& options, const InputRange& range) {
  return {static_cast<std::size_t>(options.batch_size), is_gzipped(options.output) ? kRowsPerMember : 0, range.end};
}

void reject_overwriting(const BatchOptions& options, const std::vector<std::string>& models, std::vector<FileRole> read,
                        const std::vector<std::string>& written) {
  for (FileRole& input : in_role("the input", expand_inputs(options.inputs))) read.push_back(std::move(input));
  for (FileRole& model : in_role("the model", models)) read.push_back(std::move(model));
  read.push_back({options.config, "--config"});
  std::vector<std::string> files = written;
  if (files.empty() && is_output_stream(options.output)) files = {options.output};
  if (files.empty()) files = files_of_lines(linked_file(options.output));
  reject_overwriting(read, in_role("the output", files));
}

TextOutput::TextOutput(const BatchOptions& options, InputRange& range, std::string header,
                       const std::vector<std::string>& weights, std::map<std::string, std::string> made_from)
    : stream_(is_output_stream(options.output)), shard_(!options.shard.empty()),
      next_save_(std::chrono::steady_clock::now() + kFirstSave) {
  path_ = stream_ ? options.output : replaced_file(options.output);
  part_ = part_path(path_);
  gzip_ = is_gzipped(options.output);
  resumable_ = !range.tables.is_stream() && !stream_;
  if (options.resume && !resumable_) {
    throw UsageError("--resume needs an input that can be read again and an output file, not streams");
  }
  if (resumable_) {
    made_from["header"] = header;
    for (const std::string& file : weights) made_from["weights"] += sha256_of_file(file) + " ";
    record_.made_from = with_inputs(std::move(made_from), options, range.tables);
  }
  const std::optional<ResumeRecord> before = stream_ ? std::nullopt : unfinished_before(options);
  std::error_code error;
  if (options.resume && !before && std::filesystem::exists(path_, error)) {
    check_finished(options);
    return;
  }
  if (!stream_) (void)read_resume_record(path_);  // throws if OUT.json is another file, which would be overwritten
  if (before) {
    if (const std::string other = difference(before->made_from, record_.made_from); !other.empty()) {
      throw FileError(part_ + " cannot be resumed, because it was made with other " + other);
    }
    record_ = *before;
    record_.content.clear();
    recorded_ = true;
    range.tables.seek(record_.input);
    spdlog::info("resuming after {} rows", with_thousands(record_.rows));
  }
  if (!before) record_.input = range.tables.position();
  file_ = std::make_unique<OutputFile>(options.output, record_.bytes);
  received_end_ = record_.input;
  received_counts_ = record_.counts;
  if (record_.bytes > 0) return;
  text_ = range.writes_header ? std::move(header) : std::string();
  if (!gzip_) write_block();
}

/// The contents of OUT.part.json if OUT.part exists. Throws UsageError without --resume if OUT.part contains rows.
std::optional<ResumeRecord> TextOutput::unfinished_before(const BatchOptions& options) const {
  std::optional<ResumeRecord> before = read_resume_record(part_);
  std::error_code error;
  if (!before) return before;
  if (!std::filesystem::exists(part_, error)) {
    // The call was interrupted between the two renames of finish(), or OUT.part was deleted.
    const bool complete = !before->content.empty() && std::filesystem::exists(path_, error) &&
                          content_fingerprint(path_) == before->content;
    if (complete) finish_resume_record(path_);
    else remove_resume_record(part_);
    return std::nullopt;
  }
  if (!options.resume) {
    if (before->rows == 0) {  // nothing would be lost
      remove_resume_record(part_);
      return std::nullopt;
    }
    throw UsageError(part_ + " contains " + with_thousands(before->rows) +
                     " rows of an unfinished run: continue with --resume, or delete it to start again");
  }
  if (options.strict && before->counts.ok() < before->rows)
    throw DataError(part_ + " contains rows that --strict rejects: " + before->counts.text() +
                    "; delete it to start again, or continue without --strict");
  return before;
}

/// Sets done() if OUT is the output of the same inputs and options.
void TextOutput::check_finished(const BatchOptions& options) {
  const std::optional<ResumeRecord> found = read_resume_record(path_);
  const std::string advice = "; run without --resume to replace it";
  if (!found || found->content.empty()) {
    throw FileError(path_ + " exists without " + record_path(path_) + ", which records what it was made from" + advice);
  }
  if (const std::string other = difference(found->made_from, record_.made_from); !other.empty()) {
    throw FileError(path_ + " is finished, but it was made with other " + other + advice);
  }
  if (const std::string now = content_fingerprint(path_); now != found->content) {
    throw FileError(path_ + " has changed since it was finished: " + now + " instead of " + found->content + advice);
  }
  if (options.strict && found->counts.ok() < found->rows) {
    throw DataError(path_ + " is finished, but contains rows that --strict rejects: " + found->counts.text());
  }
  spdlog::info("{} is finished ({}); there is nothing to resume", path_, found->counts.text());
  record_ = *found;
  done_ = true;
}

int TextOutput::exit_code() const {
  return record_.counts.ok() > 0 || (shard_ && record_.rows == 0) ? kExitDone : kExitData;
}

TextOutput::~TextOutput() {
  if (file_ && recorded_) file_->keep_part();
}

void TextOutput::discard() {
  remove_resume_record(part_);
  recorded_ = false;
}

void TextOutput::write(std::string_view text, const InputPosition& end, const StatusCounts& counts) {
  text_ += text;
  received_end_ = end;
  received_counts_.add(counts);
  if (gzip_ && end.number % kRowsPerMember != 0) return;
  write_block();
  if (resumable_ && std::chrono::steady_clock::now() >= next_save_) save_record();
}

void TextOutput::write_block() {
  file_->write(text_);
  text_.clear();
  record_.rows = received_counts_.rows();
  record_.bytes = file_->bytes();
  record_.input = received_end_;
  record_.counts = received_counts_;
}

void TextOutput::save_record() {
  const auto begin = std::chrono::steady_clock::now();
  file_->flush_to_disk();
  write_resume_record(part_, record_);
  recorded_ = true;
  const auto end = std::chrono::steady_clock::now();
  next_save_ = end + std::max<std::chrono::steady_clock::duration>(kFirstSave, kSaveIntervalFactor * (end - begin));
}

void TextOutput::finish() {
  write_block();
  const bool has_record = resumable_ && record_complete_part();
  if (!has_record && !stream_) remove_resume_record(path_);  // record of an older OUT
  file_->finish();
  recorded_ = false;
  if (has_record) finish_resume_record(path_);
}

/// Returns false and logs a warning if the record cannot be written. The rows are kept.
bool TextOutput::record_complete_part() {
  file_->flush_to_disk();
  record_.content = content_fingerprint(part_);
  try {
    write_resume_record(part_, record_);
    return recorded_ = true;
  } catch (const FileError& error) {
    spdlog::warn("{}; --resume cannot check what {} was made from", error.what(), path_);
    remove_resume_record(part_);
    return recorded_ = false;
  }
}

std::string TextOutput::keep(bool stopped_by_signal) {
  if (resumable_) {
    if (!recorded_ && !stopped_by_signal) return {};
    if (stopped_by_signal) save_record();
    recorded_ = false;
    return file_->keep_part() + " (" + with_thousands(record_.rows) + " rows); continue with --resume";
  }
  if (!stopped_by_signal) return {};
  write_block();
  return file_->keep_part();
}

void reject_row(const std::string& input, const TableRow& row, RowStatus status, const std::string& reason,
                const std::string& text) {
  throw DataError(input == "-" ? "standard input" : input, row.row + 1, std::string(to_string(status)) + ": " + reason,
                  text);
}

void log_interruption(std::int64_t rows, const std::string& where) {
  spdlog::warn("stopped after {} rows{}", with_thousands(rows),
               where.empty() ? "" : "; the output so far is in " + where);
}

int finish_batch(const BatchOptions& options, const StatusCounts& counts, double seconds) {
  if (!options.shard.empty() && counts.rows() == 0) {
    spdlog::info("this shard has no rows");
    return kExitDone;
  }
  return finish_rows(counts, seconds);
}

}  // namespace molgraph

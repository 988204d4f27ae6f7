#include "apps/programs/featurize/featurize.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>

#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/output_file.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/scoring/side_files.hpp"
#include "datasets/load.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// A line of the --rejected table.
std::string line_of(const RejectedRow& row) {
  return std::to_string(row.row) + "," + row.status + "," + quote_cell(row.reason, ',') + "," +
         quote_cell(row.text, ',') + "\n";
}

void log_report(const StoreReport& report, const std::string& store, double seconds) {
  for (const std::string& note : report.notes) spdlog::info("{}", note);
  for (const std::string& warning : report.warnings) spdlog::warn("{}", warning);
  std::string text = with_thousands(report.rows) + " rows in " + duration_text(seconds) + ": " +
                     with_thousands(report.molecules) + " ok";
  std::int64_t merged = report.rows - report.molecules;
  for (const auto& [status, count] : report.rejected) {
    text += ", " + with_thousands(count) + " " + status;
    merged -= count;
  }
  if (merged > 0) text += ", " + with_thousands(merged) + " duplicates";
  spdlog::info("{}", text);
  if (!report.task.names.empty()) {
    spdlog::info("{} target(s), {}: {}", report.task.names.size(), to_string(report.task.kind),
                 list_of(report.task.names));
  }
  if (!report.split_name.empty()) {
    spdlog::info("split {}: {} train, {} valid, {} test", report.split_name, with_thousands(report.split_sizes[0]),
                 with_thousands(report.split_sizes[1]), with_thousands(report.split_sizes[2]));
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(store, error);
  if (!error) spdlog::info("{}: {} KB", store, with_thousands(static_cast<std::int64_t>(bytes / 1000)));
}

/// The requested tables in addition to the store: flag and file.
std::vector<std::pair<std::string, std::string>> side_tables(const FeaturizeOptions& options) {
  std::vector<std::pair<std::string, std::string>> tables{{"--rejected", options.rejected},
                                                          {"--repeated", options.repeated}};
  std::erase_if(tables, [](const auto& table) { return table.second.empty(); });
  return tables;
}

/// Throws UsageError if a suffix does not match the format that is written.
void check_suffixes(const FeaturizeOptions& options) {
  const std::string store = without_gz(options.output);
  const bool zipped = store.size() != options.output.size();
  if (zipped || !(store.ends_with(".h5") || store.ends_with(".hdf5")))
    throw UsageError(options.output + ": the store's suffix must be .h5 or .hdf5");
  for (const auto& [flag, file] : side_tables(options))
    if (!without_gz(file).ends_with(".csv") && !is_output_stream(file))
      throw UsageError(flag + " " + file + ": the suffix must be .csv or .csv.gz");
}

/// Throws UsageError if an output is also an input.
void check_roles(const FeaturizeOptions& options, const std::vector<std::string>& read) {
  std::vector<FileRole> inputs = in_role("the input", read), outputs{{options.output, "the output"}};
  inputs.push_back({options.config, "--config"});
  for (const auto& [flag, file] : side_tables(options)) {
    outputs.push_back({file, flag});
    if (!is_output_stream(file)) outputs.push_back({part_path(linked_file(file)), flag});
  }
  reject_overwriting(inputs, outputs);
}

void write_repeated(const FeaturizeOptions& options, const StoreReport& report) {
  if (options.repeated.empty()) return;
  LineFile file(options.repeated);
  file.add(repeated_header(report.task));
  for (const RepeatedRow& row : report.repeated) file.add(repeated_line(row, report.task));
  file.finish();
}

}  // namespace

int featurize(const FeaturizeOptions& options) {
  check_suffixes(options);
  std::unique_ptr<LineFile> rejected;
  LoadOptions load = options.load;
  load.will_read = [&](const std::vector<std::string>& files) {
    check_roles(options, files);
    if (options.rejected.empty()) return;
    rejected = std::make_unique<LineFile>(options.rejected);
    rejected->add("row,status,reason,smiles\n");
  };
  Progress progress("Featurising", "molecules", 0);
  catch_stop_signals();
  const StoreReport written = load_to_store(
      load, options.output, {.pairs = !options.no_pairs, .threads = options.load.threads},
      [&](std::int64_t done, std::int64_t total) {
        if (const int signal = stop_requested()) throw Stopped{signal};
        progress.set_total(total);
        progress.update(done);
      },
      [&](const RejectedRow& row) {
        if (rejected) rejected->add(line_of(row));
      });
  if (rejected) rejected->finish();
  write_repeated(options, written);
  log_report(written, options.output, progress.seconds());
  return kExitDone;
}

}  // namespace molgraph

// molgraph-featurize: a table or a named data set -> an HDF5 store of featurised molecules.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/programs/shell/output_file.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/scoring/side_files.hpp"
#include "datasets/system/files.hpp"
#include "datasets/load.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

struct FeaturizeOptions {
  CommonOptions common;
  TableFlags table;
  LoadOptions load;
  std::string output, rejected, features, task, split, config;
  std::vector<double> split_sizes{0.8, 0.1, 0.1};
  bool no_pairs = false;
};

void add_data_options(CLI::App& app, FeaturizeOptions& options) {
  app.add_option("-i,--data-path,data", options.load.paths,
                 "CSV, TSV, SMI or SDF (also .gz; - is standard input), or the name of a data set; two or three tables "
                 "are train, valid and test")
      ->required()
      ->expected(1, 3)
      ->type_name("IN");
  app.add_option("-o,--output", options.output, "The store to write")->required()->type_name("STORE.h5");
  choose(app.add_option("--features", options.features,
                        "molgraph (10 atom and 4 bond columns), ogb (9 and 3) or zinc (1 and 1); else the data set's own, else molgraph"),
         {"molgraph", "ogb", "zinc"});
  app.add_flag("--no-pairs", options.no_pairs, "Leave the distances out; readers compute them again");
  app.add_option("--target-columns", options.load.target_columns,
                 "Columns to learn; else all that are mostly numbers or all yes and no, but id, name, weight and the like")
      ->type_name("NAME");
  choose(app.add_option("-t,--task-type", options.task, "Kind of target; else by the values (only 0 and 1, yes and no = classification)"),
         {"regression", "classification", "binary", "multiclass"});
  app.add_option("--positive", options.load.positive,
                 "Classification: the label that is 1, where two words do not say it themselves as yes and no do")
      ->type_name("LABEL");
  app.add_option("--subset", options.load.subset, "Part of a named data set: zinc 12k or full, pcqm4mv2 partial or sample")
      ->type_name("NAME");
  limit(app.add_option("--limit", options.load.limit, "Keep this many molecules; 0 = all"), kMoleculeLimits)
      ->capture_default_str();
  choose(app.add_option("--split-type", options.split, "Write this split; else the source's own, if it has one"),
         {"published", "random", "scaffold", "scaffold-balanced", "group", "time", "predefined"});
  limit(app.add_option("--split-sizes", options.split_sizes, "Train, valid and test of a new split"), kSplitShares)
      ->expected(3)
      ->capture_default_str();
  app.add_option("--splits-column", options.load.splits_column, "Column that says train, valid or test")
      ->type_name("NAME");
  app.add_option("--group-column", options.load.group_column, "Split group: column whose equal cells stay in one part")
      ->type_name("NAME");
  app.add_option("--time-column", options.load.time_column, "Split time: column of numbers or dates")
      ->type_name("NAME");
  app.add_option("--splits-file", options.load.splits_file,
                 "JSON list of {\"train\", \"val\", \"test\"} with row numbers from 0")
      ->type_name("FILE");
  app.add_option("--rejected", options.rejected,
                 "CSV (also .gz) of the rows without a graph: row, status, reason, smiles")
      ->type_name("FILE");
  app.add_flag("--strict", options.load.strict, "End with code 3 at the first row without a graph, without a store");
}

std::string data_set_list() {
  constexpr std::size_t kColumn = 14;
  std::string text = "Data sets:\n";
  for (const NamedDataset& set : named_datasets()) {
    std::string line = "  " + set.name;
    line.resize(std::max(kColumn, line.size() + 1), ' ');
    text += line + set.what + "\n";
  }
  return text;
}

FeaturizeOptions parse(const std::vector<std::string>& arguments) {
  FeaturizeOptions options;
  CommandLine line("molgraph-featurize", "Turns molecules into an HDF5 store that molgraph-train reads without RDKit.",
                   "molgraph-featurize assay.csv -o assay.h5 --split-type scaffold --rejected bad_rows.csv");
  add_data_options(line.app(), options);
  line.add_table(options.table);
  line.add_common(options.common, kThreads | kSeed | kDataDir | kMaxAtoms);
  line.app().footer(data_set_list() + "\n" + line.app().get_footer());
  line.parse(arguments);
  options.config = line.config_file();
  LoadOptions& load = options.load;
  load.table = options.table.options();
  load.data_dir = options.common.data_dir;
  load.seed = options.common.seed;
  load.threads = options.common.threads;
  load.limits.max_atoms = options.common.max_atoms;
  load.require_targets = false;
  load.download = downloads_shown();
  if (!options.task.empty()) load.task = task_kind_from_string(options.task);
  if (!options.features.empty()) load.features = features_from_string(options.features);
  if (!options.split.empty()) load.split = split_kind_from_string(options.split);
  std::copy_n(options.split_sizes.begin(), 3, load.split_sizes.begin());
  return options;
}

/// A line of the table of --rejected.
std::string line_of(const RejectedRow& row) {
  return std::to_string(row.row) + "," + row.status + "," + quote_cell(row.reason, ',') + "," +
         quote_cell(row.text, ',') + "\n";
}

void report(const StoreReport& report, const std::string& store, double seconds) {
  for (const std::string& note : report.notes) spdlog::info("{}", note);
  for (const std::string& warning : report.warnings) spdlog::warn("{}", warning);
  std::string text = with_thousands(report.rows) + " rows in " + duration_text(seconds) + ": " +
                     with_thousands(report.molecules) + " ok";
  for (const auto& [status, count] : report.rejected) text += ", " + with_thousands(count) + " " + status;
  spdlog::info("{}", text);
  if (!report.task.names.empty()) {
    spdlog::info("{} target(s), {}: {}", report.task.names.size(), to_string(report.task.kind), list_of(report.task.names));
  }
  if (!report.split_name.empty()) {
    spdlog::info("split {}: {} train, {} valid, {} test", report.split_name, with_thousands(report.split_sizes[0]),
                 with_thousands(report.split_sizes[1]), with_thousands(report.split_sizes[2]));
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(store, error);
  if (!error) spdlog::info("{}: {} KB", store, with_thousands(static_cast<std::int64_t>(bytes / 1000)));
}

/// Throws UsageError if the names promise other formats than those that are written.
void check_suffixes(const FeaturizeOptions& options) {
  const std::string store = without_gz(options.output), rejected = without_gz(options.rejected);
  const bool packed = store.size() != options.output.size();
  if (packed || !(store.ends_with(".h5") || store.ends_with(".hdf5")))
    throw UsageError(options.output + ": the store's suffix must be .h5 or .hdf5");
  if (!rejected.empty() && !rejected.ends_with(".csv") && !is_output_stream(options.rejected))
    throw UsageError("--rejected " + options.rejected + ": the suffix must be .csv or .csv.gz");
}

/// Throws UsageError if a file to write is read too.
void check_roles(const FeaturizeOptions& options, const std::vector<std::string>& read) {
  std::vector<FileRole> inputs = in_role("the input", read), outputs{{options.output, "the output"}};
  inputs.push_back({options.config, "--config"});
  if (!options.rejected.empty()) outputs.push_back({options.rejected, "--rejected"});
  if (!options.rejected.empty() && !is_output_stream(options.rejected))
    outputs.push_back({part_path(linked_file(options.rejected)), "--rejected"});
  refuse_overwriting(inputs, outputs);
}

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
      load, options.output, {.pairs = !options.no_pairs, .threads = options.common.threads},
      [&](std::int64_t done, std::int64_t total) {
        if (const int signal = stop_requested()) throw Stopped{signal};
        progress.set_total(total);
        progress.update(done);
      },
      [&](const RejectedRow& row) {
        if (rejected) rejected->add(line_of(row));
      });
  if (rejected) rejected->finish();
  if (written.molecules == 0) {
    std::error_code ignored;
    std::filesystem::remove(options.output, ignored);
    throw DataError(options.load.paths[0] + ": no usable row; no store is written");
  }
  report(written, options.output, progress.seconds());
  return kExitDone;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::featurize(molgraph::parse(arguments)); });
}

// molgraph-import: published Graphormer and GRPE weights to a run directory, and back.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/log.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/scoring/model_limits.hpp"
#include "apps/scoring/run_blend.hpp"
#include "apps/training/run/import_run.hpp"
#include "apps/training/run/run_directory.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Files that an export reads.
std::vector<FileRole> run_files(const std::string& run) {
  std::vector<FileRole> read{{model_file_of(run), "the run's weights"}};
  if (std::filesystem::is_directory(run))
    for (FileRole& one : in_role("a file of the run", RunDirectory{run}.files())) read.push_back(std::move(one));
  return read;
}

int body(const std::vector<std::string>& arguments) {
  ImportOptions options;
  std::string run, out;
  CommandLine line("molgraph-import", "Converts published weights to a run directory, or a run to published weights.",
                   "molgraph-import checkpoint.pt --origin graphormer-v1 -o runs/pcqm4m\n"
                   "  molgraph-import runs/pcqm4m --export weights.pt");
  CLI::App& app = line.app();
  app.add_option("weights", options.weights, "file of torch.save or safetensors; with --export the run directory")
      ->required()
      ->type_name("PATH");
  choose(app.add_option("--origin", options.origin, "code that made the weights"), import_origins());
  app.add_option("-o,--output-dir", run, "run directory to write");
  app.add_option("--export", out, "write the weights of the run as a state dict of its origin");
  choose(app.add_option("--features", options.features, "atom and bond features (empty: by the size of the tables)"),
         {"ogb", "zinc"});
  const auto number = [&](const char* flag, int& value, int max_value, const char* help) {
    limit(app.add_option(flag, value, help), WholeRange{0, max_value})->capture_default_str();
  };
  number("--heads", options.heads, kMaxHeads, "attention heads; 0 = by the size of the tables (required for grpe)");
  number("--path-hops", options.path_hops, kMaxDistance,
         "graphormer: hops of the edge-path bias; 0 = 20 for zinc features, else 5");
  number("--max-distance", options.max_distance, kMaxDistance,
         "largest shortest-path distance with its own class; 0 = by the size of the tables");
  number("--spatial-pos-max", options.spatial_pos_max, kMaxSpatialPos,
         "graphormer: mask atom pairs at this distance or more; 0 = off (v1 was trained with 20, v2 with 1024)");
  app.add_option("--target-names", options.target_names, "names of the outputs (empty: target, or target_1 ...)");
  line.parse(arguments);
  const std::vector<FileRole> config{{line.config_file(), "--config"}};
  if (run.empty() == out.empty()) throw UsageError("give either --output-dir (import) or --export");
  if (!out.empty()) {
    for (const char* flag : {"--origin", "--features", "--heads", "--path-hops", "--max-distance", "--spatial-pos-max",
                             "--target-names"}) {
      if (line.given(flag)) throw UsageError(std::string(flag) + " is for importing; a run records its origin");
    }
    reject_overwriting(config, {{out, "--export"}});
    reject_overwriting(run_files(options.weights), {{out, "--export"}});
    if (partner_files_of(model_file_of(options.weights)).any())
      log_warning("the run is a blend: only the weights of its transformer are exported");
    export_run(options.weights, out);
    return kExitDone;
  }
  if (options.origin.empty()) throw UsageError("--origin is needed: the code that made the weights");
  reject_overwriting(config, in_role("--output-dir", RunDirectory{run}.files()));
  const std::vector<FileRole> weights{{options.weights, "the weights"}};
  reject_overwriting(weights, in_role("--output-dir", RunDirectory{run}.files()));
  reject_folder_inside(weights, {run, "--output-dir"});
  options.program = version_text();
  import_run(options, run, {.note = log_info, .warn = log_warning});
  return kExitDone;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) { return molgraph::run_program(argc, argv, molgraph::body); }

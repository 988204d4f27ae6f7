// molgraph-train: trains Graphormer or GRPE, with or without URPE's gate, and writes a run directory.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/log.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/programs/train/shell_control.hpp"
#include "apps/training/recipes.hpp"
#include "apps/training/run_claim.hpp"
#include "apps/training/run_directory.hpp"
#include "apps/training/train_options.hpp"
#include "apps/training/train_run.hpp"
#include "datasets/load.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr const char* kExample =
    "molgraph-train my_assay.csv -o runs/my_assay\n"
    "  molgraph-train zinc --model grpe --urpe --epochs 20 -o runs/zinc";

/// What stands on the command line beside the options of a training.
struct Call {
  std::string output, config;
  bool resume = false;
  NamedFlags named;
  CommonOptions common;
};

std::string footer() {
  std::string text = "Data sets:\n";
  for (const auto& set : named_datasets()) text += "  " + set.name + std::string(12 - std::min<std::size_t>(11, set.name.size()), ' ') + set.what + "\n";
  text += "Recipes:\n";
  for (const auto& r : recipes()) text += "  " + r.name + std::string(20 - std::min<std::size_t>(19, r.name.size()), ' ') + r.what + "\n";
  return text;
}

/// Adds one listed option to the command line.
void add_option(CLI::App& app, const TrainOption& option) {
  std::visit(
      [&](auto* field) {
        using T = std::remove_pointer_t<decltype(field)>;
        const std::string name = option.key();
        CLI::Option* added = nullptr;
        const bool on_off = name == "urpe" || name == "share-encodings";
        if (on_off) {
          added = app.add_flag("--" + name + "{on},--no-" + name + "{off}", *field, option.help);
        } else if constexpr (std::is_same_v<T, bool>) {
          added = app.add_flag(*field ? option.flags + ",!--no-" + name : option.flags, *field, option.help);
        } else {
          added = app.add_option(name == "data-path" ? option.flags + ",data" : option.flags, *field, option.help);
          if (name == "data-path") {
            added->expected(1, 3);
          } else {
            added->capture_default_str();
          }
          if (name == "split-sizes") added->expected(3);
          if (name == "grpe-terms") added->expected(0, 5);
        }
        if (!option.words.empty()) choose(added, option.words);
        if constexpr (!std::is_same_v<T, bool>) {
          if (!std::holds_alternative<std::monostate>(option.range)) limit(added, option.range);
        }
        added->group(option.group);
      },
      option.field);
}

void describe(CommandLine& line, TrainOptions& options, Call& call) {
  CLI::App& app = line.app();
  for (const auto& option : list_options(options)) add_option(app, option);
  app.add_option("-o,--output-dir", call.output, "run directory (empty: runs/NAME, with a number if it exists)")
      ->group("Data");
  app.add_flag("--resume", call.resume, "go on with the run in --output-dir as if nothing had happened")->group("Training");
  line.add_common(call.common, kThreads | kDevice);
  app.footer(footer());
}

/// Options that start from `base`; returns the options and the call.
std::pair<TrainOptions, Call> parse(const std::vector<std::string>& arguments, const TrainOptions& base, bool first) {
  std::pair<TrainOptions, Call> result{base, {}};
  auto& [options, call] = result;
  CommandLine line("molgraph-train", "Trains a graph transformer on a table, a store or a named data set.", kExample);
  describe(line, options, call);
  line.parse(arguments);
  call.config = line.config_file();
  for (const auto& option : list_options(options))
    if (line.named("--" + option.key())) call.named.insert(option.key());
  if (first) return result;
  // A recipe (or a --config) counts in steps or in epochs; what the user gives replaces both, and warm-up keeps its share.
  const auto only = [&](const char* one, const char* other) { return line.named(one) ? !line.named(other) : line.given(one) && !line.given(other); };
  if (only("--epochs", "--steps")) options.steps = 0;
  if (only("--steps", "--epochs")) options.epochs = 0;
  const auto replaces = [&](const char* one, const char* other) { return line.named(one) && line.given(other) && !line.named(other); };
  const bool other_length = replaces("--epochs", "--steps") || replaces("--steps", "--epochs");
  if (other_length && !line.named("--warmup-steps")) options.warmup_steps = -1;   // a file's warm-up belongs to its length
  const bool warmup_epochs = only("--warmup-epochs", "--warmup-steps");
  if (warmup_epochs) options.warmup_steps = -1;
  if (only("--warmup-steps", "--warmup-epochs")) options.warmup_epochs = 0;
  if (!line.given("--warmup-steps") && !warmup_epochs && base.steps > 0 && options.steps != base.steps) {
    options.warmup_steps = options.steps > 0 ? base.warmup_steps * options.steps / base.steps : -1;
  }
  return result;
}

/// The run to continue: its stored options, with which the command line must agree.
TrainOptions options_to_resume(const std::vector<std::string>& arguments, const Call& call) {
  const TrainOptions stored = train_options_from_toml(call.output + "/config.toml");
  TrainOptions given = parse(arguments, stored, true).first;
  TrainOptions copy = stored;
  const auto before = list_options(copy), after = list_options(given);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool equal = std::visit(
        [](auto* a, auto* b) {
          if constexpr (std::is_same_v<decltype(a), decltype(b)>) return *a == *b;
          return false;
        },
        before[i].field, after[i].field);
    if (!equal) throw UsageError("--resume: --" + before[i].key() + " differs from the run in " + call.output);
  }
  return stored;
}

/// Throws UsageError if the run directory is an input, lies inside one, or has the place of a file that is read.
void check_roles(const TrainRun& run, const Call& call) {
  std::vector<FileRole> inputs;
  for (const std::string& data : run.options.data)   // "zinc" is a data set, although there may be a folder of that name
    if (data == "-" || std::filesystem::is_regular_file(data)) inputs.push_back({data, "the input"});
  inputs.push_back({run.options.splits_file, "--splits-file"});
  inputs.push_back({run.options.from, "--from"});
  if (!call.resume) {
    inputs.push_back({call.config, "--config"});   // else it may be the run's own
    refuse_folder_inside(inputs, {run.folder, "--output-dir"});
  }
  if (std::filesystem::is_directory(run.options.from))
    for (FileRole& file : in_role("--from", RunDirectory{run.options.from}.files())) inputs.push_back(std::move(file));
  refuse_overwriting(inputs, in_role("the run's file", RunDirectory{run.folder}.files()));
}

/// The folder that is trained in, claimed for this process.
std::unique_ptr<RunClaim> claim_folder(const TrainRun& run, const Call& call) {
  if (run.folder.empty()) return claim_free_folder(run.options.data[0], run.control);
  return std::make_unique<RunClaim>(run.folder, call.resume, run.control);
}

/// What is trained, from the command line and, with --resume, from the run itself. Throws UsageError.
TrainRun training_asked_for(const std::vector<std::string>& arguments, const TrainOptions& options, const Call& call, const RunControl& control) {
  TrainRun run;
  run.control = control;
  if (call.resume && call.output.empty()) throw UsageError("--resume needs --output-dir: the run to go on with");
  if (call.resume && std::filesystem::exists(call.output + "/config.toml")) {
    run.options = options_to_resume(arguments, call);
  } else {
    const TrainOptions base = options.recipe.empty() ? TrainOptions{} : recipe(options.recipe).options;
    run.options = parse(arguments, base, false).first;
  }
  if (run.options.data.empty()) {
    throw UsageError("what to train on? Name a data set, a table or a store: molgraph-train my_assay.csv");
  }
  run.folder = call.output;
  while (run.folder.size() > 1 && run.folder.back() == '/') run.folder.pop_back();
  if (!run.folder.empty()) check_roles(run, call);   // a folder that is chosen for it is nobody's input
  return run;
}

/// Of several processes only the first looks at the run directory, which need not be the others' to see.
TrainRun training_agreed_on(Processes& processes, const std::function<TrainRun()>& asked_for) {
  TrainRun run;
  if (processes.first()) run = asked_for();
  std::string options = to_toml(run.options);
  processes.share(options);
  processes.share(run.folder);
  if (!processes.first()) run.options = train_options_from_text(options, "the first process's options");
  return run;
}

int body(const std::vector<std::string>& arguments) {
  const auto [options, call] = parse(arguments, {}, true);
  const auto processes = std::make_shared<Processes>(place_from_environment());
  catch_stop_signals();
  if (!processes->first()) log_errors_only();
  const RunControl control = shell_control();
  std::unique_ptr<RunClaim> claim;   // the first process's; ends behind the training
  std::optional<LogFile> log;        // likewise
  TrainRun run = training_agreed_on(*processes, [&, &options = options, &call = call] {
    TrainRun asked = training_asked_for(arguments, options, call, control);
    claim = claim_folder(asked, call);
    asked.folder = claim->folder();
    log.emplace(RunDirectory{asked.folder}.log());
    return asked;
  });
  run.control = control;
  run.program = version_text();
  run.named = call.named;
  const ProcessPlace& place = processes->place();
  run.processes = processes;
  run.resume = call.resume;
  run.threads = call.common.threads > 0 ? call.common.threads : std::max(1, usable_cores() / place.local_count);
  const int gpu = call.common.device == "cuda" ? place.local_rank : gpu_of_device(call.common.device);
  if (gpu != kNoGpu) run.gpu = gpu;
  run_training(run);
  return kExitDone;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  molgraph::let_waiting_threads_sleep(argv);
  return molgraph::run_program(argc, argv, molgraph::body);
}

#include "apps/programs/train/train_program.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/log.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/programs/train/shell_control.hpp"
#include "apps/scoring/model_config.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/training/run/pretraining.hpp"
#include "apps/training/run/quality.hpp"
#include "apps/training/run/run_claim.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/run_training.hpp"
#include "apps/training/run/shipped_weights.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {
namespace {

/// Throws UsageError if the run directory is an input, is inside one, or would overwrite a file that is read.
void check_roles(const TrainOptions& options, const TrainCall& call) {
  std::vector<FileRole> inputs;
  for (const std::string& data : options.data.paths)
    if (is_own_table(options) && (data == "-" || std::filesystem::is_regular_file(data)))
      inputs.push_back({data, "the input"});
  inputs.push_back({options.data.splits_file, "--splits-file"});
  const std::string keyword = is_path(options.model.from) ? "" : options.model.from,
                    from = keyword.empty() ? options.model.from : "";
  if (!keyword.empty() && call.named.contains("from") && std::filesystem::exists(RunDirectory{keyword}.model()))
    throw UsageError("--from " + keyword + " is a keyword (see --help); for the run of that name, use ./" + keyword);
  inputs.push_back({from, "--from"});
  if (!call.resume) {
    inputs.push_back({call.config, "--config"});  // with --resume, it may be the run's config.toml
    reject_folder_inside(inputs, {call.output, "--output-dir"});
  }
  if (std::filesystem::is_directory(from))
    for (FileRole& file : in_role("--from", RunDirectory{from}.files())) inputs.push_back(std::move(file));
  reject_overwriting(inputs, in_role("the run's file", RunDirectory{call.output}.files()));
}

/// The targets of the run to resume, if they were detected: this version might detect other targets. Empty if the user
/// named them, or if the run has no weights yet.
std::vector<std::string> targets_of_run(const TrainOptions& options, const std::string& folder) {
  if (!options.data.target_columns.empty() || !is_own_table(options) || is_pretraining(options)) return {};
  for (const std::string& part : {folder, folder + "/model_0"})
    for (const std::string& file : {RunDirectory{part}.model(), RunDirectory{part}.best()})
      if (std::filesystem::is_regular_file(file)) return read_model_config(read_model_file(file), file).task.names;
  return {};
}

/// Claims the run directory for this process.
std::unique_ptr<RunClaim> claim_folder(const TrainOptions& options, const TrainCall& call, const RunControl& control) {
  if (call.output.empty()) return claim_free_folder(options.data.paths[0], control);  // new, so never an input
  check_roles(options, call);
  return std::make_unique<RunClaim>(call.output, call.resume, control);
}

/// Shares options, folder and targets with all processes. Only the first process reads the run directory, which the
/// others need not have access to.
void share(Processes& processes, TrainRun& run) {
  std::string options = to_toml(run.options);
  processes.share(options);
  processes.share(run.folder);
  std::string targets;
  for (const std::string& target : run.found_targets) targets += target + '\0';
  processes.share(targets);
  run.found_targets.clear();
  for (std::size_t at = 0; at < targets.size(); at += run.found_targets.back().size() + 1)
    run.found_targets.emplace_back(targets.c_str() + at);
  if (!processes.first()) run.options = train_options_from_text(options, "the first process's options");
}

/// The text, quoted if a shell would not read it as one word.
std::string shell_word(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-+=:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// The log message after a signal stopped the run.
std::string resume_advice(const TrainProgram& program, const TrainCall& call, const TrainRun& run) {
  if (!call.resume && !contains_run(run.folder)) return "Stopped before the first checkpoint: nothing was saved";
  std::string command = program.name + " -o " + shell_word(run.folder) + " --resume";
  if (call.common.threads > 0) command += " --threads " + std::to_string(call.common.threads);
  if (call.common.device != "auto") command += " --device " + call.common.device;
  const std::string where =
      run.processes->is_single() ? "" : " in all " + std::to_string(run.processes->count()) + " processes";
  const bool reads_stdin = std::ranges::count(run.options.data.paths, "-") > 0;
  return "Stopped. To resume" + where + (reads_stdin ? " with the same input: " : ": ") + command;
}

}  // namespace

int run_train_program(const TrainProgram& program, const std::vector<std::string>& arguments) {
  const TrainCall call = read_call(program, arguments);
  TrainRun run;
  run.processes = std::make_shared<Processes>(process_info_from_environment());
  run.control = shell_control();
  catch_stop_signals();
  std::unique_ptr<RunClaim> claim;  // only in the first process; released after the training
  std::optional<LogFile> log;       // likewise
  if (run.processes->first()) {
    run.options = requested_options(program, arguments, call);
    claim = claim_folder(run.options, call, run.control);
    run.folder = claim->folder();
    log.emplace(RunDirectory{run.folder}.log());
    if (call.resume) run.found_targets = targets_of_run(run.options, run.folder);
    if (const std::string& recipe = run.options.model.recipe; !recipe.empty() && !call.named.contains("recipe"))
      run.control.note("Settings of --recipe " + recipe + "; options on the command line override them");
  } else {
    log_errors_only();
  }
  share(*run.processes, run);
  const ProcessInfo& info = run.processes->info();
  run.device = call.common.device == "cuda" ? Device::gpu(info.local_rank) : device_from_string(call.common.device);
  run.threads = call.common.threads > 0 ? call.common.threads : std::max(1, usable_cores() / info.local_count);
  run.named = call.named;
  run.resume = call.resume;
  run.program = version_text();
  const auto log_advice = [&] {
    if (run.processes->first()) run.control.note(resume_advice(program, call, run));
  };
  try {
    run_training(run);
  } catch (const Stopped&) {
    log_advice();
    throw;
  } catch (const DownloadStopped&) {
    log_advice();
    throw;
  }
  return kExitDone;
}

}  // namespace molgraph

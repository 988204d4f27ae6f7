// Code that all programs share: command line, log, exit codes, signals, closed pipes and progress.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attention/spec/device.hpp"
#include "datasets/catalogue/download.hpp"
#include "datasets/system/stopped.hpp"
#include "datasets/tables/table_reader.hpp"

namespace CLI {
class App;
}

namespace molgraph {

// --- running a program ---

/// Exit codes of all programs. After a signal, the exit code is 128 + the signal's number (130, 143).
enum ExitCode : int { kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitData = 3, kExitFile = 4 };

/// Thrown if standard output is a closed pipe (`| head`); run_program() then returns 0 without a message.
struct ClosedPipe {};
/// Thrown to end the program early without an error, after --help or --version.
struct EndProgram {
  int code = kExitDone;
};

/// Runs a program: sets up the log (spdlog, to stderr) and calls `body` with the arguments after the program's name.
/// Converts exceptions to one line on stderr and an exit code: UsageError 2, DataError 3, FileError 4, RunError and
/// others 1, Stopped 128 + its signal.
int run_program(int argc, char** argv, const std::function<int(const std::vector<std::string>& arguments)>& body);

/// Sets OMP_WAIT_POLICY=passive, unless the user set a policy, and restarts the program once. Without this, LibTorch's
/// OpenMP threads spin while they wait, and training is several times slower if other programs use the machine. A
/// restart is necessary because the library reads the policy when it is loaded. Call this first in the main() of a
/// program that computes with LibTorch.
void let_waiting_threads_sleep(char** argv);

/// Logs only errors and shows no progress from now on.
void log_errors_only();

/// "molgraph 0.1.0"
std::string version_text();

// --- the command line ---

/// Values of options that several programs share. Each program adds the options that it uses.
struct CommonOptions {
  int threads = 0;              ///< 0 = all cores this process may use
  std::string device = "auto";  ///< auto, cpu, cuda or cuda:N
  std::uint64_t seed = 0;
  std::string data_dir;  ///< "" = $MOLGRAPH_DATA, else the XDG cache
  int max_atoms = 1024;  ///< larger molecules are reported as too_large
};
/// Selects common options; combine with |.
enum CommonOption : unsigned { kThreads = 1, kDevice = 2, kSeed = 4, kDataDir = 8, kAtomLimit = 16 };

/// Parses "cpu", "auto" (the CPU), "cuda" (GPU 0) or "cuda:N". Throws UsageError for any other text.
Device device_from_string(const std::string& text);

/// Options of programs that read a table of molecules.
struct TableFlags {
  std::string format = "auto";
  TableOptions table;  ///< `format` and `hooks` are filled in by options()
  /// Throws UsageError if the format is unknown.
  TableOptions options() const;
};

/// A CLI11 application with the project's conventions: --help begins with an example; -v/-q, --version and --config
/// FILE.toml (keys are long flag names; the command line takes precedence); hyphens and underscores are equivalent in
/// flag names; unknown flags give a suggestion. Programs that add options include <CLI/CLI.hpp> and use app().
class CommandLine {
 public:
  /// `name`: of the program ("molgraph-score"). `example` may have several lines.
  CommandLine(const std::string& name, const std::string& what, const std::string& example);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App& app();
  /// Adds the options chosen by `which` (CommonOption values) in the group "Common"; the struct must outlive parse().
  void add_common(CommonOptions& options, unsigned which);
  /// Adds --format, --header, --no-header, -s and --id-column in the group "Input"; the struct must outlive parse().
  void add_table(TableFlags& flags);
  /// Adds --help-all; --help then hides the options of these groups.
  void add_help_all(std::vector<std::string> advanced_groups);
  /// Sets the log level according to -v and -q. Throws UsageError, and EndProgram after --help and --version.
  void parse(const std::vector<std::string>& arguments);
  /// Whether the command line or the configuration file contains the option, such as "--lr". Call after parse().
  bool given(const std::string& option) const;
  /// Whether the command line itself contains the option.
  bool named(const std::string& option) const;
  /// True with -q: only warnings and errors, no progress.
  bool quiet() const;
  /// The --config file; "" = none.
  const std::string& config_file() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- signals and pipes ---

/// From now on, the first SIGINT or SIGTERM only sets a flag. A second one ends the process immediately.
void catch_stop_signals();
/// The signal received by this process, or 0.
int stop_requested();

/// Writes all bytes to a file descriptor. Throws ClosedPipe if the pipe is closed, and FileError (with `name`) after
/// any other error.
void write_all(int descriptor, std::string_view bytes, const std::string& name);
/// The same for standard output; erases the progress bar first.
void write_stdout(std::string_view bytes);

// --- progress ---

/// Progress on stderr: on a terminal a bar with rate and remaining time, otherwise a line every 30 seconds; nothing
/// with -q. Not thread-safe. Log lines written while a bar is shown appear above it.
class Progress {
 public:
  /// "Featurising", "molecules"; `total` 0 = unknown.
  Progress(std::string what, std::string unit, std::int64_t total);
  /// Removes the bar from the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Prints at most ten times per second; cheap otherwise. `note` is the end of the line, such as "loss 0.123".
  void update(std::int64_t done, const std::string& note = {});
  /// Sets the total once it is known.
  void set_total(std::int64_t total);
  /// Sets the fraction done, from 0 to 1, for an unknown total, by another measure such as bytes; -1 = unknown.
  void set_share(double share);
  /// Whether an update would print now. Check this before computing an expensive note.
  bool is_due() const;
  /// Replaces update() for a task that is part of a plan. `share`: fraction of the plan that is done, from 0 to 1;
  /// `now`: the current task.
  void update_plan(double share, double seconds_left, const std::string& now);
  /// Seconds since construction.
  double seconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Download options with a progress bar and log lines; a signal stops the download.
DownloadOptions downloads_shown();

/// Hooks for reading tables: log each decision about an input once, up to a maximum number of messages; throw Stopped
/// after a signal.
ReadingHooks reading_hooks();

}  // namespace molgraph

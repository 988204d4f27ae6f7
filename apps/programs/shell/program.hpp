// What every program shares: the command line, logs, exit codes, signals, closed pipes and progress.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/catalogue/download.hpp"
#include "datasets/system/stopped.hpp"
#include "datasets/tables/table_reader.hpp"

namespace CLI {
class App;
}

namespace molgraph {

// --- running a program ---

/// Exit codes of every program; a program stopped by a signal ends with 128 + its number (130, 143).
enum ExitCode : int { kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitData = 3, kExitFile = 4 };

/// Thrown when the reader of standard output has gone (`| head`); run_program() ends quietly with code 0.
struct ClosedPipe {};
/// Thrown to end early and well, after --help or --version.
struct EndProgram {
  int code = kExitDone;
};

/// The body of a main(): sets up the log (spdlog, to stderr), runs `body` with the arguments after the program's name,
/// and turns exceptions into one line on stderr and an exit code: UsageError 2, DataError 3, FileError 4, RunError and
/// others 1; Stopped is 128 + its signal.
int run_program(int argc, char** argv, const std::function<int(const std::vector<std::string>& arguments)>& body);

/// LibTorch's OpenMP threads spin while they wait: on a machine that does anything else, training then slows down
/// several times over. The policy is read when that library loads, so this sets OMP_WAIT_POLICY=passive, unless the
/// user chose one, and starts the program anew, once. For mains that compute with LibTorch; first thing in main().
void let_waiting_threads_sleep(char** argv);

/// From now on nothing but errors is logged, and no progress shown.
void log_errors_only();

/// "molgraph 0.1.0"
std::string version_text();

// --- the command line ---

/// Values of the options that several programs have; a program asks for those that mean something to it.
struct CommonOptions {
  int threads = 0;              ///< 0 = all cores this process may use
  std::string device = "auto";  ///< auto, cpu, cuda or cuda:N
  std::uint64_t seed = 0;
  std::string data_dir;  ///< "" = $MOLGRAPH_DATA, else the XDG cache
  int max_atoms = 1024;  ///< larger molecules are reported as too_large
};
/// Which of them to add; combine with |.
enum CommonOption : unsigned { kThreads = 1, kDevice = 2, kSeed = 4, kDataDir = 8, kMaxAtoms = 16 };

/// The number in "cuda:N" (0 for "cuda"), or kNoGpu for the CPU. Throws UsageError on anything else.
inline constexpr int kNoGpu = -1;
int gpu_of_device(const std::string& device);

/// Options of programs that read a table of molecules.
struct TableFlags {
  std::string format = "auto";
  TableOptions table;  ///< `format` and `hooks` are filled in by options()
  /// Throws UsageError on an unknown format.
  TableOptions options() const;
};

/// A CLI11 application with the project's rules: help that begins with an example, -v/-q, --version, --config FILE.toml
/// (keys are long flag names; the command line wins), hyphens and underscores alike in flag names, "did you mean".
/// Mains that add options include <CLI/CLI.hpp> and use app().
class CommandLine {
 public:
  /// `example` may have several lines. `name` is the program's ("molgraph-score").
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
  /// Throws UsageError, or EndProgram after --help and --version. Sets the log's level by -v and -q.
  void parse(const std::vector<std::string>& arguments);
  /// Was the option given, on the command line or in the configuration file? After parse(); `option` as "--lr".
  bool given(const std::string& option) const;
  /// Does it stand on the command line itself?
  bool named(const std::string& option) const;
  /// True with -q: no progress, warnings only.
  bool quiet() const;
  /// The file of --config, "" if none.
  const std::string& config_file() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- signals and pipes ---

/// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the process at once.
void catch_stop_signals();
/// The signal that asked this process to stop, or 0.
int stop_requested();

/// Writes all bytes to a file descriptor. Throws ClosedPipe when the reader has gone, FileError (with `name`)
/// otherwise.
void write_all(int descriptor, std::string_view bytes, const std::string& name);
/// The same for standard output; a progress bar makes way.
void write_stdout(std::string_view bytes);

// --- progress ---

/// Progress to stderr: a bar with rate and time left on a terminal, else a plain line every 30 seconds; nothing with
/// -q. Use it from one thread. Log lines may be written while a bar stands: they appear above it.
class Progress {
 public:
  /// "Featurising", "molecules"; `total` 0 = unknown.
  Progress(std::string what, std::string unit, std::int64_t total);
  /// Removes the bar from the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap; prints at most ten times a second. `note` stands at the end of the line, such as "loss 0.123".
  void update(std::int64_t done, const std::string& note = {});
  /// The total became known.
  void set_total(std::int64_t total);
  /// Where the total is unknown: how much is done by another measure, such as bytes, from 0 to 1; -1 = unknown.
  void set_share(double share);
  /// Would an update print now? Each may ask before it does something that is not cheap.
  bool is_due() const;
  /// In place of update(), where the work is one of several in a plan: how much of all is done, from 0 to 1, how long
  /// the rest takes, and what is being done.
  void update_plan(double share, double seconds_left, const std::string& now);
  /// Seconds since construction.
  double seconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Downloads with a progress bar, which a signal stops; lines on the log.
DownloadOptions downloads_shown();

/// For tables that people read: what is decided about them is said on the log, each thing once and not of very many
/// inputs; a signal ends the reading with Stopped.
ReadingHooks reading_hooks();

}  // namespace molgraph

#include "apps/programs/shell/program.hpp"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <set>

#include "apps/programs/shell/progress_bar.hpp"
#include "datasets/catalogue/download.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxFormatMessages = 8;  // messages about the format of inputs

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
  if (stop_signal.exchange(signal) != 0) _exit(128 + signal);
}

/// The prefix of a log message: the program's name and, for warnings and errors, the level. Erases the progress bar
/// first.
class LevelPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view text;
    if (message.level == spdlog::level::warn) text = "warning: ";
    if (message.level == spdlog::level::err || message.level == spdlog::level::critical) text = "error: ";
    if (progress_bar_shown()) out.append(kEraseLine.begin(), kEraseLine.end());
    out.append(message.logger_name.begin(), message.logger_name.end());
    constexpr std::string_view separator = ": ";
    out.append(separator.begin(), separator.end());
    out.append(text.begin(), text.end());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelPrefix>(); }
};

void set_up_log(const std::string& program) {
  auto logger = std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelPrefix>('*').set_pattern("%*%v");
  logger->set_formatter(std::move(formatter));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

/// Shortens very long lines of an error message, such as a path of thousands of characters, to their two ends.
std::string shorten_lines(std::string_view message) {
  constexpr std::size_t kMax = 1000, kEnd = 400;
  std::string text;
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    if (line.size() <= kMax) text += line;
    else text.append(line.substr(0, kEnd)).append(" [...] ").append(line.substr(line.size() - kEnd));
    if (!message.empty()) text += '\n';
  }
  return text;
}

std::string reason_of(const std::filesystem::filesystem_error& error) {
  const std::string first = error.path1().string(), second = error.path2().string();
  return first + (second.empty() ? "" : " and " + second) + (first.empty() ? "" : ": ") + error.code().message();
}

/// The first line of what(). Libraries append a stack trace.
std::string first_line(const char* text) {
  const std::string_view message(text);
  return std::string(message.substr(0, message.find('\n')));
}

/// Opens /dev/null for closed standard streams, so that no data file gets one of their descriptors.
void open_missing_standard_streams() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      if (open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY) != descriptor) std::abort();
    }
  }
}

}  // namespace

void let_waiting_threads_sleep(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::execv("/proc/self/exe", argv);  // if this fails, the program continues without a restart
}

std::string version_text() { return std::string("molgraph ") + MOLGRAPH_VERSION; }

int run_program(int argc, char** argv, const std::function<int(const std::vector<std::string>& arguments)>& body) {
  open_missing_standard_streams();
  // A closed pipe and a file above the limit of `ulimit -f` then make write() fail, and the program ends in order.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  set_up_log(argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "molgraph");
  try {
    return body(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const EndProgram& end) {
    return end.code;
  } catch (const ClosedPipe&) {
    return kExitDone;
  } catch (const Stopped& stopped) {
    return 128 + stopped.signal;
  } catch (const DownloadStopped&) {
    return 128 + stop_requested();
  } catch (const UsageError& error) {
    spdlog::error("{} (see --help)", shorten_lines(error.what()));
    return kExitUsage;
  } catch (const DataError& error) {
    spdlog::error("{}", shorten_lines(error.what()));
    return kExitData;
  } catch (const FileError& error) {
    spdlog::error("{}", shorten_lines(error.what()));
    return kExitFile;
  } catch (
      const std::filesystem::filesystem_error& error) {  // a folder that cannot be created, a name that is too long ...
    spdlog::error("{}", shorten_lines(reason_of(error)));
    return kExitFile;
  } catch (const RunError& error) {
    spdlog::error("{}", first_line(error.what()));
    return kExitFailed;
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory");
    return kExitFailed;
  } catch (const std::exception& error) {
    spdlog::error("internal error: {}", first_line(error.what()));
    spdlog::debug("{}", error.what());
    return kExitFailed;
  }
}

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;  // signals do not make reads and writes fail; the flag is checked between steps
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // respects nohup and "&" in scripts
  }
}

int stop_requested() { return stop_signal.load(); }

ReadingHooks reading_hooks() {
  ReadingHooks hooks;
  hooks.check_stop = [] {
    if (const int signal = stop_requested()) throw Stopped{signal};
  };
  hooks.log = [](const std::string& text, bool warning) {
    static std::mutex mutex;
    static std::set<std::string> logged[2];
    const std::lock_guard lock(mutex);
    auto& earlier = logged[warning ? 1 : 0];
    if (earlier.size() > kMaxFormatMessages || !earlier.insert(text).second) return;
    const auto level = warning ? spdlog::level::warn : spdlog::level::info;
    spdlog::log(level, "{}",
                earlier.size() > kMaxFormatMessages ? "further messages of this kind are not shown" : text);
  };
  return hooks;
}

void write_all(int descriptor, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw ClosedPipe{};
    } else if (errno != EINTR) {
      throw FileError(name + ": cannot write: " + std::strerror(errno));
    }
  }
}

void write_stdout(std::string_view bytes) {
  clear_progress_bar();
  write_all(STDOUT_FILENO, bytes, "standard output");
}

}  // namespace molgraph

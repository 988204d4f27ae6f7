#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <spdlog/spdlog.h>

#include "apps/programs/shell/program.hpp"
#include "apps/programs/shell/progress_bar.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSecondsBetweenBars = 0.1;
constexpr double kSecondsBetweenLines = 30.0;
constexpr std::size_t kBarCells = 24;

std::atomic<bool> bar_shown{false};
std::atomic<bool> silenced{false};

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::string rate_text(double per_second) {
  char text[32];
  if (per_second >= 100) return with_thousands(std::llround(per_second));
  std::snprintf(text, sizeof text, per_second >= 10 ? "%.0f" : "%.1f", per_second);
  return text;
}

}  // namespace

bool progress_bar_shown() { return bar_shown.load(); }
void clear_progress_bar() {
  if (!bar_shown.exchange(false)) return;
  std::fwrite(kEraseLine.data(), 1, kEraseLine.size(), stderr);
  std::fflush(stderr);
}
void silence_progress() { silenced.store(true); }

struct Progress::State {
  std::string what, unit;
  std::int64_t total;
  bool terminal;
  Clock::time_point start = Clock::now();
  Clock::time_point printed = start;
  double share = -1, first_share = -1;  // current and first value of set_share(); a resumed run starts above 0

  /// Fraction done, from 0 to 1; -1 = unknown.
  double part(std::int64_t done) const {
    return total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : share;
  }

  std::string bar(double part) const {
    const auto full = static_cast<std::size_t>(part * kBarCells);
    return terminal ? "[" + std::string(full, '#') + std::string(kBarCells - full, '.') + "] " : "";
  }

  double seconds_left(std::int64_t done, double elapsed) const {
    if (total > 0) return static_cast<double>(total - done) * elapsed / static_cast<double>(done);
    return (1 - share) * elapsed / (share - first_share);
  }

  bool is_due() const {
    const double since = std::chrono::duration<double>(Clock::now() - printed).count();
    return !silenced.load() && since >= (terminal ? kSecondsBetweenBars : kSecondsBetweenLines);
  }

  void show(const std::string& line) {
    printed = Clock::now();
    if (!terminal) {
      spdlog::info("{}", line);
      return;
    }
    const std::string drawn = std::string(kEraseLine) + line;
    std::fwrite(drawn.data(), 1, drawn.size(), stderr);
    std::fflush(stderr);
    bar_shown.store(true);
  }

  std::string line(std::int64_t done, const std::string& note) const {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count(), part = this->part(done);
    std::string text = what + ": ";
    if (part >= 0) text += bar(part) + std::to_string(static_cast<int>(part * 100)) + " %, ";
    text += with_thousands(done) + (total > 0 ? " of " + with_thousands(total) : "") + " " + unit + ", " +
            rate_text(elapsed > 0 ? static_cast<double>(done) / elapsed : 0) + "/s";
    const bool has_advanced = total > 0 ? done > 0 : share > first_share;
    if (has_advanced && part < 1) text += ", " + duration_text(seconds_left(done, elapsed)) + " left";
    return note.empty() ? text : text + ", " + note;
  }
};

Progress::Progress(std::string what, std::string unit, std::int64_t total)
    : state_(new State{std::move(what), std::move(unit), total, stderr_is_terminal()}) {}

Progress::~Progress() { clear_progress_bar(); }

void Progress::update(std::int64_t done, const std::string& note) {
  if (is_due()) state_->show(state_->line(done, note));
}

bool Progress::is_due() const { return state_->is_due(); }

void Progress::update_plan(double share, double seconds_left, const std::string& now) {
  if (!is_due()) return;
  state_->show(state_->what + ": " + state_->bar(share) + std::to_string(static_cast<int>(share * 100)) + " %, " +
               duration_text(seconds_left) + " left, " + now);
}

void Progress::set_total(std::int64_t total) { state_->total = total; }

void Progress::set_share(double share) {
  if (state_->first_share < 0) state_->first_share = share;
  state_->share = share;
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - state_->start).count(); }

DownloadOptions downloads_shown() {
  DownloadOptions options;
  options.log = [](const std::string& line) { spdlog::info("{}", line); };
  options.progress = [bar = std::make_shared<Progress>("Downloading", "bytes", 0)](std::uint64_t done,
                                                                                   std::uint64_t total) {
    bar->set_total(static_cast<std::int64_t>(total));
    bar->update(static_cast<std::int64_t>(done));
    return stop_requested() == 0;
  };
  return options;
}

}  // namespace molgraph

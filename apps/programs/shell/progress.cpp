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

namespace molgraph {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSecondsBetweenBars = 0.1;
constexpr double kSecondsBetweenLines = 30.0;
constexpr std::size_t kBarCells = 24;

std::atomic<bool> bar_stands{false};
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

bool progress_bar_stands() { return bar_stands.load(); }
void clear_progress_bar() {
  if (!bar_stands.exchange(false)) return;
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
  double share = -1, first_share = -1;   // of set_share(), and its first value: where an interrupted run goes on

  /// How much of everything is done, from 0 to 1; -1 = unknown.
  double part(std::int64_t done) const {
    return total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : share;
  }

  std::string bar(double part) const {
    const auto full = static_cast<std::size_t>(part * kBarCells);
    return terminal ? "[" + std::string(full, '#') + std::string(kBarCells - full, '.') + "] " : "";
  }

  double seconds_left(std::int64_t done, double passed) const {
    if (total > 0) return static_cast<double>(total - done) * passed / static_cast<double>(done);
    return (1 - share) * passed / (share - first_share);
  }

  std::string line(std::int64_t done, const std::string& note) const {
    const double passed = std::chrono::duration<double>(Clock::now() - start).count(), part = this->part(done);
    std::string text = what + ": ";
    if (part >= 0) text += bar(part) + std::to_string(static_cast<int>(part * 100)) + " %, ";
    text += with_thousands(done) + (total > 0 ? " of " + with_thousands(total) : "") + " " + unit + ", " +
            rate_text(passed > 0 ? static_cast<double>(done) / passed : 0) + "/s";
    const bool moves = total > 0 ? done > 0 : share > first_share;
    if (moves && part < 1) text += ", " + duration_text(seconds_left(done, passed)) + " left";
    return note.empty() ? text : text + ", " + note;
  }
};

Progress::Progress(std::string what, std::string unit, std::int64_t total)
    : state_(new State{std::move(what), std::move(unit), total, stderr_is_terminal()}) {}

Progress::~Progress() { clear_progress_bar(); }

void Progress::update(std::int64_t done, const std::string& note) {
  if (silenced.load()) return;
  const Clock::time_point now = Clock::now();
  const double since = std::chrono::duration<double>(now - state_->printed).count();
  if (since < (state_->terminal ? kSecondsBetweenBars : kSecondsBetweenLines)) return;
  state_->printed = now;
  const std::string line = state_->line(done, note);
  if (!state_->terminal) {
    spdlog::info("{}", line);
    return;
  }
  const std::string drawn = std::string(kEraseLine) + line;
  std::fwrite(drawn.data(), 1, drawn.size(), stderr);
  std::fflush(stderr);
  bar_stands.store(true);
}

void Progress::set_total(std::int64_t total) { state_->total = total; }

void Progress::set_share(double share) {
  if (state_->first_share < 0) state_->first_share = share;
  state_->share = share;
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - state_->start).count(); }

DownloadOptions downloads_shown() {
  DownloadOptions options;
  options.say = [](const std::string& line) { spdlog::info("{}", line); };
  options.progress = [bar = std::make_shared<Progress>("Downloading", "bytes", 0)](std::uint64_t done, std::uint64_t total) {
    bar->set_total(static_cast<std::int64_t>(total));
    bar->update(static_cast<std::int64_t>(done));
    return stop_requested() == 0;
  };
  return options;
}

std::string with_thousands(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool behind_digit = i > 0 && digits[i - 1] != '-';
    if (behind_digit && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

namespace {

constexpr int kDigits = 4;
constexpr double kSmallest = 1e-4, kLargest = 1e9;   // between them no exponent is needed

/// Digits before the point: 3 for 123.4, -1 for 0.0123, as the number is after rounding to kDigits digits.
int magnitude(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*e", kDigits - 1, std::abs(value));
  return std::atoi(std::strchr(text, 'e') + 1) + 1;
}

bool needs_exponent(double value) {
  return value != 0 && (!(std::abs(value) >= kSmallest) || !(std::abs(value) < kLargest));
}

std::string with_decimals(double value, int decimals) {
  char text[64];
  if (std::isnan(value)) return "-";
  if (needs_exponent(value)) {
    std::snprintf(text, sizeof text, "%.*e", kDigits - 1, value);
    return text;
  }
  if (decimals == 0 && std::abs(value) >= 1000) return with_thousands(std::llround(value));
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

}  // namespace

std::string sensible_number(double value) {
  const bool plain = std::isfinite(value) && value != 0;
  return with_decimals(value, plain ? std::max(0, kDigits - magnitude(value)) : kDigits);
}

std::vector<std::string> sensible_column(const std::vector<double>& values) {
  constexpr int kMostDecimals = 6;
  double largest = 0, smallest = kLargest;
  for (const double value : values) {
    if (std::isnan(value) || value == 0 || needs_exponent(value)) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  int decimals = kDigits;
  if (largest > 0) {
    decimals = std::max(kDigits - magnitude(largest), std::min(kDigits - 1 - magnitude(smallest), kMostDecimals));
    decimals = std::clamp(decimals, 0, kMostDecimals);
  }
  std::vector<std::string> column;
  for (const double value : values) column.push_back(with_decimals(value, decimals));
  return column;
}

std::string duration_text(double seconds) {
  char text[48];
  if (!(seconds < 1e9)) return "a long time";
  const auto whole = static_cast<long>(std::llround(seconds));
  if (seconds < 9.95) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (whole < 60) {
    std::snprintf(text, sizeof text, "%ld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%ld min %02ld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld h %02ld min", whole / 3600, whole % 3600 / 60);
  }
  return text;
}

}  // namespace molgraph

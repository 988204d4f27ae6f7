// Interface between training and the program that runs it. The library itself handles no signals, draws no progress bar
// and writes no log.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "datasets/catalogue/download.hpp"
#include "datasets/system/stopped.hpp"
#include "datasets/tables/reading_hooks.hpp"

namespace molgraph {

/// A pending piece of work, under its name in RunControl::begin.
struct PlannedWork {
  std::string what;
  double seconds = 0;  ///< estimate for this machine
};

/// By default, training is never interrupted and reports nothing. Several threads call stop_signal. Other threads call
/// advance, one at a time, while the training thread waits for them. Only the training thread calls the rest.
struct RunControl {
  /// The signal that asked this process to stop, 0 = none. Called between pieces of work, by several threads.
  std::function<int()> stop_signal = [] { return 0; };
  std::function<void(const std::string& line)> note = [](const std::string&) {};
  std::function<void(const std::string& line)> warn = [](const std::string&) {};
  /// The table of results, at the end of training.
  std::function<void(const std::string& text)> report = [](const std::string&) {};
  /// Start of a piece of work, for example "Featurising", "molecules"; `total` 0 = not yet known. One at a time.
  std::function<void(const std::string& what, const std::string& unit, std::int64_t total)> begin =
      [](const std::string&, const std::string&, std::int64_t) {};
  /// Progress of this work; must be cheap. `note`: further information such as "loss 0.123".
  std::function<void(std::int64_t done, std::int64_t total, const std::string& note)> advance =
      [](std::int64_t, std::int64_t, const std::string&) {};
  std::function<void()> end = [] {};
  /// All remaining work in order; called once, before the first update. Work that turns out unnecessary never begins.
  std::function<void(const std::vector<PlannedWork>& work)> plan = [](const std::vector<PlannedWork>&) {};
  ReadingHooks reading{};      ///< hooks for reading tables
  DownloadOptions download{};  ///< for a named data set that is not yet available

  void warn_of(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines) warn(line);
  }
  /// Throws Stopped if there is a stop signal.
  void stop_if_requested() const {
    if (const int signal = stop_signal()) throw Stopped{signal};
  }
};

// --- names of work in a plan ---
inline constexpr const char *kTrainingWork = "Training", *kPredictingWork = "Predicting",
                            *kNearestWork = "Nearest neighbours", *kProcessWork = "Gaussian process",
                            *kTreesWork = "Trees", *kDomainWork = "Applicability domain";

/// A piece of work, from RunControl::begin to RunControl::end.
class WorkInProgress {
 public:
  WorkInProgress(const RunControl& control, const std::string& what, const std::string& unit, std::int64_t total)
      : control_(control) {
    control_.begin(what, unit, total);
  }
  ~WorkInProgress() { control_.end(); }
  WorkInProgress(const WorkInProgress&) = delete;
  WorkInProgress& operator=(const WorkInProgress&) = delete;

  void advance(std::int64_t done, std::int64_t total, const std::string& note = {}) const {
    control_.advance(done, total, note);
  }
  /// Adds `more` to the progress. Thread-safe.
  void add(std::int64_t more, std::int64_t total) const {
    const std::lock_guard lock(mutex_);
    done_ += more;
    control_.advance(done_, total, {});
  }

 private:
  const RunControl& control_;
  mutable std::mutex mutex_;
  mutable std::int64_t done_ = 0;  ///< sum over add()
};

}  // namespace molgraph

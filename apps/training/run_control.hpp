// What a training asks of the program around it, and what it tells it. The library itself looks at no signal, draws no
// progress bar and writes no log.
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

/// A piece of work that is still to be done, as RunControl::begin will name it.
struct PlannedWork {
  std::string what;
  double seconds = 0;  ///< it is estimated to take here
};

/// By default training is never interrupted and reports nothing. The others are called by the thread that trains alone;
/// advance() by others too, one at a time, while that one waits for them.
struct RunControl {
  /// The signal that asked this process to stop, 0 = none. Asked between two pieces of work, by several threads.
  std::function<int()> stop_signal = [] { return 0; };
  std::function<void(const std::string& line)> note = [](const std::string&) {};
  std::function<void(const std::string& line)> warn = [](const std::string&) {};
  /// The table of results, at the end of a training.
  std::function<void(const std::string& text)> report = [](const std::string&) {};
  /// A piece of work begins: "Featurising", "molecules"; `total` 0 = not known yet. One at a time.
  std::function<void(const std::string& what, const std::string& unit, std::int64_t total)> begin =
      [](const std::string&, const std::string&, std::int64_t) {};
  /// So much of it is done; cheap. `note` is what else is of interest, such as "loss 0.123".
  std::function<void(std::int64_t done, std::int64_t total, const std::string& note)> advance =
      [](std::int64_t, std::int64_t, const std::string&) {};
  std::function<void()> end = [] {};
  /// All work that is left, in order; told once, before the first update. What is not needed never begins.
  std::function<void(const std::vector<PlannedWork>& works)> plan = [](const std::vector<PlannedWork>&) {};
  ReadingHooks reading{};      ///< of the tables
  DownloadOptions download{};  ///< of a named data set that is not there

  void warn_of(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines) warn(line);
  }
  /// Throws Stopped if a signal asked to stop.
  void stop_if_asked() const {
    if (const int signal = stop_signal()) throw Stopped{signal};
  }
};

// --- the works of a plan ---
inline constexpr const char *kTrainingWork = "Training", *kPredictingWork = "Predicting",
                            *kNearestWork = "Nearest neighbours", *kProcessWork = "Gaussian process",
                            *kTreesWork = "Trees", *kDomainWork = "Keeping the training molecules";

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
  /// So much more of it is done; any thread may call it.
  void add(std::int64_t more, std::int64_t total) const {
    const std::lock_guard lock(mutex_);
    done_ += more;
    control_.advance(done_, total, {});
  }

 private:
  const RunControl& control_;
  mutable std::mutex mutex_;
  mutable std::int64_t done_ = 0;  ///< of add()
};

}  // namespace molgraph

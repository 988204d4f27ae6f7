#include "apps/programs/train/shell_control.hpp"

#include <chrono>
#include <memory>
#include <optional>

#include "apps/programs/shell/log.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/programs/shell/progress_bar.hpp"
#include "apps/programs/train/plan_position.hpp"

namespace molgraph {
namespace {

/// One progress line: for the current task, or for the whole run once there is a plan.
class ProgressLine {
 public:
  void plan(const std::vector<PlannedWork>& tasks) {
    position_.emplace(tasks);
    bar_.emplace("Run", "", 0);
  }
  void begin(const std::string& what, const std::string& unit, std::int64_t total) {
    what_ = what;
    if (!position_) {
      bar_.emplace(what, unit, total);
      return;
    }
    position_->begin(what, seconds());
    show({});
  }
  void advance(std::int64_t done, std::int64_t total, const std::string& note) {
    if (!position_) {
      if (total > 0) bar_->set_total(total);
      bar_->update(done, note);
      return;
    }
    if (total > 0) position_->advance(static_cast<double>(done) / static_cast<double>(total), seconds());
    show(note);
  }
  void end() {
    if (!position_) {
      bar_.reset();
      return;
    }
    position_->end(seconds());
    clear_progress_bar();
  }

 private:
  static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void show(const std::string& note) {
    if (!bar_->is_due()) return;
    bar_->update_plan(position_->share(), position_->seconds_left(), note.empty() ? what_ : what_ + ", " + note);
  }

  std::optional<Progress> bar_;
  std::optional<PlanPosition> position_;
  std::string what_;
};

}  // namespace

RunControl shell_control() {
  RunControl control;
  control.stop_signal = stop_requested;
  control.note = log_info;
  control.warn = log_warning;
  control.report = [](const std::string& text) { write_stdout(text); };
  const auto line = std::make_shared<ProgressLine>();
  control.begin = [line](const std::string& what, const std::string& unit, std::int64_t total) {
    line->begin(what, unit, total);
  };
  control.advance = [line](std::int64_t done, std::int64_t total, const std::string& note) {
    line->advance(done, total, note);
  };
  control.end = [line] { line->end(); };
  control.plan = [line](const std::vector<PlannedWork>& tasks) { line->plan(tasks); };
  control.reading = reading_hooks();
  control.download = downloads_shown();
  return control;
}

}  // namespace molgraph

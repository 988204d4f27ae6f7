#include "apps/programs/train/shell_control.hpp"

#include <memory>
#include <optional>

#include "apps/programs/shell/log.hpp"
#include "apps/programs/shell/program.hpp"

namespace molgraph {

RunControl shell_control() {
  RunControl control;
  control.stop_signal = stop_requested;
  control.note = log_info;
  control.warn = log_warning;
  control.report = [](const std::string& text) { write_stdout(text); };
  const auto progress = std::make_shared<std::optional<Progress>>();
  control.begin = [progress](const std::string& what, const std::string& unit, std::int64_t total) {
    progress->emplace(what, unit, total);
  };
  control.advance = [progress](std::int64_t done, std::int64_t total, const std::string& note) {
    if (total > 0) (*progress)->set_total(total);
    (*progress)->update(done, note);
  };
  control.end = [progress] { progress->reset(); };
  control.reading = reading_hooks();
  control.download = downloads_shown();
  return control;
}

}  // namespace molgraph

// What the log and the progress bar must know of each other: both write to the same terminal.
#pragma once

#include <string_view>

namespace molgraph {

/// Carriage return and "erase to the end of the line".
inline constexpr std::string_view kEraseLine = "\r\033[K";

/// True while a bar stands on the terminal: a log line erases it first, the next update draws it again below.
bool progress_bar_stands();
/// Before anything else is written to a terminal: erases a bar that stands there; the next update draws it again below.
void clear_progress_bar();
/// Called by -q.
void silence_progress();

}  // namespace molgraph

// Coordination of log and progress bar, which write to the same terminal.
#pragma once

#include <string_view>

namespace molgraph {

/// Carriage return and "erase to the end of the line".
inline constexpr std::string_view kEraseLine = "\r\033[K";

/// True while a bar is shown. A log line erases it first; the next update draws it again below.
bool progress_bar_shown();
/// Erases the bar, if shown. Call this before writing anything else to a terminal. The next update draws it again.
void clear_progress_bar();
/// Turns progress off (-q).
void silence_progress();

}  // namespace molgraph

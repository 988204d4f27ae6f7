// Small operations on text that readers, targets and splits share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Without blanks, tabs and line ends around it.
std::string_view trim(std::string_view text);
/// ASCII letters in lower case; other bytes as they are.
std::string lower(std::string_view text);
/// "a, b, c"; at most `most` items, then "... and N more".
std::string list_of(const std::vector<std::string>& items, std::size_t most = 30);
/// The time as ISO 8601, UTC: "2026-11-22T05:10:00Z".
std::string now_utc();

}  // namespace molgraph

// Text operations shared by readers, targets, splits and writers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Removes surrounding blanks, tabs and line ends.
std::string_view trim(std::string_view text);
/// Converts ASCII letters to lower case; other bytes are unchanged.
std::string lower(std::string_view text);
/// Returns "a, b, c"; at most `max_items` items, then "... and N more".
std::string list_of(const std::vector<std::string>& items, std::size_t max_items = 30);
/// Returns the current time as ISO 8601 in UTC: "2026-11-22T05:10:00Z".
std::string now_utc();

/// Returns the fewest digits that read back as the same number: "-1.77"; "nan" and "inf" for other values.
std::string number_text(float value);
std::string number_text(double value);
/// Formats a number that was computed as mean + `unit` * a float. Uses the digits of a float of its own size. If the
/// number is so large compared with the unit that these are too few (eight times or more), uses the digits of a float
/// of size 1 in that unit.
std::string number_text(double value, double unit);
/// Returns the number that a float's fewest digits represent: exactly -1.77 for the float closest to it.
double number_of_digits(float value);

}  // namespace molgraph

// Small operations on text that readers, targets, splits and writers share.
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

/// A number with the fewest digits that read back as the same one: "-1.77"; "nan" and "inf" where it is neither.
std::string number_text(float value);
std::string number_text(double value);
/// A number that was computed as mean + `unit` * a float: with the digits of a float of its own size, or, where it is
/// so large beside the unit that these would not do (eightfold and more), with those of a float of size 1 in that unit.
std::string number_text(double value, double unit);
/// The number that a float's fewest digits say: -1.77 of the float next to it.
double number_of_digits(float value);

}  // namespace molgraph

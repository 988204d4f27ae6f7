// Dates and times in cells.
#pragma once

#include <optional>
#include <string_view>

namespace molgraph {

/// True for text that begins like a date, such as "2024-03-01", whether or not that day exists.
bool looks_like_date(std::string_view cell);
/// True for a number that may be a date which its value does not order: month and year ("03.2024"), or day, month and
/// year ("25092023").
bool looks_like_unordered_date(std::string_view cell);
/// Returns the seconds since 1970-01-01 of an ISO 8601 date, optionally followed by T or a blank and a time:
/// "2024-03-01", "2024-03-01 08:00", "2024-03-01T08:00:30.5Z", "2024-03-01T08:00+02:00". Without a time zone, the time
/// is UTC. Returns nothing for other text and for days and hours that do not exist.
std::optional<double> seconds_of_date(std::string_view cell);

}  // namespace molgraph

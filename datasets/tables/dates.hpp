// Points in time as tables write them.
#pragma once

#include <optional>
#include <string_view>

namespace molgraph {

/// True for text that is written as a date, "2024-03-01" and perhaps more, whether or not there is such a day.
bool looks_like_date(std::string_view cell);
/// Seconds since 1970-01-01 of an ISO 8601 date, perhaps with T or a blank and a time: "2024-03-01",
/// "2024-03-01 08:00", "2024-03-01T08:00:30.5Z", "2024-03-01T08:00+02:00" (without a zone: UTC). Nothing for any other
/// text and for days and hours that do not exist.
std::optional<double> seconds_of_date(std::string_view cell);

}  // namespace molgraph

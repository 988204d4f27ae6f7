#include "datasets/tables/dates.hpp"

#include <chrono>
#include <cstddef>

#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Consumes text from its front.
struct DateScanner {
  std::string_view rest;

  /// Consumes a number with exactly this many digits; -1 if there is none.
  int digits(std::size_t count) {
    if (rest.size() < count) return -1;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(rest[i])) return -1;
      value = 10 * value + (rest[i] - '0');
    }
    rest.remove_prefix(count);
    return value;
  }
  bool consume(char c) {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  /// Consumes a fraction such as ".25"; 0 if there is none.
  std::optional<double> fraction() {
    if (!consume('.')) return 0.0;
    double value = 0, unit = 0.1;
    if (rest.empty() || !is_digit(rest.front())) return std::nullopt;
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), unit /= 10)
      value += unit * (rest.front() - '0');
    return value;
  }
};

/// Consumes "08:00", "08:00:30" or "08:00:30.5" and returns the seconds since midnight. 24:00 is the end of the day,
/// :60 a leap second.
std::optional<double> time_of_day(DateScanner& text) {
  const int hour = text.digits(2);
  const int minute = text.consume(':') ? text.digits(2) : -1;
  double second = 0;
  if (text.consume(':')) {
    const int whole = text.digits(2);
    const auto fraction = text.fraction();
    if (whole < 0 || whole > 60 || !fraction) return std::nullopt;
    second = whole + *fraction;
  }
  const bool end_of_day = hour == 24 && minute == 0 && second == 0;
  if (hour < 0 || minute < 0 || minute > 59 || (hour > 23 && !end_of_day)) return std::nullopt;
  return 3600.0 * hour + 60.0 * minute + second;
}

/// Consumes "Z", " UTC", "+02:00", " -0530" or nothing and returns the seconds east of Greenwich.
std::optional<double> zone_offset(DateScanner& text) {
  while (text.rest.starts_with(' ')) text.rest.remove_prefix(1);
  if (text.rest == "UTC" || text.rest == "GMT") {
    text.rest = {};
    return 0.0;
  }
  if (text.rest.empty() || text.consume('Z')) return 0.0;
  const bool west = text.rest.front() == '-';
  if (!text.consume('+') && !text.consume('-')) return std::nullopt;
  const int hours = text.digits(2);
  text.consume(':');
  const int minutes = text.rest.empty() ? 0 : text.digits(2);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return std::nullopt;
  return (west ? -60.0 : 60.0) * (60 * hours + minutes);
}

}  // namespace

bool looks_like_unordered_date(std::string_view cell) {
  DateScanner text{trim(cell)};
  const auto in = [](int value, int low, int high) { return value >= low && value <= high; };
  const bool with_day = text.rest.size() == 8;
  if (with_day && !in(text.digits(2), 1, 31)) return false;
  return in(text.digits(2), 1, 12) && (with_day || text.consume('.')) && in(text.digits(4), 1900, 2099) &&
         text.rest.empty();
}

bool looks_like_date(std::string_view cell) {
  DateScanner text{trim(cell)};
  return text.digits(4) >= 0 && text.consume('-') && text.digits(2) >= 0 && text.consume('-') && text.digits(2) >= 0;
}

std::optional<double> seconds_of_date(std::string_view cell) {
  if (!looks_like_date(cell)) return std::nullopt;
  DateScanner text{trim(cell)};
  const int year = text.digits(4);
  text.consume('-');
  const int month = text.digits(2);
  text.consume('-');
  const int day = text.digits(2);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const double midnight = 86400.0 * std::chrono::sys_days(date).time_since_epoch().count();
  if (text.rest.empty()) return midnight;
  if (!text.consume('T') && !text.consume(' ')) return std::nullopt;
  const auto time = time_of_day(text);
  const auto offset = time ? zone_offset(text) : std::nullopt;
  if (!offset || !text.rest.empty()) return std::nullopt;
  return midnight + *time - *offset;
}

}  // namespace molgraph

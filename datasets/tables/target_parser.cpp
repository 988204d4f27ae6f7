#include "datasets/tables/target_parser.hpp"

#include <limits>
#include <optional>

#include "datasets/system/text.hpp"
#include "datasets/tables/labels.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

void throw_bad_number(const std::string& column, const CellPlace& place) {
  const char* advice =
      is_censored(place.text) ? "; a sign such as > must be followed by one number and, optionally, a unit" : "";
  throw DataError(place.file, place.row + 1, "column '" + column + "' has a cell that is not a number" + advice,
                  place.text);
}

TargetParser::TargetParser(const Task& task) : task_(task) {
  for (std::size_t c = 0; c < task.class_labels.size(); ++c) {
    const std::string& label = task.class_labels[c];
    classes_[task.kind == TaskKind::multiclass ? label : lower(label)] = static_cast<int>(c);
  }
}

Label TargetParser::label(std::string_view cell, std::size_t target, const std::string& file, std::int64_t row) const {
  if (is_missing(cell)) return {std::numeric_limits<double>::quiet_NaN()};
  const TaskKind kind = task_.kind_of(target);
  if (kind == TaskKind::multiclass) {
    const auto found = classes_.find(class_label(cell));
    if (found == classes_.end())
      throw DataError(file, row + 1, "column '" + task_.names[target] + "': unknown class", std::string(cell));
    return {static_cast<double>(found->second)};
  }
  if (kind == TaskKind::binary) {
    const auto found = classes_.empty() ? classes_.end() : classes_.find(lower(class_label(cell)));
    if (found != classes_.end()) return {static_cast<double>(found->second)};
    if (const auto label = binary_label(cell)) return {label->positive ? 1.0 : 0.0};
  }
  if (const auto number = number_of_cell(cell)) return {*number};
  const auto measured = kind == TaskKind::regression ? measured_number(cell) : std::nullopt;
  if (!measured) throw_bad_number(task_.names[target], {file, std::string(cell), row});
  return {measured->number, static_cast<std::int8_t>(measured->bound)};
}

}  // namespace molgraph

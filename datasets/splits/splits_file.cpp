#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/splits/splits.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/column_stats.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Row numbers of a string such as "0-9,12".
std::vector<std::int64_t> rows_of_text(const std::string& text, const std::string& path, std::int64_t rows) {
  std::vector<std::int64_t> result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view word = trim(std::string_view(text).substr(at, end - at));
    const std::size_t dash = word.find('-');
    const auto first = number_of_cell(word.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of_cell(word.substr(dash + 1));
    const auto is_whole = [](double number) { return number == std::floor(number); };
    if (!first || !last || !is_whole(*first) || !is_whole(*last) || *first < 0 || *last < *first ||
        *last >= static_cast<double>(rows))
      throw DataError(path, 0, "not a row or range within the rows 0 to " + std::to_string(rows - 1),
                      std::string(word));
    for (auto row = static_cast<std::int64_t>(*first); row <= static_cast<std::int64_t>(*last); ++row)
      result.push_back(row);
    at = end + 1;
  }
  return result;
}

/// Row numbers of a list. Checks that they are integers, because the JSON library does not.
std::vector<std::int64_t> rows_of_list(const nlohmann::json& list, const std::string& path) {
  for (const nlohmann::json& row : list)
    if (!row.is_number_integer()) throw DataError(path, 0, "not a row number", row.dump());
  return list.get<std::vector<std::int64_t>>();
}

void add_part(std::vector<SplitPart>& parts, SplitPart part, const nlohmann::json& list, const std::string& path) {
  const auto count = static_cast<std::int64_t>(parts.size());
  for (const std::int64_t row :
       list.is_string() ? rows_of_text(list.get<std::string>(), path, count) : rows_of_list(list, path)) {
    if (row < 0 || row >= count)
      throw DataError(path, 0,
                      "row " + std::to_string(row) + " does not exist; the rows are 0 to " + std::to_string(count - 1));
    SplitPart& assigned = parts[static_cast<std::size_t>(row)];
    if (assigned != SplitPart::none)
      throw DataError(path, 0, "row " + std::to_string(row) + " occurs twice in a split");
    assigned = part;
  }
}

}  // namespace

std::vector<std::vector<SplitPart>> splits_of_file(const std::string& path, std::int64_t rows) {
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(path));
    std::vector<std::vector<SplitPart>> splits;
    const nlohmann::json list = json.is_array() ? json : nlohmann::json::array({json});
    for (const nlohmann::json& split : list) {
      std::vector<SplitPart>& parts = splits.emplace_back(static_cast<std::size_t>(rows), SplitPart::none);
      for (const auto& [name, part_rows] : split.items())
        add_part(parts, split_part_of_cell(name, path, 0), part_rows, path);
    }
    if (splits.empty()) throw DataError(path + ": contains no split");
    return splits;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(path +
                    ": not a JSON list of {\"train\": [rows], \"val\": [rows], \"test\": [rows]}: " + error.what());
  }
}

}  // namespace molgraph

#include "datasets/tables/table_form.hpp"

#include <algorithm>
#include <array>

#include "datasets/system/text.hpp"
#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/table_format.hpp"

namespace molgraph {

int find_any_case(const std::vector<std::string>& columns, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (lower(trim(columns[c])) == name) return static_cast<int>(c);
  return -1;
}

namespace {

constexpr std::size_t kSampleRows = 50;
constexpr std::size_t kMaxSmiles = 2000;  // maximum number of characters of a cell that is parsed as SMILES

/// Consumes a cell from the front of the text and returns what ended it: the delimiter, a line end or the end of the
/// text ('\0'). `complete` is false if a quotation mark is not closed.
char take_cell(std::string_view& text, char delimiter, char line_end, std::string& cell, bool& complete) {
  cell.clear();
  complete = true;
  if (text.starts_with('"')) {
    std::size_t at = 1;
    while (true) {
      const std::size_t quote = text.find('"', at);
      complete = quote != std::string_view::npos;
      cell += text.substr(at, complete ? quote - at : quote);
      at = complete ? quote + 1 : text.size();
      if (!complete || at >= text.size() || text[at] != '"') break;
      cell += '"';
      ++at;
    }
    text.remove_prefix(at);
  }
  const char stops[] = {delimiter, line_end, '\0'};
  const std::size_t end = std::min(text.find_first_of(stops), text.size());
  cell += text.substr(0, end);
  text.remove_prefix(end);
  if (text.empty()) return '\0';
  const char stop = text.front();
  text.remove_prefix(1);
  if (stop == line_end && cell.ends_with('\r')) cell.pop_back();
  return stop;
}

bool is_number_like(std::string_view cell) {
  return number_of_cell(cell).has_value() || has_decimal_comma(cell) || has_thousands_commas(cell);
}

/// True for "0", "1", "2" ..., the column names of a data frame without names.
bool counts_up(const std::vector<std::string>& cells) {
  std::vector<double> numbers;
  for (const std::string& cell : cells)
    if (const auto number = number_of_cell(cell)) numbers.push_back(*number);
  const auto gap = std::ranges::adjacent_find(numbers, [](double a, double b) { return b != a + 1; });
  return numbers.size() > 1 && gap == numbers.end();
}

bool is_molecule(std::string_view cell) {
  const std::string_view text = trim(cell);
  return !text.empty() && text.size() <= kMaxSmiles && looks_like_smiles(text) && parses_as_smiles(text);
}

/// Content of one column below the first line.
struct ColumnKind {
  std::size_t filled = 0, numbers = 0, molecules = 0;
  bool is_numbers() const { return filled > 0 && 2 * numbers >= filled; }
  bool is_molecules() const { return filled > 0 && 2 * molecules >= filled; }
};

std::vector<ColumnKind> kinds_of(const SampleRows& rows, std::size_t first, std::size_t columns) {
  std::vector<ColumnKind> kinds(columns);
  for (std::size_t r = first; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < std::min(columns, rows[r].size()); ++c) {
      const std::string& cell = rows[r][c];
      if (is_missing(cell)) continue;
      ++kinds[c].filled;
      if (is_number_like(cell)) ++kinds[c].numbers;
      else kinds[c].molecules += is_molecule(cell);
    }
  }
  return kinds;
}

bool is_requested(std::string_view cell, const std::string& requested) {
  return !trim(requested).empty() && lower(trim(cell)) == lower(trim(requested));
}

/// Quality of a delimiter; better ones compare greater.
struct Fit {
  bool named = false;      ///< a cell of the first line names the SMILES column
  bool molecules = false;  ///< there is a column of molecules
  double uniform = 0;      ///< share of rows with as many cells as the first line
  auto operator<=>(const Fit&) const = default;
};

Fit fit_of(const SampleRows& rows, const std::string& requested) {
  Fit fit;
  if (rows.empty() || rows[0].size() < 2) return fit;
  fit.named = std::ranges::any_of(
      rows[0], [&](const auto& cell) { return names_molecules(cell) || is_requested(cell, requested); });
  const std::size_t first = rows.size() > 1 ? 1 : 0;
  fit.molecules = std::ranges::any_of(kinds_of(rows, first, rows[0].size()), &ColumnKind::is_molecules);
  const auto uniform = std::ranges::count_if(rows, [&](const auto& row) { return row.size() == rows[0].size(); });
  fit.uniform = static_cast<double>(uniform) / static_cast<double>(rows.size());
  return fit;
}

}  // namespace

SampleRows sample_rows(std::string_view head, char delimiter, char line_end) {
  SampleRows rows;
  std::vector<std::string> cells;
  std::string cell;
  bool complete = true;
  while (!head.empty() && rows.size() <= kSampleRows) {
    cells.clear();
    char stop = delimiter;
    while (stop == delimiter) {
      stop = take_cell(head, delimiter, line_end, cell, complete);
      cells.push_back(cell);
    }
    const bool cut = stop == '\0' && (!complete || rows.size() > 1);
    const bool blank = cells.size() == 1 && cells[0].empty();
    if (!cut && !blank) rows.push_back(cells);
  }
  return rows;
}

char separator_line(std::string_view head, char line_end) {
  constexpr std::string_view kWord = "sep=";
  std::string_view first = head.substr(0, head.find(line_end));
  if (first.ends_with('\r')) first.remove_suffix(1);
  if (first.size() > 1 && first.starts_with('"') && first.ends_with('"')) first = first.substr(1, first.size() - 2);
  const bool is_separator = first.size() == kWord.size() + 1 && lower(first.substr(0, kWord.size())) == kWord;
  return is_separator && std::string_view(",;\t|").find(first.back()) != std::string_view::npos ? first.back() : '\0';
}

char find_delimiter(std::string_view head, char usual, std::string_view candidates, const std::string& requested,
                    char line_end) {
  const SampleRows rows = sample_rows(head, usual, line_end);
  if (rows.empty()) return usual;
  const auto in_first_line = [&](char c) {
    const auto has_character = [c](const std::string& cell) { return cell.find(c) != std::string::npos; };
    return c != usual && std::ranges::any_of(rows[0], has_character);
  };
  if (std::ranges::none_of(candidates, in_first_line)) return usual;
  char best = usual;
  Fit best_fit = fit_of(rows, requested);
  for (const char candidate : candidates) {
    if (!in_first_line(candidate)) continue;
    const Fit fit = fit_of(sample_rows(head, candidate, line_end), requested);
    if ((fit.named || fit.molecules) && fit > best_fit) best = candidate, best_fit = fit;
  }
  return best;
}

HeaderVerdict find_header(const SampleRows& rows, const std::string& requested) {
  if (rows.empty()) return {};
  const auto& cells = rows[0];
  for (const std::string& cell : cells)
    if (names_smiles(cell) || is_requested(cell, requested)) return {true, true};
  const bool named = std::ranges::any_of(cells, names_molecules);
  if (rows.size() == 1) return {named || cells.empty() || !is_molecule(cells[0]), named};
  const auto kinds = kinds_of(rows, 1, cells.size());
  bool numbers = false, molecules = false;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (kinds[c].is_numbers()) numbers = numbers || is_number_like(cells[c]);
    if (!kinds[c].is_molecules()) continue;
    molecules = molecules || looks_like_smiles(trim(cells[c]));  // includes malformed SMILES
  }
  const bool data = molecules || (numbers && !named && !counts_up(cells));
  return {!data, named && !data};
}

MoleculeColumn find_molecule_column(const std::vector<std::string>& columns, const SampleRows& rows) {
  constexpr std::array<std::string_view, 2> usual{"smiles", "canonical_smiles"};
  for (const std::string_view name : usual)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (lower(trim(columns[c])) == name) return {static_cast<int>(c)};
  const auto named = std::ranges::find_if(columns, names_molecules);
  if (rows.empty() && named == columns.end()) return {0};
  if (rows.empty()) return {static_cast<int>(named - columns.begin()), true};

  // Without names, the first row determines the number of columns; excess cells of longer rows are ignored.
  const std::size_t width = columns.empty() ? rows[0].size() : columns.size();
  const auto kinds = kinds_of(rows, 0, width);
  MoleculeColumn found{-1, true};
  std::vector<int> good;
  for (std::size_t c = 0; c < width; ++c)
    if (kinds[c].is_molecules()) good.push_back(static_cast<int>(c));
  for (const int c : good)
    if (found.column < 0 && !columns.empty() && names_molecules(columns[static_cast<std::size_t>(c)])) found.column = c;
  if (found.column < 0 && !good.empty() && (good.size() == 1 || good[0] == 0)) found.column = good[0];
  // If no cell parses but one name contains "smiles", the rows are invalid, not the table.
  const auto mentions_smiles = [](const std::string& column) {
    return lower(column).find("smiles") != std::string::npos;
  };
  if (good.empty() && std::ranges::count_if(columns, mentions_smiles) == 1)
    found.column = static_cast<int>(std::ranges::find_if(columns, mentions_smiles) - columns.begin());
  for (const int c : good)
    if (c != found.column) found.others.push_back(c);
  return found;
}

}  // namespace molgraph

#include "datasets/table_reader.hpp"

#include <algorithm>
#include <deque>

#include "datasets/sdf_records.hpp"
#include "datasets/table_format.hpp"
#include "datasets/table_lines.hpp"
#include "datasets/text.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxCell = std::size_t{64} << 20;
constexpr std::size_t kLookAheadRecords = 1000;
constexpr std::size_t kLookAheadBytes = std::size_t{64} << 20;

int find_any_case(const std::vector<std::string>& columns, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (lower(trim(columns[c])) == name) return static_cast<int>(c);
  return -1;
}

}  // namespace

struct TableReader::State {
  LineReader lines;
  TableFormat format;
  char delimiter = ',';
  std::vector<std::string> columns;
  int smiles_column = 0, id_column = -1;
  std::int64_t row = 0;             ///< number of the next row
  std::string line;                 ///< reused
  std::vector<std::string> cells;   ///< reused
  std::int64_t blank_lines = 0;     ///< read, but not yet known to stand before another row
  bool held = false;                ///< `cells` hold a row that comes after the blank lines
  std::deque<SdfRecord> records;    ///< read ahead for the columns
  bool has_names = false;           ///< SDF: there is a column for the title

  State(const std::string& path, const TableOptions& options) : lines(path, options.shown_name) {
    format = options.format;
    if (format == TableFormat::automatic && path != "-") format = format_by_suffix(path);
    if (format == TableFormat::automatic) format = format_by_content(lines.peek());
    if (lines.peek().empty()) throw DataError(lines.name() + ": is empty");
    delimiter = format == TableFormat::tsv ? '\t' : ',';
    if (format == TableFormat::sdf) start_sdf();
    else if (format == TableFormat::smi) start_smi(options);
    else start_csv(options);
    choose_columns(options);
  }

  /// Cells of the next record of a CSV or TSV. `blank`: the line had nothing on it at all.
  bool read_csv(bool& blank);
  bool read_smi(bool& blank);
  bool read_cells(bool& blank) { return format == TableFormat::smi ? read_smi(blank) : read_csv(blank); }

  void start_csv(const TableOptions& options);
  void start_smi(const TableOptions& options);
  void start_sdf();
  void choose_columns(const TableOptions& options);

  bool next_line_row(TableRow& out);
  bool next_sdf(TableRow& out);
};

bool TableReader::State::read_csv(bool& blank) {
  if (!lines.next(line, row)) return false;
  std::size_t count = 0, at = 0;
  blank = line.empty() || line == "\r";
  while (true) {
    if (cells.size() <= count) cells.emplace_back();
    std::string& cell = cells[count++];
    cell.clear();
    if (at < line.size() && line[at] == '"') {  // a quotation mark elsewhere than at the start is a character
      ++at;
      while (true) {
        const auto quote = line.find('"', at);
        cell.append(line, at, quote == std::string::npos ? quote : quote - at);
        if (cell.size() > kMaxCell) throw DataError(lines.name(), row + 1, "a cell longer than 64 MiB", cell);
        if (quote == std::string::npos) {  // the cell goes on in the next line
          cell += lines.line_end();
          if (!lines.next(line, row))
            throw DataError(lines.name(), row + 1, "the quotation mark that opens this cell is never closed", cell);
          at = 0;
        } else if (quote + 1 < line.size() && line[quote + 1] == '"') {
          cell += '"';
          at = quote + 2;
        } else {
          at = quote + 1;
          break;
        }
      }
    }
    const auto end = line.find(delimiter, at);
    cell.append(line, at, end == std::string::npos ? end : end - at);
    if (end == std::string::npos && at < line.size()) strip_carriage_return(cell);
    if (cell.size() > kMaxCell) throw DataError(lines.name(), row + 1, "a cell longer than 64 MiB", cell);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  cells.resize(count);
  return true;
}

bool TableReader::State::read_smi(bool& blank) {
  if (!lines.next(line, row)) return false;
  strip_carriage_return(line);
  if (line.size() > kMaxCell) throw DataError(lines.name(), row + 1, "a cell longer than 64 MiB", line);
  const auto start = std::min(line.find_first_not_of(' '), line.size());  // a tab first: no SMILES, but a name
  const auto end = std::min(line.find_first_of(" \t", start), line.size());
  const auto name = std::min(line.find_first_not_of(" \t", end), line.size());
  cells.assign({line.substr(start, end - start), line.substr(name)});
  blank = end == start && name == line.size();
  return true;
}

void TableReader::State::start_csv(const TableOptions& options) {
  bool blank = true;
  while (blank)
    if (!read_csv(blank)) throw DataError(lines.name() + ": is empty");
  if (cells.size() == 1 && !parses_as_smiles(cells[0])) {
    const char* wrong = cells[0].find('\t') != std::string::npos  ? "tabs (use --format tsv)"
                        : cells[0].find(';') != std::string::npos ? "semicolons (save it with commas or tabs)"
                        : delimiter == '\t' && cells[0].find(',') != std::string::npos ? "commas (use --format csv)"
                                                                                       : nullptr;
    if (wrong)
      throw DataError(lines.name() + ": its cells seem to be separated by " + wrong + ": " + cells[0].substr(0, 80));
  }
  if (!options.no_header && first_line_is_header(cells, options.smiles_column)) {
    columns = cells;
  } else {
    columns = {"smiles"};
    for (std::size_t c = 2; c <= cells.size(); ++c) columns.push_back("column_" + std::to_string(c));
    held = true;
  }
}

void TableReader::State::start_smi(const TableOptions& options) {
  columns = {"smiles", "name"};
  bool blank = true;
  while (blank)
    if (!read_smi(blank)) throw DataError(lines.name() + ": is empty");
  if (options.no_header || !names_smiles(cells[0])) {
    held = true;
  } else {
    columns[0] = cells[0];
    if (!cells[1].empty()) columns[1] = cells[1];
  }
}

void TableReader::State::start_sdf() {
  std::vector<std::string> properties;
  std::size_t bytes = 0;
  SdfRecord record;
  while (records.size() < kLookAheadRecords && bytes < kLookAheadBytes &&
         read_sdf_record(lines, static_cast<std::int64_t>(records.size()), record)) {
    has_names = has_names || !record.title.empty();
    bytes += record.bytes;
    for (const auto& [name, value] : record.properties)
      if (std::ranges::find(properties, name) == properties.end()) properties.push_back(name);
    records.push_back(std::move(record));
  }
  if (records.empty()) throw DataError(lines.name() + ": has no record");
  columns = {find_any_case(properties, {"smiles"}) < 0 ? "smiles" : "molgraph_smiles"};
  if (has_names) columns.push_back(find_any_case(properties, {"name"}) < 0 ? "name" : "molgraph_name");
  columns.insert(columns.end(), properties.begin(), properties.end());
}

void TableReader::State::choose_columns(const TableOptions& options) {
  const auto named = [&](const std::string& name, const char* what) {
    const int column = find_column(columns, name, lines.name());
    if (column < 0)
      throw DataError(lines.name() + ": no column '" + name + "' (" + what + "); the columns are " + list_of(columns));
    return column;
  };
  if (!options.smiles_column.empty()) {
    smiles_column = named(options.smiles_column, "--smiles-column");
  } else if (format != TableFormat::sdf) {
    smiles_column = std::max(0, find_any_case(columns, {"smiles", "canonical_smiles"}));
  }
  if (!options.id_column.empty()) {
    id_column = named(options.id_column, "--id-column");
  } else {
    id_column = find_any_case(columns, {"id", "idx", "name", "molgraph_name"});
    if (id_column == smiles_column) id_column = -1;
  }
}

bool TableReader::State::next_line_row(TableRow& out) {
  out.mol_block.clear();
  out.problem.clear();
  bool blank = false;
  while (!held) {
    if (!read_cells(blank)) return false;  // blank lines at the end are dropped with it
    if (blank) ++blank_lines;
    else held = true;
  }
  out.row = row++;
  if (blank_lines > 0) {
    --blank_lines;
    out.cells.assign(columns.size(), "");
    return true;
  }
  held = false;
  const auto surplus = std::ranges::find_if(cells.begin() + std::min(cells.size(), columns.size()), cells.end(),
                                            [](const std::string& cell) { return !cell.empty(); });
  if (surplus != cells.end())
    out.problem = std::to_string(cells.size()) + " cells where the table has " + std::to_string(columns.size()) +
                  " columns";
  cells.resize(columns.size());
  out.cells.swap(cells);
  return true;
}

bool TableReader::State::next_sdf(TableRow& out) {
  SdfRecord record;
  if (!records.empty()) {
    record = std::move(records.front());
    records.pop_front();
  } else if (!read_sdf_record(lines, row, record)) {
    return false;
  }
  out.row = row++;
  out.problem.clear();
  out.cells.assign(columns.size(), "");
  const std::size_t first = has_names ? 2 : 1;
  if (has_names) out.cells[1] = record.title;
  for (auto& [name, value] : record.properties) {
    const auto column = std::find(columns.begin() + static_cast<std::ptrdiff_t>(first), columns.end(), name);
    if (column == columns.end())
      out.problem = "property <" + name + "> does not occur in the first 1,000 records, so it has no column";
    else
      out.cells[static_cast<std::size_t>(column - columns.begin())] = std::move(value);
  }
  out.mol_block = smiles_column == 0 ? std::move(record.mol_block) : std::string();
  return true;
}

TableReader::TableReader(const std::string& path, const TableOptions& options)
    : state_(std::make_unique<State>(path, options)) {}
TableReader::~TableReader() = default;
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;

const std::vector<std::string>& TableReader::columns() const { return state_->columns; }
int TableReader::smiles_column() const { return state_->smiles_column; }
int TableReader::id_column() const { return state_->id_column; }
TableFormat TableReader::format() const { return state_->format; }

TablePosition TableReader::position() const {
  const State& state = *state_;
  const bool read_ahead = state.held || !state.records.empty();   // blank lines wait only before a held row
  return {state.row, read_ahead ? -1 : static_cast<std::int64_t>(state.lines.offset())};
}

void TableReader::seek(const TablePosition& position) {
  State& state = *state_;
  if (position.offset >= 0) {
    state.lines.seek(static_cast<std::uint64_t>(position.offset));
    state.row = position.row;
    state.held = false;
    state.blank_lines = 0;
    state.records.clear();
    return;
  }
  TableRow passed;
  while (state.row < position.row) {
    if (!next(passed))
      throw FileError(state.lines.name() + ": has only " + std::to_string(state.row) + " rows, not " +
                      std::to_string(position.row));
  }
}

bool TableReader::would_wait() const {
  return !state_->held && state_->records.empty() && state_->lines.would_wait();
}

bool TableReader::next(TableRow& row) {
  return state_->format == TableFormat::sdf ? state_->next_sdf(row) : state_->next_line_row(row);
}

int find_column(const std::vector<std::string>& columns, const std::string& name, const std::string& file) {
  const auto find = [&](const auto& same) {
    int found = -1;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!same(trim(columns[c]))) continue;
      if (found >= 0) throw DataError(file + ": two columns are named '" + name + "'");
      found = static_cast<int>(c);
    }
    return found;
  };
  const std::string_view wanted = trim(name);
  const int exact = find([&](std::string_view column) { return column == wanted; });
  if (exact >= 0) return exact;
  return find([&](std::string_view column) { return lower(column) == lower(wanted); });
}

std::string quote_cell(const std::string& cell, char delimiter) {
  if (cell.find_first_of(std::string{delimiter, '"', '\n', '\r'}) == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace molgraph

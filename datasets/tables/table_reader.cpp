#include "datasets/tables/table_reader.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/system/text.hpp"
#include "datasets/tables/encoding.hpp"
#include "datasets/tables/sdf_table.hpp"
#include "datasets/tables/table_form.hpp"
#include "datasets/tables/table_format.hpp"
#include "datasets/tables/table_lines.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kShownName = 60;

/// Names in a message, shortened, because the file may not be a table.
std::string shown(std::vector<std::string> names) {
  for (std::string& name : names) name = shown_head(name, kShownName);
  return list_of(names);
}

}  // namespace

struct TableReader::State {
  LineReader lines;
  TableFormat format;
  char delimiter = ',';
  std::vector<std::string> columns;
  int smiles_column = 0, id_column = -1;
  std::int64_t row = 0;  ///< number of the next row
  ReadingHooks hooks;
  std::string line;                ///< reused
  std::vector<std::string> cells;  ///< reused; at most as many as the table has columns
  std::size_t cell_count = 0;      ///< number of cells of the row
  bool surplus = false;            ///< a cell that is not in `cells` is not empty
  std::string too_long;            ///< why the row has no cells, if its line exceeds the limit
  std::int64_t blank_lines = 0;    ///< blank lines read; it is not yet known whether another row follows
  bool row_pending = false;        ///< `cells` contain the row after the blank lines
  bool warned = false;             ///< about a cell that may contain rows
  SdfTable sdf;                    ///< of an SDF

  State(const std::string& path, const TableOptions& options)
      : lines(path, options.shown_name, options.hooks), hooks(options.hooks) {
    if (options.header && options.no_header) throw UsageError("--header and --no-header contradict each other");
    format = options.format;
    if (format == TableFormat::automatic && path != "-") format = format_by_suffix(path);
    if (format == TableFormat::automatic) format = format_by_content(lines.peek());
    if (lines.peek().empty()) throw DataError(lines.name() + ": is empty");
    if (format == TableFormat::sdf && (options.header || options.no_header))
      throw UsageError(lines.name() + ": --header and --no-header would do nothing: an SDF has no header line");
    if (format == TableFormat::sdf) start_sdf(path, options);
    else if (format == TableFormat::smi) start_smi(options);
    else start_csv(options);
    choose_columns(options);
  }

  /// Reads the cells of the next record of a CSV or TSV. `blank`: the line was empty.
  bool read_csv(bool& blank);
  bool read_smi(bool& blank);
  bool read_cells(bool& blank) { return format == TableFormat::smi ? read_smi(blank) : read_csv(blank); }

  void log(const std::string& text) const {
    if (hooks.log) hooks.log(lines.name() + ": " + text, false);
  }
  bool read_line();
  void warn_of_row_in_cell(std::size_t end);
  void choose_delimiter(const TableOptions& options, std::string_view head);
  void start_csv(const TableOptions& options);
  void find_molecules(const std::vector<std::string>& names, const std::vector<std::vector<std::string>>& rows);
  void start_smi(const TableOptions& options);
  void start_sdf(const std::string& path, const TableOptions& options);
  void choose_columns(const TableOptions& options);

  bool next_line_row(TableRow& out);
  bool next_sdf(TableRow& out);
};

/// Reads the first line of a row. A line above the limit is skipped, and the row has no cells.
bool TableReader::State::read_line() {
  LineReader::Excess excess;
  too_long.clear();
  if (!lines.next(line, row, kMaxRowBytes, &excess)) return false;
  if (excess.bytes == 0) return true;
  too_long = "a line of " + std::to_string(line.size() + excess.bytes) + " bytes, but the limit is " +
             std::to_string(kMaxRowBytes >> 20u) + " MiB";
  const bool header = columns.empty();
  const auto quotes = excess.quotes + static_cast<std::uint64_t>(std::ranges::count(line, '"'));
  if (header || (format != TableFormat::smi && quotes % 2 > 0))  // its last cell would continue in the next line
    throw DataError(lines.name(), header ? 0 : row + 1, header ? "the first line is " + too_long : too_long,
                    line.substr(0, kShownName));
  line.clear();
  return true;
}

/// Warns once if the first `end` bytes of `line`, which a cell that began in an earlier line contains, look like a row.
void TableReader::State::warn_of_row_in_cell(std::size_t end) {
  if (warned || columns.size() < 2 || !hooks.log) return;
  const auto delimiters = std::ranges::count(std::string_view(line).substr(0, end), delimiter);
  if (static_cast<std::size_t>(delimiters) + 1 < columns.size()) return;
  warned = true;
  hooks.log(lines.name() + ", row " + std::to_string(row + 1) +
                ": a cell in quotation marks contains a line with as many delimiters as a row: '" +
                shown_head(line, kShownName) + "'; perhaps a stray quotation mark joins rows",
            true);
}

bool TableReader::State::read_csv(bool& blank) {
  if (!read_line()) return false;
  const std::size_t kept = columns.empty() ? kMaxColumns : columns.size();
  std::size_t at = 0, bytes = line.size();
  std::string excess_cell;  // excess cells are counted, not kept
  cell_count = 0;
  surplus = false;
  blank = (line.empty() && too_long.empty()) || line == "\r";
  while (true) {
    if (cell_count < kept && cells.size() <= cell_count) cells.emplace_back();
    std::string& cell = cell_count < kept ? cells[cell_count] : excess_cell;
    ++cell_count;
    cell.clear();
    if (at < line.size() && line[at] == '"') {  // a quotation mark elsewhere is an ordinary character
      bool several_lines = false;
      ++at;
      while (true) {
        const auto quote = line.find('"', at);
        cell.append(line, at, quote == std::string::npos ? quote : quote - at);
        if (quote == std::string::npos) {  // the cell continues in the next line
          if (several_lines) warn_of_row_in_cell(line.size());
          cell += lines.line_end();
          several_lines = true;
          if (!lines.next(line, row, kMaxRowBytes))
            throw DataError(lines.name(), row + 1, "the quotation mark that opens this cell is never closed", cell);
          bytes += line.size() + 1;
          if (bytes > kMaxRowBytes)
            throw DataError(lines.name(), row + 1,
                            "a row exceeds the limit of " + std::to_string(kMaxRowBytes >> 20u) +
                                " MiB; perhaps the quotation mark that opens this cell is never "
                                "closed",
                            cell);
          at = 0;
        } else if (quote + 1 < line.size() && line[quote + 1] == '"') {
          cell += '"';
          at = quote + 2;
        } else {
          if (several_lines) warn_of_row_in_cell(quote);
          at = quote + 1;
          break;
        }
      }
      const auto text = several_lines ? line.find_first_not_of(delimiter == '\t' ? " " : " \t", at) : std::string::npos;
      if (text != std::string::npos && line[text] != delimiter && line[text] != '\r')
        throw DataError(lines.name(), row + 1,
                        "the quotation mark that opens this cell is not closed before the next one, in a later line",
                        cell);
    }
    const auto end = line.find(delimiter, at);
    cell.append(line, at, end == std::string::npos ? end : end - at);
    if (end == std::string::npos && at < line.size()) strip_carriage_return(cell);
    surplus = surplus || (cell_count > kept && !cell.empty());
    if (end == std::string::npos) break;
    at = end + 1;
  }
  cells.resize(std::min(cell_count, kept));
  return true;
}

bool TableReader::State::read_smi(bool& blank) {
  if (!read_line()) return false;
  strip_carriage_return(line);
  const auto start = std::min(line.find_first_not_of(' '), line.size());  // a leading tab: no SMILES, only a name
  const auto end = std::min(line.find_first_of(" \t", start), line.size());
  const auto name = std::min(line.find_first_not_of(" \t", end), line.size());
  cells.assign({line.substr(start, end - start), line.substr(name)});
  cell_count = 2;
  surplus = false;
  blank = end == start && name == line.size() && too_long.empty();
  return true;
}

void TableReader::State::choose_delimiter(const TableOptions& options, std::string_view head) {
  if (const char declared = separator_line(head, lines.line_end()); declared != '\0') {
    delimiter = declared;
    if (declared == '\t') format = TableFormat::tsv;
    lines.next(line, row);
    return;
  }
  delimiter = format == TableFormat::tsv ? '\t' : ',';
  if (options.format == TableFormat::tsv || !options.molecules) return;  // --format tsv means tabs
  const char found = find_delimiter(head, delimiter, ",\t;", options.smiles_column, lines.line_end());
  if (found == delimiter) return;
  delimiter = found;
  if (found != ';') format = found == '\t' ? TableFormat::tsv : TableFormat::csv;
  log(std::string("the cells are separated by ") + (found == ';' ? "semicolons" : found == '\t' ? "tabs" : "commas"));
}

void TableReader::State::start_csv(const TableOptions& options) {
  choose_delimiter(options, lines.peek());
  SampleRows sample;
  if (options.molecules) sample = sample_rows(lines.peek(), delimiter, lines.line_end());
  if (sample.size() == 1)  // a wide table
    sample = sample_rows(lines.peek(LineReader::kMaxPeek), delimiter, lines.line_end());
  HeaderVerdict verdict{!options.no_header, true};
  if (options.molecules && !options.header && !options.no_header) verdict = find_header(sample, options.smiles_column);

  bool blank = true;
  while (blank)
    if (!read_csv(blank)) throw DataError(lines.name() + ": is empty");
  if (cell_count > kMaxColumns)
    throw DataError(lines.name() + ": has " + std::to_string(cell_count) + " columns, but the limit is " +
                    std::to_string(kMaxColumns) + "; is the table transposed?");
  if (verdict.header) {
    columns = cells;
    if (!verdict.sure) log("the first line is used as the header; if it is data, use --no-header");
    if (!sample.empty()) sample.erase(sample.begin());
    if (options.molecules && options.smiles_column.empty()) find_molecules(columns, sample);
    return;
  }
  row_pending = true;
  if (!verdict.sure)
    log("the first line is used as data because it resembles the lines after it; if it is a header, use --header");
  // Without a header, the SMILES are in the first column unless the cells show otherwise.
  smiles_column = 0;
  if (options.smiles_column.empty()) find_molecules({}, sample);
  for (std::size_t c = 0; c < cells.size(); ++c)
    columns.push_back(static_cast<int>(c) == smiles_column ? "smiles" : "column_" + std::to_string(c + 1));
}

/// `names`: empty if there are none; `rows`: only data, as far as buffered.
void TableReader::State::find_molecules(const std::vector<std::string>& names, const SampleRows& rows) {
  const MoleculeColumn found = find_molecule_column(names, rows);
  const auto name = [&](int c) {
    return names.empty() ? "column " + std::to_string(c + 1) : "'" + names[static_cast<std::size_t>(c)] + "'";
  };
  if (found.column >= 0) {
    smiles_column = found.column;
    std::string others;
    for (const int c : found.others) others += (others.empty() ? "" : ", ") + name(c);
    if (found.by_cells && (!names.empty() || found.column > 0))
      log("the molecules are read from " + name(found.column) +
          (others.empty() ? "" : "; other candidates: " + others) + " (use -s to choose another column)");
    return;
  }
  if (names.empty()) return;
  std::vector<std::string> candidates;
  for (const int c : found.others) candidates.push_back(name(c));
  throw DataError(lines.name() + ": which column contains the SMILES? " +
                  (candidates.empty()
                       ? "No column has a usual name and cells that parse"
                       : "No column has a usual name, and the cells of several parse: " + list_of(candidates)) +
                  "; specify it with -s; the columns are " + shown(names));
}

void TableReader::State::start_smi(const TableOptions& options) {
  bool blank = true;
  while (blank)
    if (!read_smi(blank)) throw DataError(lines.name() + ": is empty");
  columns = {"smiles", "name"};
  if (options.no_header || !(options.header || names_molecules(cells[0]))) {
    row_pending = true;
  } else {
    columns[0] = cells[0];
    if (!cells[1].empty()) columns[1] = cells[1];
  }
}

void TableReader::State::start_sdf(const std::string& path, const TableOptions& options) {
  std::optional<LineReader> whole;
  if (options.all_properties) whole.emplace(path, options.shown_name, options.hooks);
  columns = sdf.find_columns(lines, whole ? &*whole : nullptr);
}

void TableReader::State::choose_columns(const TableOptions& options) {
  const auto named = [&](const std::string& name, const char* what) {
    const int column = find_column(columns, name, lines.name());
    if (column < 0)
      throw DataError(lines.name() + ": no column '" + name + "' (" + what + "); the columns are " + shown(columns));
    return column;
  };
  if (!options.smiles_column.empty()) {
    smiles_column = named(options.smiles_column, "--smiles-column");
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
  while (!row_pending) {
    if (!read_cells(blank)) return false;  // blank lines at the end are dropped
    if (blank) ++blank_lines;
    else row_pending = true;
  }
  out.row = row++;
  if (blank_lines > 0) {
    --blank_lines;
    out.cells.assign(columns.size(), "");
    return true;
  }
  row_pending = false;
  out.problem = too_long;
  if (surplus)
    out.problem = std::to_string(cell_count) + " cells, but the table has " + std::to_string(columns.size()) +
                  " columns" + (delimiter == ',' ? "; put cells that contain commas in quotation marks" : "");
  cells.resize(columns.size());
  out.cells.swap(cells);
  return true;
}

bool TableReader::State::next_sdf(TableRow& out) {
  if (!sdf.next(lines, row, out, hooks)) return false;
  out.row = row++;
  if (smiles_column != 0) out.mol_block.clear();
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
char TableReader::delimiter() const { return state_->delimiter; }

TablePosition TableReader::position() const {
  const State& state = *state_;
  const bool read_ahead =
      state.row_pending || state.sdf.has_read_ahead();  // pending blank lines occur only before a pending row
  return {state.row, read_ahead ? -1 : static_cast<std::int64_t>(state.lines.offset())};
}

void TableReader::seek(const TablePosition& position) {
  State& state = *state_;
  if (position.offset >= 0) {
    state.lines.seek(static_cast<std::uint64_t>(position.offset));
    state.row = position.row;
    state.row_pending = false;
    state.blank_lines = 0;
    state.sdf.forget_read_ahead();
    return;
  }
  TableRow skipped;
  while (state.row < position.row) {
    if (!next(skipped))
      throw FileError(state.lines.name() + ": has only " + std::to_string(state.row) + " rows, not " +
                      std::to_string(position.row));
  }
}

bool TableReader::would_wait() const {
  return !state_->row_pending && !state_->sdf.has_read_ahead() && state_->lines.would_wait();
}

bool TableReader::next(TableRow& row) {
  return state_->format == TableFormat::sdf ? state_->next_sdf(row) : state_->next_line_row(row);
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

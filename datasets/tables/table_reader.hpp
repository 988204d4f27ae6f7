// Rows of CSV, TSV, SMI and SDF files, plain, gzipped or from stdin, one at a time in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/tables/reading_hooks.hpp"

namespace molgraph {

enum class TableFormat : std::uint8_t { automatic, csv, tsv, smi, sdf };
TableFormat table_format_from_string(const std::string& text);  ///< throws UsageError

struct TableOptions {
  TableFormat format = TableFormat::automatic;  ///< automatic: by suffix (".gz" ignored); stdin: from the first lines
  bool no_header = false;       ///< the first line is data; columns are named smiles, column_2, ... (see TableReader)
  bool header = false;          ///< the first line contains the names; neither option: determined from the first lines
  std::string smiles_column;    ///< "" = by the rules of `smiles_column()`
  std::string id_column;        ///< "" = id, idx or name (any case), else the row number
  std::string shown_name;       ///< the input's name in messages; "" = the path, or "standard input"
  bool all_properties = false;  ///< SDF: reads the file once more, so that all properties have columns; not for stdin
  bool molecules = true;        ///< false: any table; no column of molecules is searched for, smiles_column() is 0
  ReadingHooks hooks{};
};

/// One data row. SDF: `cells` are [smiles (empty until requested), properties ...] and `mol_block` is set.
struct TableRow {
  std::int64_t row = 0;  ///< 0-based data row
  std::vector<std::string>
      cells;              ///< as many as columns(); short rows are filled with empty cells, long rows have a `problem`
  std::string mol_block;  ///< SDF only
  std::string problem;    ///< not empty: the row is malformed (too many cells ...); cells contain what could be read
};

/// Position at which reading of a table continues.
struct TablePosition {
  std::int64_t row = 0;      ///< 0-based number of the next row
  std::int64_t offset = -1;  ///< byte of the decompressed text where the row begins; -1 = unknown
};

/// Input limits. Exceeding one throws a DataError that names it. Memory is limited to a few rows.
inline constexpr std::size_t kMaxColumns = 100'000;  ///< also for the properties of an SD file
inline constexpr std::size_t kMaxRowBytes = std::size_t{16}
                                            << 20;  ///< for a line, a row with several lines, an SDF record

/// Reads one table. Accepts RFC 4180 quotes, embedded newlines, CRLF, a UTF-8 BOM, a missing last newline, blank
/// trailing lines, UTF-8, and Windows-1252 with a warning. A .csv file may be separated by tabs or semicolons instead.
/// SMI: SMILES, blank or tab, name; the columns are smiles and name. SDF: the columns are smiles, name (if any of the
/// first 1,000 records has a title) and the properties of the first 1,000 records; other properties in later records
/// are left out with a warning (`all_properties` reads them). If a property is called smiles or name, the generated
/// column is called molgraph_smiles or molgraph_name. If an SDF property is chosen as the SMILES column, its text is
/// the molecule and `mol_block` is empty. The lines after the first decide whether the first line of a CSV is a header
/// (find_header() in table_form.hpp). The decision is reported unless a column has a usual name for SMILES. Without a
/// header, the column of molecules is called smiles and the others column_1, column_2 and so on. Empty lines at the end
/// are ignored; an empty line before other rows is a row of empty cells, so that row numbers do not change. An unclosed
/// quotation mark throws a DataError that names the row where the cell begins. So does a cell with several lines and
/// text after its closing quotation mark, because two stray quotation marks have this form.
class TableReader {
 public:
  /// `path` "-" = stdin. Throws FileError (missing, unreadable, damaged gzip, not text), DataError (no such column,
  /// empty file, no column of molecules) and UsageError (both `header` and `no_header`, or one of them for an SDF).
  TableReader(const std::string& path, const TableOptions& options);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  const std::vector<std::string>& columns() const;
  int smiles_column() const;   ///< index into columns(), found by find_molecule_column() in table_form.hpp
  int id_column() const;       ///< index into columns(), -1 = row number
  TableFormat format() const;  ///< the one in use
  char delimiter() const;      ///< between the cells of a CSV or TSV
  /// Returns false at the end.
  bool next(TableRow& row);
  TablePosition position() const;
  /// Continues at a later position of the same table (in a plain file, at any position). If the offset is unknown,
  /// reads the rows before it. Throws FileError if the table is shorter.
  void seek(const TablePosition& position);
  /// True if next() would block until the other end of the pipe writes.
  bool would_wait() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Finds columns by name; many look-ups take linear time.
class ColumnNames {
 public:
  /// `file` is the name in messages.
  ColumnNames(const std::vector<std::string>& columns, std::string file);
  /// Like find_column().
  int find(const std::string& name) const;

 private:
  struct Place {
    int column = -1, count = 0;
  };
  std::string file_;
  std::unordered_map<std::string, Place> exact_, any_case_;
};

/// Returns the index of the column with this name, or -1. Ignores surrounding blanks; an exact match precedes a match
/// in any case. Throws DataError if the name occurs twice.
int find_column(const std::vector<std::string>& columns, const std::string& name, const std::string& file);

/// Returns a CSV or TSV cell, quoted if necessary.
std::string quote_cell(const std::string& cell, char delimiter);

}  // namespace molgraph

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
  TableFormat format =
      TableFormat::automatic;  ///< automatic: by suffix (".gz" ignored); stdin: guessed from the first lines
  bool no_header = false;      ///< the first line is data; columns are named smiles, column_2, ... (see TableReader)
  bool header = false;         ///< the first line holds the names; neither: decided by the first lines
  std::string smiles_column;   ///< "" = by the rules of `smiles_column()`
  std::string id_column;       ///< "" = id, idx or name (any case), else the row number
  std::string shown_name;      ///< the input's name in messages; "" = the path, or "standard input"
  bool molecules = true;       ///< false: a table of anything; nothing is looked for, smiles_column() is 0
  ReadingHooks hooks{};
};

/// One data row. SDF: `cells` are [smiles (empty until asked for), properties ...] and `mol_block` is set.
struct TableRow {
  std::int64_t row = 0;  ///< 0-based data row
  std::vector<std::string>
      cells;              ///< as many as columns(); a short row is filled with empty cells, a long one is an error
  std::string mol_block;  ///< SDF only
  std::string problem;    ///< not empty: the row is malformed (too many cells ...); cells hold what could be read
};

/// Where a table is to be read on.
struct TablePosition {
  std::int64_t row = 0;      ///< 0-based number of the next row
  std::int64_t offset = -1;  ///< byte of the unpacked text where it begins; -1 = not known
};

/// Limits on what is read: above them stands a DataError that names them. Memory is bounded by a few rows.
inline constexpr std::size_t kMostColumns = 100'000;  ///< also the properties of an SD file
inline constexpr std::size_t kMostRowBytes = std::size_t{16}
                                             << 20;  ///< of a line, a row of several lines, an SDF record

/// Reads one table. RFC 4180 quotes, embedded newlines, CRLF, UTF-8 BOM, a missing last newline, blank trailing lines;
/// UTF-8, or Windows-1252 with a word about it. A table called .csv may be separated by tabs or semicolons instead.
/// SMI: SMILES, blank or tab, name; columns smiles and name. SDF columns: smiles, name (if any title line is not empty
/// within the first 1,000 records), then the properties seen in the first 1,000 records; a later unknown property is a
/// `problem`. A property that is called smiles or name makes the generated column molgraph_smiles or molgraph_name.
/// With an SDF's property named as the SMILES column, its text is the molecule and `mol_block` stays empty. Whether the
/// first line of a CSV is a header is decided by the lines behind it (find_header() in table_form.hpp) and said unless
/// a column is named as SMILES are; without one, columns are column_1, column_2, ... but for the one called smiles.
/// Empty lines at the end are no rows; an empty line before other rows is a row of empty cells, so that no row shifts.
/// A quotation mark that is never closed is a DataError naming the row where the cell begins.
class TableReader {
 public:
  /// `path` "-" = stdin. Throws FileError (missing, unreadable, damaged gzip, no text), DataError (no such column,
  /// empty file, no column of molecules) and UsageError (both `header` and `no_header`, or one of them for an SDF).
  TableReader(const std::string& path, const TableOptions& options);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  const std::vector<std::string>& columns() const;
  int smiles_column() const;   ///< index into columns(), as find_molecule_column() in table_form.hpp says
  int id_column() const;       ///< index into columns(), -1 = row number
  TableFormat format() const;  ///< the one in use
  /// False at the end.
  bool next(TableRow& row);
  TablePosition position() const;
  /// Goes on at a later position of the same table (of a plain file: at any), by reading the rows before it where its
  /// offset is not known. Throws FileError if the table is shorter.
  void seek(const TablePosition& position);
  /// True if next() would wait for whoever writes into the pipe.
  bool would_wait() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Finds columns by name, many of them in linear time.
class ColumnNames {
 public:
  /// `file` for messages.
  ColumnNames(const std::vector<std::string>& columns, std::string file);
  /// As find_column().
  int find(const std::string& name) const;

 private:
  struct Place {
    int column = -1, count = 0;
  };
  std::string file_;
  std::unordered_map<std::string, Place> exact_, any_case_;
};

/// Index of the column with this name (blanks around it ignored; exact case first, then any case). -1 = none.
/// Throws DataError if the name occurs twice.
int find_column(const std::vector<std::string>& columns, const std::string& name, const std::string& file);

/// A CSV or TSV cell, quoted when it has to be.
std::string quote_cell(const std::string& cell, char delimiter);

}  // namespace molgraph

// Rows of CSV, TSV, SMI and SDF files, plain, gzipped or from stdin, one at a time in constant memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace molgraph {

enum class TableFormat : std::uint8_t { automatic, csv, tsv, smi, sdf };
TableFormat table_format_from_string(const std::string& text);  ///< throws UsageError

struct TableOptions {
  TableFormat format = TableFormat::automatic;  ///< automatic: by suffix (".gz" ignored); stdin: guessed from the first lines
  bool no_header = false;        ///< the first line is data; columns are named smiles, column_2, ...
  std::string smiles_column;     ///< "" = by the rules of `smiles_column()`
  std::string id_column;         ///< "" = id, idx or name (any case), else the row number
  std::string shown_name;        ///< the input's name in messages; "" = the path, or "standard input"
};

/// One data row. SDF: `cells` are [smiles (empty until asked for), properties ...] and `mol_block` is set.
struct TableRow {
  std::int64_t row = 0;             ///< 0-based data row
  std::vector<std::string> cells;   ///< as many as columns(); a short row is filled with empty cells, a long one is an error
  std::string mol_block;            ///< SDF only
  std::string problem;              ///< not empty: the row is malformed (too many cells ...); cells hold what could be read
};

/// Where a table is to be read on.
struct TablePosition {
  std::int64_t row = 0;       ///< 0-based number of the next row
  std::int64_t offset = -1;   ///< byte of the unpacked text where it begins; -1 = not known
};

/// Reads one table. RFC 4180 quotes, embedded newlines, CRLF, UTF-8 BOM, a missing last newline, blank trailing lines.
/// SMI: SMILES, blank or tab, name; columns smiles and name. SDF columns: smiles, name (if any title line is not empty
/// within the first 1,000 records), then the properties seen in the first 1,000 records; a later unknown property is a `problem`.
/// A property that is called smiles or name makes the generated column molgraph_smiles or molgraph_name. With an SDF's
/// property named as the SMILES column, its text is the molecule and `mol_block` stays empty.
/// Whether a header-less CSV is one is decided as programs.md says (first cell parses as SMILES, no column named smiles).
/// Empty lines at the end are no rows; an empty line before other rows is a row of empty cells, so that no row shifts.
/// A cell above 64 MiB, and a quotation mark that is never closed, are a DataError naming the row where the cell begins.
class TableReader {
 public:
  /// `path` "-" = stdin. Throws FileError (missing, unreadable, damaged gzip) and DataError (no such column, empty file).
  TableReader(const std::string& path, const TableOptions& options);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  const std::vector<std::string>& columns() const;
  int smiles_column() const;       ///< index into columns(): the one named smiles (any case), canonical_smiles, else 0
  int id_column() const;           ///< index into columns(), -1 = row number
  TableFormat format() const;      ///< the one in use
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

/// Index of the column with this name (blanks around it ignored; exact case first, then any case). -1 = none.
/// Throws DataError if the name occurs twice.
int find_column(const std::vector<std::string>& columns, const std::string& name, const std::string& file);

/// A CSV or TSV cell, quoted when it has to be.
std::string quote_cell(const std::string& cell, char delimiter);

}  // namespace molgraph

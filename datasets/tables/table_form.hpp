// The form of a CSV or TSV, determined from its first lines: the delimiter, whether the first line is a header, and
// which column contains the molecules.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// Index of the first of `names` (lower case) among the columns, ignoring case and surrounding blanks; -1 = none.
int find_any_case(const std::vector<std::string>& columns, std::initializer_list<std::string_view> names);

/// Cells of the first lines, as far as they are buffered. Private to this folder.
using SampleRows = std::vector<std::vector<std::string>>;

/// Returns the first rows of the text, without quotation marks and blank lines. Leaves out a last row that may be
/// incomplete.
SampleRows sample_rows(std::string_view head, char delimiter, char line_end = '\n');

/// Returns the delimiter that the first line declares, as in Excel's "sep=;": comma, semicolon, tab or bar. Returns
/// '\0' if the line is not such a declaration.
char separator_line(std::string_view head, char line_end = '\n');

/// Returns the delimiter (comma, tab or semicolon) that fits the text best. The criteria, in this order, are: a column
/// with a usual name for SMILES, a column of molecules, and the share of rows that have as many cells as the first.
/// Returns `usual` in case of a tie or if the first line contains no other candidate. `requested`: the name of the
/// SMILES column, if the user specified one.
char find_delimiter(std::string_view head, char usual, std::string_view candidates, const std::string& requested,
                    char line_end = '\n');

/// Whether the first line is a header. `sure`: one of its cells names the SMILES column, so no message is needed.
struct HeaderVerdict {
  bool header = true;
  bool sure = false;
};
/// Compares the first line with the others. It is data if one of its cells is a molecule, or resembles a malformed one,
/// in a column of molecules, or a number in a column of numbers. `sure` if one of its names shows that it is a header.
HeaderVerdict find_header(const SampleRows& rows, const std::string& requested);

/// The column that contains the molecules.
struct MoleculeColumn {
  int column = -1;            ///< -1 = no column has a usual name or cells that parse
  bool by_cells = false;      ///< the name was not smiles or canonical_smiles
  std::vector<int> others{};  ///< further columns whose cells parse
};
/// Finds the column of molecules. `columns`: the names, empty if there are none; `rows`: only data. The order of
/// preference is: the name smiles or canonical_smiles; another common name (structure, mol, ...smiles...) if the cells
/// parse; the first column if its cells parse; the only column whose cells parse. Without rows: a common name,
/// otherwise the first column.
MoleculeColumn find_molecule_column(const std::vector<std::string>& columns, const SampleRows& rows);

}  // namespace molgraph

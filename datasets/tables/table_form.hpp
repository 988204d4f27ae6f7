// The form of a CSV or TSV, found from its first lines: what separates its cells, whether the first line is a header,
// and which column holds the molecules.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// Cells of the first lines, as far as they can be seen without reading on. Private to this room.
using SampleRows = std::vector<std::vector<std::string>>;

/// The first rows of the text, quotation marks taken away and blank lines left out; a last row that the text may cut is
/// no part of it.
SampleRows sample_rows(std::string_view head, char delimiter, char line_end = '\n');

/// What separates the cells where the first line says so, as Excel's "sep=;": comma, semicolon, tab or bar. '\0' where
/// it says nothing.
char separator_line(std::string_view head, char line_end = '\n');

/// Comma, tab or semicolon, whichever makes a table of the text: the one with a column named as SMILES are, else the
/// one whose rows have most often as many cells as the first; `usual` where they are alike or the first line holds none
/// of the others. `wanted`: the SMILES column's name, if the user gave one.
char find_delimiter(std::string_view head, char usual, std::string_view candidates, const std::string& wanted,
                    char line_end = '\n');

/// Is the first line one of names? `sure`: a cell of it names the SMILES column, so that nobody needs to be told.
struct HeaderVerdict {
  bool header = true;
  bool sure = false;
};
/// The first line against the others: it is data where a cell of it is a molecule, or looks like a miswritten one, in a
/// column of molecules, or a number in a column of numbers; `sure` where a name of it says that it is a header.
HeaderVerdict find_header(const SampleRows& rows, const std::string& wanted);

/// Which column holds the molecules.
struct MoleculeColumn {
  int column = -1;            ///< -1 = none is named so, and of none the cells parse
  bool by_cells = false;      ///< it was not named smiles or canonical_smiles
  std::vector<int> others{};  ///< further columns whose cells parse
};
/// `columns`: the names, empty where there are none; `rows`: of data alone. By the name smiles or canonical_smiles;
/// else by another common name (structure, mol, ...smiles...) if its cells parse; else the first column if its cells
/// parse, or the only one of which they do. Where there are no rows to look at, a common name or the first column.
MoleculeColumn find_molecule_column(const std::vector<std::string>& columns, const SampleRows& rows);

}  // namespace molgraph

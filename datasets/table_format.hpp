// Which format a table has: by its name, or by its first lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/table_reader.hpp"

namespace molgraph {

/// By suffix, ".gz" ignored: .csv; .tsv, .tab; .smi, .smiles, .ism, .can; .sdf, .sd, .mol. Otherwise `automatic`.
TableFormat format_by_suffix(const std::string& path);
/// By the first lines of the text: an SDF record's marks, tabs, commas, blanks, and what parses as SMILES.
TableFormat format_by_content(std::string_view head);
/// True if RDKit makes a molecule of the text (an oversized one included).
bool parses_as_smiles(std::string_view text);
/// False if the first line of a CSV or TSV is data: its first cell parses as SMILES and no cell is the name of a SMILES
/// column (smiles, canonical_smiles or `wanted`, any case).
bool first_line_is_header(const std::vector<std::string>& cells, const std::string& wanted);
/// "smiles" or "canonical_smiles", any case, blanks around it ignored.
bool names_smiles(std::string_view cell);

}  // namespace molgraph

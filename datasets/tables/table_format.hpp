// Which format a table has: by its name, or by its first lines; and what a single cell may be.
#pragma once

#include <string>
#include <string_view>

#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// By suffix, ".gz" ignored: .csv; .tsv, .tab; .smi, .smiles, .ism, .can; .sdf, .sd, .mol. Otherwise `automatic`.
TableFormat format_by_suffix(const std::string& path);
/// By the first lines of the text: an SDF record's marks, tabs, commas, blanks, and what parses as SMILES.
TableFormat format_by_content(std::string_view head);
/// True if RDKit makes a molecule of the text (an oversized one included).
bool parses_as_smiles(std::string_view text);
/// True if all signs of the text, outside brackets, stand in SMILES: what no molecule can be is found without RDKit.
bool looks_like_smiles(std::string_view text);
/// "smiles" or "canonical_smiles", any case, blanks around it ignored.
bool names_smiles(std::string_view cell);
/// A name that people give to columns of molecules: structure, mol, molecule, smi and whatever has "smiles" in it; any
/// case, blanks and underscores ignored.
bool names_molecules(std::string_view cell);
/// What a file is that is no text, by its first bytes (`name` tells workbooks from other archives), and what to do
/// about it: "is an Excel workbook: save it as CSV (UTF-8)"; "" for text.
std::string why_not_text(std::string_view head, const std::string& name);

}  // namespace molgraph

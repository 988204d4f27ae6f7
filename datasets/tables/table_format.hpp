// Format of a table, from its name or its first lines, and the content of single cells.
#pragma once

#include <string>
#include <string_view>

#include "datasets/tables/table_reader.hpp"

namespace molgraph {

/// By suffix, ".gz" ignored: .csv; .tsv, .tab; .smi, .smiles, .ism, .can; .sdf, .sd, .mol. Otherwise `automatic`.
TableFormat format_by_suffix(const std::string& path);
/// Uses the first lines of the text: markers of SDF records, tabs, commas, blanks, and text that parses as SMILES.
TableFormat format_by_content(std::string_view head);
/// True if RDKit accepts the text as a molecule (including molecules that are too large).
bool parses_as_smiles(std::string_view text);
/// True if all characters outside brackets occur in SMILES. Rejects most other text without RDKit.
bool looks_like_smiles(std::string_view text);
/// "smiles" or "canonical_smiles", any case, blanks around it ignored.
bool names_smiles(std::string_view cell);
/// True for common names of columns of molecules: structure, mol, molecule, smi and any name that contains "smiles";
/// any case, blanks and underscores ignored.
bool names_molecules(std::string_view cell);
/// Identifies a file that is not text from its first bytes (`name` distinguishes workbooks from other archives).
/// Returns "" for text, otherwise the kind and what to do, such as "is an Excel workbook: save the sheet as CSV (UTF-8)
/// and use that file".
std::string why_not_text(std::string_view head, const std::string& name);

}  // namespace molgraph

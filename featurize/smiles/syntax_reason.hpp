// Says more precisely than RDKit what is wrong with a SMILES text. Private to this room; no RDKit.
#pragma once

#include <string>
#include <string_view>

namespace molgraph {

/// RDKit says "unclosed ring" and "syntax error" without a place. For these the text is read again, sign by sign:
/// "ring 1 not closed", "'x' is no SMILES symbol (character 3)". Every other reason comes back unchanged.
std::string syntax_reason(std::string_view smiles, const std::string& reason);

/// RDKit ends a text at the first byte that no SMILES may hold and reads what stands before it as the molecule. Names
/// that sign and its place, "'–' (U+2013) is no SMILES symbol (character 2)": control bytes and signs outside ASCII
/// before the first blank, behind it control bytes and what is no UTF-8 (CXSMILES may label atoms in any language). A
/// sign that one cannot see is named by its code alone. "" if there is none.
std::string foreign_sign(std::string_view smiles);

/// Atoms other than bracketed hydrogens that the text names: a lower bound of the molecule's size, without parsing.
int count_named_atoms(std::string_view smiles);

}  // namespace molgraph

// Precise reasons for SMILES syntax errors. Private to this folder; does not use RDKit.
#pragma once

#include <string>
#include <string_view>

namespace molgraph {

/// Returns a more precise reason for RDKit's "unclosed ring" and "syntax error", which have no position. Reads the text
/// again, character by character: "ring 1 not closed", "'x' is not a SMILES symbol (character 3)". Returns every other
/// reason unchanged.
std::string syntax_reason(std::string_view smiles, const std::string& reason);

/// Returns a reason that names the first character not allowed in SMILES and its position, "'–' (U+2013) is not a
/// SMILES symbol (character 2)"; "" if there is none. RDKit stops at such a byte and reads the text before it as the
/// molecule. Before the first blank, control bytes and characters outside ASCII are not allowed. After it, control
/// bytes and invalid UTF-8 are not allowed (CXSMILES may label atoms in any language). An invisible character is named
/// only by its code.
std::string invalid_symbol_reason(std::string_view smiles);

/// Number of atoms in the text except bracketed hydrogens: a lower bound of the molecule's size without parsing.
int count_named_atoms(std::string_view smiles);

}  // namespace molgraph

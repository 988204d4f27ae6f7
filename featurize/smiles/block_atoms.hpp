// The number of atoms of a mol block, without parsing it. Private to this folder.
#pragma once

#include <string_view>

namespace molgraph {

/// Returns the number of atoms other than hydrogens in the atom lines of a V2000 or V3000 mol block. This is at most
/// the number of atoms of the parsed molecule if the block is valid. Damaged blocks give any number that is not above
/// their number of lines.
int count_block_atoms(std::string_view block);

}  // namespace molgraph

// The order of atoms in RDKit's Kekule SMILES of a molecule. Private to this folder and its tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

struct WrittenOrder {
  std::string kekule_smiles;
  std::vector<int> atom;  ///< [n] atom[k] = index, in the order of the input text, of the k-th atom written
};
/// Throws DataError on invalid text. The published ZINC graphs list their atoms in this order.
WrittenOrder zinc_written_order(std::string_view smiles);

}  // namespace molgraph

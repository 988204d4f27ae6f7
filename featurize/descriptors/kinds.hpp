// A thread's cache of kinds of atoms and bonds for one library of patterns. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "featurize/descriptors/patterns.hpp"

namespace molgraph::descriptors {

struct PatternLibrary::Kinds {
  std::unordered_map<AtomKey, std::uint32_t> number;
  std::vector<std::uint64_t> bits;                 ///< [kinds, words] matching elementary queries
  std::vector<std::vector<std::uint16_t>> rooted;  ///< [kinds] patterns whose first atom it may be, if elementary
  std::array<std::uint64_t, 256> bond_bits{};      ///< by type, aromaticity, ring, cycle
  std::array<bool, 256> bond_known{};
};

}  // namespace molgraph::descriptors

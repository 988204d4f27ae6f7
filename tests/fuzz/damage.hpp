// Random damage to bytes and text. Equal random numbers give equal damage.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph::fuzz {

using Random = std::mt19937_64;

/// Random number in [0, bound). Unlike std::uniform_int_distribution, equal on every machine.
std::size_t below(Random& random, std::size_t bound);
inline bool one_in(Random& random, std::size_t bound) { return below(random, bound) == 0; }

template <typename List>
const auto& one_of(Random& random, const List& list) {
  return list[below(random, std::size(list))];
}

/// Changes, inserts, removes or repeats a few bytes. `symbols`: characters that have a meaning in the format.
std::string damaged(std::string text, Random& random, std::string_view symbols);

/// Also inserts some of `pieces` into the text or overwrites text with them.
std::string damaged(std::string text, Random& random, std::string_view symbols, const std::vector<std::string>& pieces);

}  // namespace molgraph::fuzz

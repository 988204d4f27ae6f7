// Random damage to bytes and text, the same for the same random numbers.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph::fuzz {

using Random = std::mt19937_64;

/// In [0, bound); the same on every machine, which std::uniform_int_distribution is not.
std::size_t below(Random& random, std::size_t bound);
inline bool one_in(Random& random, std::size_t bound) { return below(random, bound) == 0; }

template <typename List>
const auto& one_of(Random& random, const List& list) {
  return list[below(random, std::size(list))];
}

/// Changes, inserts, removes or repeats a few bytes; `signs`: those that mean something to whoever reads it.
std::string damaged(std::string text, Random& random, std::string_view signs);

/// Puts some of `pieces` into the text, or in place of as much of it, beside the damage to single bytes.
std::string damaged(std::string text, Random& random, std::string_view signs, const std::vector<std::string>& pieces);

}  // namespace molgraph::fuzz

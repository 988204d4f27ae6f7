#include "tests/fuzz/damage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace molgraph::fuzz {

std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random() % bound); }

std::string damaged(std::string text, Random& random, std::string_view symbols) {
  for (std::size_t n = 1 + below(random, 4); n > 0 && !text.empty(); --n) {
    const std::size_t at = below(random, text.size());
    switch (below(random, 8)) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8))); break;
      case 2: text[at] = one_of(random, symbols); break;
      case 3: text.insert(at, 1, one_of(random, symbols)); break;
      case 4: text.erase(at, 1 + below(random, 8)); break;
      case 5: text.insert(at, text.substr(below(random, text.size()), below(random, 60))); break;
      case 6:
        if (one_in(random, 4)) text.resize(at);
        break;
      default: {
        static constexpr std::int64_t kEdges[] = {-1, 0, 1, 255, 1LL << 31, std::numeric_limits<std::int64_t>::max()};
        const std::int64_t value = one_of(random, kEdges);
        for (std::size_t k = 0; k < 8 && at + k < text.size(); ++k)
          text[at + k] = reinterpret_cast<const char*>(&value)[k];
      }
    }
  }
  return text;
}

std::string damaged(std::string text, Random& random, std::string_view symbols,
                    const std::vector<std::string>& pieces) {
  for (std::size_t n = below(random, 4); n > 0; --n) {
    const std::string& piece = one_of(random, pieces);
    const std::size_t at = below(random, text.size() + 1);
    if (one_in(random, 2)) text.insert(at, piece);
    else text.replace(at, std::min(piece.size(), text.size() - at), piece);
  }
  return one_in(random, 2) ? damaged(std::move(text), random, symbols) : text;
}

}  // namespace molgraph::fuzz

#include "featurize/smiles/block_atoms.hpp"

#include <algorithm>

namespace molgraph {
namespace {

constexpr int kCountsLine = 4;                               // counted from 1
constexpr std::size_t kSymbolColumn = 31, kSymbolWidth = 3;  // of an atom line of V2000
constexpr std::string_view kSeparators = " \t\r";
constexpr std::string_view kV3000 = "M  V30 ";  // begins every line of V3000

/// Consumes the first word.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSeparators), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSeparators));
  line.remove_prefix(word.size());
  return word;
}

bool is_heavy(std::string_view symbol) { return !symbol.empty() && symbol != "H" && symbol != "D" && symbol != "T"; }

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

int count_block_atoms(std::string_view block) {
  int atoms = 0, listed = 0, number = 0;  // listed: atom lines of V2000 that the counts line announces
  bool in_atoms = false, continued = false;
  while (!block.empty()) {
    std::string_view line = block.substr(0, block.find('\n'));
    block.remove_prefix(std::min(line.size() + 1, block.size()));
    ++number;
    if (number == kCountsLine) {
      std::string_view count = line.substr(0, 3);
      for (const char c : next_word(count)) listed = c >= '0' && c <= '9' ? 10 * listed + (c - '0') : 0;
    } else if (number > kCountsLine && number <= kCountsLine + listed) {
      std::string_view symbol = line.substr(std::min(kSymbolColumn, line.size()), kSymbolWidth);
      atoms += is_heavy(next_word(symbol)) ? 1 : 0;
    } else if (number > kCountsLine && line.starts_with(kV3000)) {
      const bool continues = line.substr(0, line.find_last_not_of(kSeparators) + 1).ends_with('-');
      line.remove_prefix(kV3000.size());
      const std::string_view first = next_word(line), second = next_word(line);
      if (second == "ATOM") in_atoms = first == "BEGIN";
      else if (in_atoms && !continued && is_number(first)) atoms += is_heavy(second) ? 1 : 0;
      continued = continues;
    }
  }
  return atoms;
}

}  // namespace molgraph

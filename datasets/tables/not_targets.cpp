#include "datasets/tables/not_targets.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

/// Splits a name into lower-case words: "Molecule_ID", "moleculeId" and "molecule id" give molecule, id.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool after_lower = false;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    const bool is_part = std::isalnum(letter) != 0;
    if (!is_part || (after_lower && std::isupper(letter))) words.emplace_back();
    if (is_part) words.back() += static_cast<char>(std::tolower(letter));
    after_lower = std::islower(letter) != 0;
  }
  return words;
}

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

NotMeasured why_not_measured(const ColumnStats& column) {
  if (column.filled == 0) return {};
  const std::vector<std::string> words = words_of(column.name);
  constexpr std::array<std::string_view, 4> identifiers{"id", "idx", "cid", "sid"};
  constexpr std::array<std::string_view, 2> places{"index", "row"};
  const auto is_called = [&](std::string_view word) { return has_word(words, word); };
  if (column.is_whole && (std::ranges::any_of(identifiers, is_called) ||
                          (column.are_all_different() && std::ranges::any_of(places, is_called))))
    return {"an identifier", true};
  if (column.is_whole && column.min_whole >= 1800 && column.max_whole <= 2100 && is_called("year"))
    return {"a year", true};
  if (column.is_constant && column.filled >= kMinConstantRows) return {"constant"};
  const auto rows = static_cast<double>(column.rows);
  if (column.are_all_different() && column.filled == column.rows && column.filled >= kMinIdentifierRows &&
      column.max_whole - column.min_whole < 2 * rows)
    return {"consecutive whole numbers"};
  if (!column.descriptor.empty()) return {"the descriptor " + column.descriptor};
  return {};
}

}  // namespace molgraph

#include "featurize/smiles/syntax_reason.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "featurize/graph/utf8.hpp"

namespace molgraph {
namespace {

constexpr std::string_view kBonds = "-=#$:/\\~";
constexpr std::string_view kOrganic = "BCNOPSFIbcnops*";
constexpr std::string_view kOthers = "()[].%0123456789>lr";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool contains(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

std::string place(std::size_t index) { return " (character " + std::to_string(index + 1) + ")"; }

/// Reads one ring-closure label at `at`: a digit, %nn or %(n...). Advances `at` past it. Returns -1 if there is none.
int ring_label(std::string_view text, std::size_t& at) {
  if (is_digit(text[at])) return text[at++] - '0';
  if (text[at] != '%') return -1;
  std::size_t digit = at + 1;
  const bool enclosed = digit < text.size() && text[digit] == '(';
  if (enclosed) ++digit;
  const std::size_t max_digits = enclosed ? 5 : 2;
  int label = 0;
  std::size_t count = 0;
  for (; digit < text.size() && is_digit(text[digit]) && count < max_digits; ++digit, ++count) {
    label = 10 * label + (text[digit] - '0');
  }
  if (enclosed && digit < text.size() && text[digit] == ')') ++digit;
  if (count == 0) return -1;
  at = digit;
  return label;
}

/// Returns "ring 1 not closed", "rings 1, 2 not closed", or "" if every label occurs in pairs.
std::string open_rings(std::string_view text) {
  std::set<int> open;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '[') {
      while (at < text.size() && text[at] != ']') ++at;
      continue;
    }
    const int label = ring_label(text, at);
    if (label < 0) {
      ++at;
    } else if (!open.insert(label).second) {
      open.erase(label);
    }
  }
  if (open.empty()) return {};
  std::string list;
  for (const int label : open) list += (list.empty() ? "" : ", ") + std::to_string(label);
  return (open.size() == 1 ? "ring " : "rings ") + list + " not closed";
}

/// Returns the first syntax error in the text, or "".
std::string first_error(std::string_view text) {
  char before = '(';  // like the start of a branch: a bond, dot or ring label may not come first
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[') {
      const std::size_t close = text.find(']', at);
      if (close == std::string_view::npos) return "'[' not closed" + place(at);
      if (close == at + 1) return "empty brackets" + place(at);
      at = close;
      before = ']';
      continue;
    }
    if (!contains(kBonds, c) && !contains(kOrganic, c) && !contains(kOthers, c)) {
      return std::string("'") + c + "' is not a SMILES symbol" + place(at);
    }
    if (c == ']') return "']' without '['" + place(at);
    if (c == ')' && before == '(') return "empty branch" + place(at);
    if (c == ')' && contains(kBonds, before)) return "bond without a second atom" + place(at - 1);
    if (c == '.' && (at == 0 || before == '.')) return "'.' without an atom before it" + place(at);
    if (at == 0 && (is_digit(c) || contains(kBonds, c) || c == '(' || c == '%')) {
      return std::string("'") + c + "' without an atom before it" + place(at);
    }
    if (contains(kBonds, c) && contains("=#$:", before)) return "two bonds in a row" + place(at);
    before = c;
  }
  if (contains(kBonds, before)) return "bond without a second atom at the end";
  if (before == '.') return "'.' without an atom after it at the end";
  if (before == '(') return "branch not closed at the end";
  return {};
}

/// Control characters, spaces, combining marks, direction marks, tags, private and unused codes.
bool is_invisible(std::uint32_t code) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {
      {0, 0x20},        {0x7F, 0xA0},     {0xAD, 0xAD},     {0x300, 0x36F},   {0x61C, 0x61C},   {0x115F, 0x1160},
      {0x1680, 0x1680}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F},
      {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164}, {0xE000, 0xF8FF}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F},
      {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0x10FFFF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string hexadecimal(std::uint32_t value, std::size_t digits) {
  std::string text;
  for (; value > 0 || text.size() < digits; value >>= 4) text.insert(text.begin(), "0123456789ABCDEF"[value & 15u]);
  return text;
}

}  // namespace

std::string invalid_symbol_reason(std::string_view smiles) {
  bool extension = false;
  std::size_t character = 0;
  for (std::size_t at = 0; at < smiles.size(); ++character) {
    const auto byte = static_cast<unsigned char>(smiles[at]);
    extension = extension || byte == ' ' || byte == '\t';
    const bool control = byte < 0x20 || byte == 0x7F;
    const Utf8Character sign = utf8_at(smiles, at);
    if ((control && byte != '\t') || (byte >= 0x80 && !extension) || sign.bytes == 0) {
      if (sign.bytes == 0) return "byte 0x" + hexadecimal(byte, 2) + " is neither ASCII nor UTF-8" + place(character);
      const std::string code = "U+" + hexadecimal(sign.code, 4);
      const std::string shown = is_invisible(sign.code)
                                    ? (control ? "the control character " : "the invisible character ") + code
                                    : "'" + std::string(smiles.substr(at, sign.bytes)) + "' (" + code + ")";
      return shown + " is not a SMILES symbol" + place(character);
    }
    at += sign.bytes;
  }
  return {};
}

std::string syntax_reason(std::string_view smiles, const std::string& reason) {
  const std::string_view text = smiles.substr(0, smiles.find_first_of(" \t"));
  std::string details;
  if (reason == "unclosed ring") details = open_rings(text);
  if (reason == "syntax error") details = first_error(text);
  if (details.empty()) return reason;
  return reason == "syntax error" ? "syntax error: " + details : details;
}

int count_named_atoms(std::string_view smiles) {
  int atoms = 0;
  for (std::size_t at = 0; at < smiles.size() && smiles[at] != ' ' && smiles[at] != '\t'; ++at) {
    if (smiles[at] == '[') {
      std::size_t symbol = at + 1;
      while (symbol < smiles.size() && is_digit(smiles[symbol])) ++symbol;
      // [H], [2H] and [H+] are hydrogens; [He], [Hg], [Ho], [Hf] and [Hs] are heavy atoms.
      const bool hydrogen = symbol < smiles.size() && smiles[symbol] == 'H' &&
                            (symbol + 1 == smiles.size() || !contains("efgos", smiles[symbol + 1]));
      if (!hydrogen) ++atoms;
      while (at < smiles.size() && smiles[at] != ']') ++at;
    } else if (contains(kOrganic, smiles[at])) {
      ++atoms;
    }
  }
  return atoms;
}

}  // namespace molgraph

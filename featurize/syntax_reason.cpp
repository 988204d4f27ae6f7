#include "featurize/syntax_reason.hpp"

#include <cstddef>
#include <set>

namespace molgraph {
namespace {

constexpr std::string_view kBonds = "-=#$:/\\~";
constexpr std::string_view kOrganic = "BCNOPSFIbcnops*";
constexpr std::string_view kOthers = "()[].%0123456789>lr";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool contains(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

std::string place(std::size_t index) { return " (character " + std::to_string(index + 1) + ")"; }

/// One ring-closure label at `at`: a digit, %nn or %(n...). Advances `at` past it; -1 if there is none.
int ring_label(std::string_view text, std::size_t& at) {
  if (is_digit(text[at])) return text[at++] - '0';
  if (text[at] != '%') return -1;
  std::size_t digit = at + 1;
  const bool enclosed = digit < text.size() && text[digit] == '(';
  if (enclosed) ++digit;
  const std::size_t most = enclosed ? 5 : 2;
  int label = 0;
  std::size_t count = 0;
  for (; digit < text.size() && is_digit(text[digit]) && count < most; ++digit, ++count) {
    label = 10 * label + (text[digit] - '0');
  }
  if (enclosed && digit < text.size() && text[digit] == ')') ++digit;
  if (count == 0) return -1;
  at = digit;
  return label;
}

/// "ring 1 not closed", "rings 1, 2 not closed", or "" if every label occurs in pairs.
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

/// The first thing on the way through the text that no SMILES may contain, or "".
std::string first_error(std::string_view text) {
  char before = '(';  // as at the start of a branch: neither a bond's end nor a dot, nor a ring, may stand first
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
    if (static_cast<unsigned char>(c) >= 0x80) return "a sign outside ASCII" + place(at);
    if (!contains(kBonds, c) && !contains(kOrganic, c) && !contains(kOthers, c)) {
      return std::string("'") + c + "' is no SMILES symbol" + place(at);
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

}  // namespace

std::string syntax_reason(std::string_view smiles, const std::string& reason) {
  const std::string_view text = smiles.substr(0, smiles.find_first_of(" \t"));
  std::string better;
  if (reason == "unclosed ring") better = open_rings(text);
  if (reason == "syntax error") better = first_error(text);
  if (better.empty()) return reason;
  return reason == "syntax error" ? "syntax error: " + better : better;
}

int count_named_atoms(std::string_view smiles) {
  int atoms = 0;
  for (std::size_t at = 0; at < smiles.size() && smiles[at] != ' ' && smiles[at] != '\t'; ++at) {
    if (smiles[at] == '[') {
      std::size_t symbol = at + 1;
      while (symbol < smiles.size() && is_digit(smiles[symbol])) ++symbol;
      // [H], [2H], [H+]; but [He], [Hg], [Ho], [Hf], [Hs] are heavy.
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

#include "datasets/table_format.hpp"

#include <algorithm>

#include "datasets/text.hpp"
#include "featurize/error.hpp"
#include "featurize/smiles.hpp"

namespace molgraph {
namespace {

std::string_view first_filled_line(std::string_view head) {
  while (!head.empty()) {
    const auto end = std::min(head.find_first_of("\r\n"), head.size());
    if (!trim(head.substr(0, end)).empty()) return head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return {};
}

bool looks_like_sdf(std::string_view head) {
  std::size_t at = 0;
  for (int line = 1; at < head.size(); ++line) {
    const auto end = std::min(head.find('\n', at), head.size());
    const std::string_view text = trim(head.substr(at, end - at));
    if (line == 4 && (text.ends_with("V2000") || text.ends_with("V3000"))) return true;
    if (text == "M  END" || text == "$$$$") return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

TableFormat table_format_from_string(const std::string& text) {
  const std::string word = lower(text);
  if (word.empty() || word == "auto" || word == "automatic") return TableFormat::automatic;
  if (word == "csv") return TableFormat::csv;
  if (word == "tsv") return TableFormat::tsv;
  if (word == "smi") return TableFormat::smi;
  if (word == "sdf") return TableFormat::sdf;
  throw UsageError("unknown table format '" + text + "': csv, tsv, smi or sdf");
}

TableFormat format_by_suffix(const std::string& path) {
  std::string name = lower(path);
  if (name.ends_with(".gz")) name.erase(name.size() - 3);
  const auto ends_with_any = [&](std::initializer_list<std::string_view> suffixes) {
    return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
  };
  if (ends_with_any({".csv"})) return TableFormat::csv;
  if (ends_with_any({".tsv", ".tab"})) return TableFormat::tsv;
  if (ends_with_any({".smi", ".smiles", ".ism", ".can"})) return TableFormat::smi;
  if (ends_with_any({".sdf", ".sd", ".mol"})) return TableFormat::sdf;
  return TableFormat::automatic;
}

bool parses_as_smiles(std::string_view text) {
  static const Featurizer featurizer;
  const FeaturizeResult result = featurizer.smiles(text);
  const auto* rejection = std::get_if<Rejection>(&result);
  return !rejection || rejection->status == RowStatus::too_large;
}

TableFormat format_by_content(std::string_view head) {
  if (looks_like_sdf(head)) return TableFormat::sdf;
  const std::string_view line = first_filled_line(head);
  const auto blank = std::min(line.find_first_of(" \t"), line.size());
  const bool starts_with_smiles = parses_as_smiles(line.substr(0, blank));
  // SMILES, a blank, and a name that may hold anything: no cell of a CSV begins so, unless quoted.
  if (blank < line.size() && starts_with_smiles) {
    const auto tabs = std::ranges::count(line, '\t');
    return tabs > 1 ? TableFormat::tsv : TableFormat::smi;
  }
  if (line.find('\t') != std::string_view::npos) return TableFormat::tsv;
  if (line.find(',') != std::string_view::npos) return TableFormat::csv;
  if (blank < line.size() && names_smiles(line.substr(0, blank))) return TableFormat::smi;
  return starts_with_smiles ? TableFormat::smi : TableFormat::csv;
}

bool names_smiles(std::string_view cell) {
  const std::string word = lower(trim(cell));
  return word == "smiles" || word == "canonical_smiles";
}

bool first_line_is_header(const std::vector<std::string>& cells, const std::string& wanted) {
  const std::string word = lower(trim(wanted));
  for (const std::string& cell : cells)
    if (names_smiles(cell) || (!word.empty() && lower(trim(cell)) == word)) return true;
  return cells.empty() || !parses_as_smiles(cells.front());
}

}  // namespace molgraph

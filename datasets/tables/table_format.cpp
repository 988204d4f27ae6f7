#include "datasets/tables/table_format.hpp"

#include <algorithm>
#include <array>

#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxName = 200;  // maximum number of characters of a column's name that is examined

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
  throw UsageError("unknown table format '" + text + "': use csv, tsv, smi or sdf");
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

bool looks_like_smiles(std::string_view text) {
  constexpr std::string_view atoms = "BCNOPSFIbcnops*", others = "0123456789%-=#$:/\\~.()<>";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[') {
      at = std::min(text.find(']', at), text.size() - 1);
    } else if (text.substr(at).starts_with("Cl") || text.substr(at).starts_with("Br")) {
      ++at;
    } else if ((c == ' ' || c == '\t') && text.substr(at + 1).starts_with('|')) {
      return true;  // ChemAxon extensions
    } else if (atoms.find(c) == std::string_view::npos && others.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return !text.empty();
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
  // SMILES, a blank and any name: an unquoted CSV cell does not begin this way.
  if (blank < line.size() && starts_with_smiles) {
    const auto tabs = std::ranges::count(line, '\t');
    return tabs > 1 ? TableFormat::tsv : TableFormat::smi;
  }
  if (line.find('\t') != std::string_view::npos) return TableFormat::tsv;
  if (line.find_first_of(",;") != std::string_view::npos) return TableFormat::csv;
  if (blank < line.size() && names_smiles(line.substr(0, blank))) return TableFormat::smi;
  return starts_with_smiles ? TableFormat::smi : TableFormat::csv;
}

bool names_smiles(std::string_view cell) {
  const std::string word = lower(trim(cell));
  return word == "smiles" || word == "canonical_smiles";
}

bool names_molecules(std::string_view cell) {
  constexpr std::array<std::string_view, 12> names{"structure", "structures", "smi",      "smile",
                                                   "mol",       "mols",       "molecule", "molecules",
                                                   "compound",  "compounds",  "ligand",   "drug"};
  if (cell.size() > kMaxName || cell.find_first_of(",;\t\n") != std::string_view::npos) return false;
  std::string word = lower(trim(cell));
  std::erase_if(word, [](char c) { return c == ' ' || c == '_' || c == '-' || c == '.'; });
  return word.find("smiles") != std::string::npos || std::ranges::find(names, word) != names.end();
}

std::string why_not_text(std::string_view head, const std::string& name) {
  using namespace std::string_view_literals;
  struct Kind {
    std::string_view magic;
    const char* what;
  };
  constexpr const char* kWorkbook = "is an Excel workbook: save the sheet as CSV (UTF-8) and use that file";
  static constexpr Kind kKinds[] = {
      {"\xD0\xCF\x11\xE0"sv, kWorkbook},
      {"BZh91AY&SY"sv, "is compressed with bzip2: unpack it (bunzip2) or pipe it in (bzcat FILE | ... -i -)"},
      {"\xFD"
       "7zXZ\0"sv,
       "is compressed with xz: unpack it (unxz) or pipe it in (xzcat FILE | ... -i -)"},
      {"\x28\xB5\x2F\xFD"sv, "is compressed with zstd: unpack it (unzstd) or pipe it in (zstdcat FILE | ... -i -)"},
      {"PAR1\x15"sv,
       "is a Parquet file: write it as CSV (pandas: read_parquet(FILE).to_csv(\"out.csv\", index=False))"},
      {"ARROW1\0"sv,
       "is a Feather file: write it as CSV (pandas: read_feather(FILE).to_csv(\"out.csv\", index=False))"},
      {"\x89HDF\r\n"sv, "is an HDF5 file, not a table of text"},
      {"SQLite format 3\0"sv, "is an SQLite database: write the table as CSV (sqlite3 -header -csv FILE 'select ...')"},
      {"%PDF-"sv, "is a PDF document, not a table of text"},
  };
  if (head.starts_with("PK\x03\x04")) {
    const std::string file = lower(name);
    if (file.ends_with(".xlsx") || file.ends_with(".xlsm")) return kWorkbook;
    if (file.ends_with(".ods")) return "is an OpenDocument workbook: save the sheet as CSV (UTF-8) and use that file";
    return "is a zip archive: unpack it; if it is an Excel workbook, save the sheet as CSV (UTF-8)";
  }
  for (const Kind& kind : kKinds)
    if (head.starts_with(kind.magic)) return kind.what;
  // bzip2 has nine block sizes; the table above contains only the usual one.
  return head.size() > 4 && head.starts_with("BZh") && head.substr(4).starts_with("1AY&SY") ? kKinds[1].what : "";
}

}  // namespace molgraph

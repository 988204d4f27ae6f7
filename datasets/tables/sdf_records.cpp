#include "datasets/tables/sdf_records.hpp"

#include "datasets/system/text.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Returns the name in "> 25 <LOGP> (id)"; empty if the line is not the header of a data item.
std::string property_name(const std::string& line) {
  if (line.empty() || line[0] != '>') return {};
  const auto open = line.find('<');
  const auto close = line.rfind('>');
  if (open == std::string::npos || close == std::string::npos || close <= open + 1) return {};
  return std::string(trim(std::string_view(line).substr(open + 1, close - open - 1)));
}

}  // namespace

bool read_sdf_record(LineReader& lines, std::int64_t row, SdfRecord& record) {
  record = {};
  std::string line;
  bool in_mol = true, in_value = false, has_content = false;
  for (int number = 1; lines.next(line, row, kMaxRowBytes); ++number) {
    strip_carriage_return(line);
    record.bytes += line.size() + 1;
    if (record.bytes > kMaxRowBytes)
      throw DataError(lines.name(), row + 1,
                      "a record exceeds the limit of " + std::to_string(kMaxRowBytes >> 20u) + " MiB", record.title);
    if (line.starts_with("$$$$")) return true;
    has_content = has_content || !trim(line).empty();
    if (number == 1) record.title = trim(line);
    const std::string name = number > 4 ? property_name(line) : std::string();
    if (!name.empty()) {
      in_mol = false;
      in_value = true;
      record.properties.emplace_back(name, "");
    } else if (in_mol) {
      record.mol_block += line + '\n';
      if (line.starts_with("M  END")) in_mol = false;
    } else if (in_value) {
      if (line.empty()) {
        in_value = false;
      } else {
        std::string& value = record.properties.back().second;
        if (!value.empty()) value += '\n';
        value += line;
      }
    }
  }
  return has_content;  // blank lines after the last "$$$$" are not a record
}

}  // namespace molgraph

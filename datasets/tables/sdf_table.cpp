#include "datasets/tables/sdf_table.hpp"

#include <utility>

#include "datasets/tables/table_form.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kLookAheadRecords = 1000;
constexpr std::size_t kLookAheadBytes = std::size_t{64} << 20;  // of text, including memory for the properties

}  // namespace

void SdfTable::add_properties(const SdfRecord& record, const LineReader& lines, std::int64_t row) {
  has_names_ = has_names_ || !record.title.empty();
  for (const auto& [name, value] : record.properties)
    if (property_columns_.try_emplace(name, properties_.size()).second) properties_.push_back(name);
  if (properties_.size() > kMaxColumns)
    throw DataError(lines.name(), row + 1,
                    "has more than " + std::to_string(kMaxColumns) + " properties, which is the limit");
}

std::vector<std::string> SdfTable::find_columns(LineReader& lines, LineReader* whole) {
  SdfRecord record;
  std::size_t bytes = 0;
  std::int64_t row = 0;
  for (; whole != nullptr && read_sdf_record(*whole, row, record); ++row) add_properties(record, *whole, row);
  while (whole == nullptr && records_.size() < kLookAheadRecords && bytes < kLookAheadBytes &&
         read_sdf_record(lines, row, record)) {
    add_properties(record, lines, row++);
    bytes += record.bytes + record.properties.size() * sizeof record.properties[0];
    records_.push_back(std::move(record));
  }
  if (row == 0) throw DataError(lines.name() + ": contains no records");
  std::vector<std::string> columns{find_any_case(properties_, {"smiles"}) < 0 ? "smiles" : "molgraph_smiles"};
  if (has_names_) columns.emplace_back(find_any_case(properties_, {"name"}) < 0 ? "name" : "molgraph_name");
  for (auto& [name, column] : property_columns_) column += columns.size();
  columns.insert(columns.end(), properties_.begin(), properties_.end());
  return columns;
}

bool SdfTable::next(LineReader& lines, std::int64_t row, TableRow& out, const ReadingHooks& hooks) {
  SdfRecord record;
  if (!records_.empty()) {
    record = std::move(records_.front());
    records_.pop_front();
  } else if (!read_sdf_record(lines, row, record)) {
    return false;
  }
  out.problem.clear();
  out.cells.assign(1 + (has_names_ ? 1 : 0) + properties_.size(), "");
  if (has_names_) out.cells[1] = std::move(record.title);
  for (auto& [name, value] : record.properties) {
    const auto column = property_columns_.find(name);
    if (column != property_columns_.end()) {
      out.cells[column->second] = std::move(value);
    } else if (!std::exchange(reported_, true) && hooks.log) {
      hooks.log(lines.name() + ", record " + std::to_string(row + 1) + ": the property <" + name +
                    "> does not occur in the first 1,000 records, so it and other such properties have no column",
                true);
    }
  }
  out.mol_block = std::move(record.mol_block);
  return true;
}

}  // namespace molgraph

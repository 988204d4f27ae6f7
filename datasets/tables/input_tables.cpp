#include "datasets/tables/input_tables.hpp"

#include <glob.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/spool.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  const int code = ::glob(pattern.c_str(), 0, nullptr, &found);  // sorted by name
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code != 0 || paths.empty()) throw FileError(pattern + ": no matching file");
  return paths;
}

/// Returns [tables + 1] byte counts; empty if a table is gzipped, because its text is longer than the file.
std::vector<std::uint64_t> bytes_before_tables(const std::vector<std::string>& paths) {
  std::vector<std::uint64_t> before{0};
  for (const std::string& path : paths) {
    File file = File::open(path);
    unsigned char magic[2] = {};
    if (file.read(magic, sizeof magic) == sizeof magic && magic[0] == 0x1f && magic[1] == 0x8b) return {};
    before.push_back(before.back() + file.size());
  }
  return before;
}

}  // namespace

std::vector<std::string> expand_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> paths;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input.find_first_of("*?[") == std::string::npos || fs::exists(input, error)) {
      paths.push_back(input);
    } else {
      std::ranges::copy(matches(input), std::back_inserter(paths));
    }
  }
  return paths;
}

std::string content_fingerprint(const std::string& path) {
  constexpr std::uint64_t kEnd = 64u << 10u;
  File file = File::open(path);
  const std::uint64_t size = file.size();
  std::string text(2 * kEnd, '\0');
  const std::size_t first = file.read_at(0, text.data(), kEnd);
  const std::size_t last = file.read_at(size > kEnd ? size - kEnd : 0, text.data() + first, kEnd);
  return std::to_string(size) + " bytes, " + std::to_string(XXH3_64bits(text.data(), first + last));
}

std::string fingerprint_of(const std::string& path) {
  return fs::path(path).filename().string() + ", " + content_fingerprint(path);
}

InputTables::InputTables(const std::vector<std::string>& inputs, const TableOptions& options)
    : paths_(expand_inputs(inputs)), options_(options) {
  if (paths_.empty()) throw UsageError("no input specified");
  stream_ = std::ranges::any_of(paths_, [](const std::string& path) { return molgraph::is_stream(path); });
  if (stream_ && paths_.size() > 1)
    throw UsageError("standard input or a pipe cannot be read together with other inputs");
  reader_ = std::make_unique<TableReader>(paths_[0], options_);
  columns_ = reader_->columns();
  smiles_column_ = reader_->smiles_column();
  id_column_ = reader_->id_column();
  format_ = reader_->format();
  for (std::size_t table = 1; table < paths_.size(); ++table)
    open(table);  // reports different columns before any work is done
  if (paths_.size() > 1) open(0);
  if (!stream_) bytes_before_ = bytes_before_tables(paths_);
}

void InputTables::open(std::size_t table) {
  reader_ = std::make_unique<TableReader>(paths_[table], options_);
  table_ = table;
  column_index_.clear();
  const std::vector<std::string>& table_columns = reader_->columns();
  if (table_columns == columns_) return;
  std::vector<std::string> sorted_table = table_columns, sorted_expected = columns_;
  std::ranges::sort(sorted_table);
  std::ranges::sort(sorted_expected);
  if (sorted_table != sorted_expected || std::ranges::adjacent_find(sorted_expected) != sorted_expected.end()) {
    throw DataError(paths_[table] + ": the columns are " + list_of(table_columns) + ", but those of " + paths_[0] +
                    " are " + list_of(columns_));
  }
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t c = 0; c < columns_.size(); ++c) places.emplace(columns_[c], c);
  for (const std::string& name : table_columns) column_index_.push_back(places.at(name));
}

bool InputTables::next(TableRow& row) {
  while (!reader_->next(row)) {
    if (table_ + 1 == paths_.size()) return false;
    open(table_ + 1);
  }
  ++number_;
  if (!column_index_.empty()) {
    std::vector<std::string> cells(columns_.size());
    for (std::size_t c = 0; c < cells.size(); ++c) cells[column_index_[c]] = std::move(row.cells[c]);
    row.cells = std::move(cells);
  }
  return true;
}

InputPosition InputTables::position() const { return {table_, number_, reader_->position()}; }

double InputTables::share_before(const InputPosition& position) const {
  if (bytes_before_.empty() || bytes_before_.back() == 0 || position.in_table.offset < 0) return -1;
  const auto before =
      static_cast<double>(bytes_before_[position.table]) + static_cast<double>(position.in_table.offset);
  return std::min(1.0, before / static_cast<double>(bytes_before_.back()));
}

void InputTables::seek(const InputPosition& position) {
  if (position.table >= paths_.size()) throw FileError("there is no input " + std::to_string(position.table + 1));
  if (position.table != table_) open(position.table);
  reader_->seek(position.in_table);
  number_ = position.number;
}

}  // namespace molgraph

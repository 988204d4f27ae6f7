// Splits that are stored in separate files.
#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/archives/torch_archive.hpp"
#include "datasets/row_source.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/table_lines.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

void RowSource::read_part_files() {
  parts_.assign(static_cast<std::size_t>(rows_), SplitPart::none);
  for (std::size_t p = 0; p < 3; ++p) {
    LineReader lines(plan_.part_files[p]);
    std::string line;
    for (std::int64_t number = 0; lines.next(line, number); ++number) {
      const auto text = trim(line);
      if (text.empty()) continue;
      const auto row = number_of_cell(text);
      if (!row || *row != std::floor(*row) || *row < 0 || *row >= static_cast<double>(rows_))
        throw DataError(lines.name(), number + 1,
                        "not a 0-based number of one of the " + std::to_string(rows_) + " rows", std::string(text));
      SplitPart& part = parts_[static_cast<std::size_t>(*row)];
      if (part != SplitPart::none)
        throw DataError(lines.name(), number + 1, "this row is already in a set of the split", std::string(text));
      part = static_cast<SplitPart>(p + 1);
    }
  }
}

/// OGB-LSC: train, valid, test or test-dev (hidden labels), test-challenge.
void RowSource::read_part_archive() {
  parts_.assign(static_cast<std::size_t>(rows_), SplitPart::none);
  std::vector<bool> taken(parts_.size());
  for (const auto& [name, rows] : read_index_dict(plan_.part_archive)) {
    SplitPart part = SplitPart::none;
    if (name == "train") part = SplitPart::train;
    if (name == "valid" || name == "val") part = SplitPart::valid;
    if (name == "test" || name == "test-dev") part = SplitPart::test;
    const bool hidden = name.starts_with("test");  // their labels are not published
    if (hidden) {
      extra_parts_.push_back(name);
      extra_part_.resize(parts_.size());
    } else if (part == SplitPart::none) {
      throw FileError(plan_.part_archive + ": the set '" + name + "' of the split is unknown");
    }
    for (const std::int64_t row : rows) {
      const auto index = static_cast<std::size_t>(row);
      if (row >= rows_)
        throw FileError(plan_.part_archive + ": row " + std::to_string(row) + " of '" + name + "' does not exist; " +
                        table_names_[0] + " has " + std::to_string(rows_) + " rows");
      if (taken[index])
        throw FileError(plan_.part_archive + ": row " + std::to_string(row) + " of '" + name +
                        "' occurs twice in the split");
      taken[index] = true;
      parts_[index] = part;
      if (hidden) extra_part_[index] = static_cast<std::uint8_t>(extra_parts_.size());
    }
  }
}

void RowSource::check_part_sizes() const {
  for (std::size_t p = 0; p < 3; ++p) {
    const auto count = std::ranges::count(parts_, static_cast<SplitPart>(p + 1));
    constexpr std::array<const char*, 3> names{"training", "validation", "test"};
    if (plan_.part_sizes[p] > 0 && count != plan_.part_sizes[p])
      throw FileError(table_names_[0] + ": is not the data set '" + plan_.name + "': its " + names[p] + " set has " +
                      std::to_string(count) + " rows, the published one " + std::to_string(plan_.part_sizes[p]) +
                      (plan_.part_archive.empty() ? "" : " (for a folder of another size, use --subset partial)"));
  }
}

}  // namespace molgraph

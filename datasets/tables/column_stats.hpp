// Statistics of one column's cells (numbers, limits, labels, text), gathered in one pass over a table.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "datasets/tables/labels.hpp"

namespace molgraph {

/// True for a missing value: blank, "-", nan, na, n/a, #n/a, null, none and <na>, in any case. Used for targets, ids
/// and sets of a split.
bool is_missing(std::string_view cell);
/// Returns the cell's value as a double if it is a finite number that fits a float; true and false are 1 and 0. Returns
/// nothing for other text, such as ">50", "5 nM", "1,5" or "1,000".
std::optional<double> number_of_cell(std::string_view cell);

/// Returns a row's weight in the loss: a finite number of at least 0. Throws DataError for other text and for blank
/// cells, because no default weight suits every table.
float weight_of_cell(std::string_view cell, const std::string& column, const std::string& file, std::int64_t row);

/// True for "1,5" and "-0,25", which may be numbers with a decimal comma. Decimal commas are never assumed.
bool has_decimal_comma(std::string_view cell);

/// True for "1,000" and "-12,345.6": digits in groups of three. The comma in "1,000" may also be a decimal comma.
bool has_thousands_commas(std::string_view cell);

/// Returns the set that a cell names, in any case: "train", "valid" (also val and validation) or "test"; "" for other
/// text.
std::string_view part_of_cell(std::string_view cell);

/// Maximum number of classes in a column.
inline constexpr std::size_t kMaxClasses = 1000;

/// Location and text of a cell, for messages.
struct CellPlace {
  std::string file, text;
  std::int64_t row = -1;  ///< 0-based; -1 = no such cell
  bool exists() const { return row >= 0; }
};

/// Statistics of one column, gathered cell by cell in constant memory, except for class labels and up to 1,024 whole
/// numbers.
struct ColumnStats {
  std::string name;
  bool keep_labels = false;  ///< true: gathers all `labels`; false: up to three labels of cells that are not numbers
  bool is_watched = false;   ///< only for a hint, never a target
  bool checks_distinct = false;  ///< compares its whole numbers with each other
  std::string descriptor{};      ///< name of the descriptor that equals the column, "" = none
  std::int64_t rows = 0, filled = 0;

  // Numbers and limits.
  std::int64_t numbers = 0;      ///< exact, without a unit
  std::int64_t with_unit = 0;    ///< exact, with a unit, such as "5 nM"; not included in `numbers`
  std::int64_t censored = 0;     ///< such as ">50"; not included in `numbers`
  std::int64_t approximate = 0;  ///< such as "~3"; counted as exact
  CellPlace first_text{};        ///< first filled cell that is neither a number nor censored
  CellPlace first_censored{}, first_approximate{};
  CellPlace first_true_or_false{};  ///< counted as a number

  // Units.
  CellPlace first_unit{};  ///< first cell with a unit after the number
  std::string unit{};      ///< that unit
  CellPlace other_unit{};  ///< first cell with a different unit
  CellPlace first_bare{};  ///< first exact number without a unit, 0 excepted

  // Commas.
  std::int64_t decimal_commas = 0;  ///< such as "1,5"; not included in `numbers`
  CellPlace first_decimal_comma{};
  CellPlace first_thousands{};        ///< first cell with thousands separators ("1,000")
  CellPlace first_large{};            ///< first number of at least 1,000 without separators
  bool has_point_or_groups = false;   ///< such as "12.5", "1,000.5" and "1,000,000"
  bool has_plain = false;             ///< a number without a comma
  bool has_thousands_with_0 = false;  ///< such as "1,250", which is not 1.25 without trailing zeros
  bool by_semicolons = false;         ///< semicolons separate the cells, as where commas separate decimals

  // Labels.
  CellPlace first_not_binary{};  ///< first filled cell that is not a binary label (labels.hpp)
  unsigned pairs = 0;            ///< bit p: a label of pair p occurred; only while all cells are binary labels
  std::set<std::string> labels{};
  std::int64_t part_words = 0;    ///< cells with train, valid, test or a synonym
  std::set<std::string> parts{};  ///< the sets that occurred

  // Columns that are not measurements (not_targets.hpp).
  bool is_whole = true, is_constant = true;  ///< all filled cells are whole numbers; have the same text
  std::string first_value{};
  std::unordered_set<std::int64_t> whole{};  ///< the first 1,024 values, while they are whole and distinct
  bool repeats = false;                      ///< two of these values are equal
  double min_whole = 0, max_whole = 0;       ///< range of the whole numbers

  /// Considers only the first values.
  bool are_all_different() const { return checks_distinct && is_whole && !repeats; }
  bool is_binary() const { return filled > 0 && !first_not_binary.exists(); }
  /// True if every exact number other than 0 has the same unit.
  bool has_one_unit() const { return with_unit > 0 && !other_unit.exists() && !first_bare.exists(); }
  std::int64_t exact() const { return numbers + (has_one_unit() ? with_unit : 0); }
  /// True if the word after the numbers is not a known unit, so that the cells may be text.
  bool may_be_text() const { return with_unit > 0 && !is_measured_unit(unit); }
  bool is_mostly_numbers() const { return filled > 0 && 2 * (exact() + censored + decimal_commas) >= filled; }

  /// True if the column becomes a regression target when the user names no targets. Not all of its numbers may be
  /// limits.
  bool is_found() const { return is_mostly_numbers() && exact() + decimal_commas > 0 && !may_be_text(); }

  /// True if commas before groups of three digits can only be thousands separators. This follows from a number with a
  /// decimal point or with two commas. It also follows from numbers without a comma (so decimals are not padded to
  /// three digits) together with a separated number that ends in 0 (so trailing zeros are not removed), unless
  /// semicolons separate the cells.
  bool thousands_are_clear() const {
    return has_point_or_groups || (has_plain && has_thousands_with_0 && !by_semicolons);
  }

  /// True if all filled cells name sets of a split, "train" and "test" among them.
  bool names_parts() const {
    return filled > 0 && part_words == filled && parts.contains("train") && parts.contains("test");
  }

  void add(std::string_view cell, const std::string& file, std::int64_t row);
};

}  // namespace molgraph

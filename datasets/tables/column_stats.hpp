// What the cells of one column are: numbers, limits, labels, text; gathered in one pass over a table.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "datasets/tables/labels.hpp"

namespace molgraph {

/// No value: blank, "-", nan, na, n/a, #n/a, null, none and <na>, in any case. The one rule for targets, ids and parts.
bool is_missing(std::string_view cell);
/// A finite number that fits a float (it is kept as a double); true and false are 1 and 0. Empty for anything else,
/// such as ">50", "5 nM", "1,5" or "1,000".
std::optional<double> number_of_cell(std::string_view cell);

/// A row's weight in the loss: a finite number of 0 or more. Throws DataError for anything else, a blank cell too: what
/// a row without a weight should count beside others, nobody but its author knows.
float weight_of_cell(std::string_view cell, const std::string& column, const std::string& file, std::int64_t row);

/// True for "1,5" and "-0,25": what may be a number with a decimal comma, which is never guessed.
bool has_decimal_comma(std::string_view cell);

/// True for "1,000" and "-12,345.6": digits in groups of three. "1,000" may have a decimal comma too.
bool has_thousands_commas(std::string_view cell);

/// The part of a split that a cell names, in any case: "train", "valid" (also val and validation) or "test"; "" for any
/// other text.
std::string_view part_of_cell(std::string_view cell);

/// Classes that a column may have.
inline constexpr std::size_t kMostClasses = 1000;

/// Where a cell stands that is not what it should be.
struct CellPlace {
  std::string file, text;
  std::int64_t row = -1;  ///< 0-based; -1 = there is none
  bool exists() const { return row >= 0; }
};

/// What one column holds, gathered cell by cell in constant memory (class labels apart, and at most 1,024 whole
/// numbers).
struct ColumnStats {
  std::string name;
  bool keep_labels = false;  ///< gather all `labels`; else of cells that are no numbers, until there are three
  bool is_watched = false;   ///< for a hint only: never a target
  bool is_judged = false;    ///< its whole numbers are compared with each other
  std::string descriptor{};  ///< the descriptor that the column equals, "" = none
  std::int64_t rows = 0, filled = 0;

  // Numbers and limits.
  std::int64_t numbers = 0;      ///< exact ones without a unit
  std::int64_t with_unit = 0;    ///< exact ones with a unit, such as "5 nM"; not among `numbers`
  std::int64_t censored = 0;     ///< such as ">50"; not among `numbers`
  std::int64_t approximate = 0;  ///< such as "~3"; among the exact ones
  CellPlace first_text{};        ///< first filled cell that is neither number nor censored
  CellPlace first_censored{}, first_approximate{};

  // Units.
  CellPlace first_unit{};  ///< first cell with a unit behind its number
  std::string unit{};      ///< that unit
  CellPlace other_unit{};  ///< first cell with another unit
  CellPlace first_bare{};  ///< first exact number but 0 without a unit

  // Commas.
  std::int64_t decimal_commas = 0;  ///< such as "1,5", which are no numbers
  CellPlace first_decimal_comma{};
  CellPlace first_thousands{};        ///< first cell with commas between thousands ("1,000")
  CellPlace first_large{};            ///< first number of 1,000 or more without such commas
  bool has_point_or_groups = false;   ///< such as "12.5", "1,000.5" and "1,000,000"
  bool has_plain = false;             ///< a number without a comma
  bool has_thousands_with_0 = false;  ///< such as "1,250", which no program that cuts zeros off writes for 1.25

  // Labels.
  CellPlace first_not_binary{};  ///< first filled cell that is no binary label (labels.hpp)
  unsigned pairs = 0;            ///< bit p: a label of the pair p was seen; only while all cells are binary labels
  std::set<std::string> labels{};
  std::int64_t part_words = 0;    ///< train, valid, test and the like
  std::set<std::string> parts{};  ///< which of them

  // What is no measurement (not_targets.hpp).
  bool is_whole = true, is_constant = true;  ///< all filled cells are whole numbers; are the same text
  std::string first_value{};
  std::unordered_set<std::int64_t> whole{};  ///< the first 1,024 values, while they are whole and no two are the same
  bool repeats = false;                      ///< two of those are the same
  double least = 0, most = 0;                ///< of the whole numbers

  /// As far as its first values show.
  bool are_all_different() const { return is_judged && is_whole && !repeats; }
  bool is_binary() const { return filled > 0 && !first_not_binary.exists(); }
  /// Every exact number but 0 has the same unit behind it.
  bool has_one_unit() const { return with_unit > 0 && !other_unit.exists() && !first_bare.exists(); }
  std::int64_t exact() const { return numbers + (has_one_unit() ? with_unit : 0); }
  /// Numbers with a word behind them that is no usual unit may be text.
  bool may_be_text() const { return with_unit > 0 && !is_measured_unit(unit); }
  bool is_mostly_numbers() const { return filled > 0 && 2 * (exact() + censored + decimal_commas) >= filled; }

  /// Taken for a target of numbers where nobody names one: some of them must be more than a limit.
  bool is_found() const { return is_mostly_numbers() && exact() + decimal_commas > 0 && !may_be_text(); }

  /// Commas in groups of three can be nothing but separators of thousands: a number with a point or two commas shows
  /// it, or numbers without a comma (so decimals are not filled up to three) beside one that ends in 0 (so zeros are
  /// not cut).
  bool thousands_are_clear() const { return has_point_or_groups || (has_plain && has_thousands_with_0); }

  /// "train" and "test" among them, and nothing but parts of a split.
  bool names_parts() const {
    return filled > 0 && part_words == filled && parts.contains("train") && parts.contains("test");
  }

  void add(std::string_view cell, const std::string& file, std::int64_t row);
};

}  // namespace molgraph

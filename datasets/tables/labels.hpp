// Class labels in cells: which words mean yes and no, and which label is the positive one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Meaning of a cell as a binary label, in any case: yes, active, true, positive and 1 are positive; no, inactive,
/// false, negative and 0 are negative. Other words have no meaning: alphabetical order never decides which of two
/// labels is the positive one.
struct BinaryLabel {
  bool positive = false;
  std::uint8_t pair = 0;  ///< index for words_of_pair()
};
std::optional<BinaryLabel> binary_label(std::string_view cell);
inline constexpr std::uint8_t kNumberPair = 0;  ///< the pair of 0 and 1
inline constexpr std::uint8_t kPairs = 5;
/// Returns {negative, positive}, such as {"no", "yes"}.
std::vector<std::string> words_of_pair(std::uint8_t pair);

/// Returns a cell's text as a class, trimmed. "3.0" and "3" are one class, because data frames with missing values
/// write whole numbers with a decimal point.
std::string class_label(std::string_view cell);

/// True if a file can distinguish the labels of a binary task from 0 and 1: there are two, and neither is a number.
bool are_words(const std::vector<std::string>& class_labels);

/// Sorts labels by value if all are numbers, otherwise by text.
std::vector<std::string> sorted_labels(const std::set<std::string>& labels);

/// True for text that begins like a limit or an approximate value: ">50", "<= 0.1 nM", "~3".
bool is_censored(std::string_view cell);

/// A number, optionally with leading signs, thousands separators and a unit.
struct MeasuredNumber {
  double number = 0;
  std::string_view sign, digits;  ///< trimmed parts of the cell; `digits` includes the commas
  int bound = 0;                  ///< +1: the true value is above the number (> and >=), -1: below it, 0: exact
  bool approximate = false;       ///< "~3"
  bool thousands = false;         ///< "1,000"
  std::string_view unit;          ///< the word after the number, "" = none
};
/// Parses a cell that contains one number: "5", ">50", "<= 0.1 nM", "~3", "1,000", "5 nM". Returns nothing for other
/// text, such as ">1,5", ">50-100" or "<3>". The views refer to `cell`.
std::optional<MeasuredNumber> measured_number(std::string_view cell);

/// True for units of concentration, energy and a few other quantities, such as nM, %, ug/mL and kcal/mol, in any case.
/// Other words after a number may not be units ("2 doses", "3D").
bool is_measured_unit(std::string_view unit);

/// Returns the two labels of a binary task, {negative, positive}, if `positive` is one of `labels` in any case and
/// there is exactly one other label (labels that differ only in case are one). Returns an empty vector otherwise.
std::vector<std::string> labels_with_positive(const std::set<std::string>& labels, const std::string& positive);

}  // namespace molgraph

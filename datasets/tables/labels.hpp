// Labels of classes in cells: which words mean yes and no by themselves, and which label is the positive one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// What a cell says by itself: yes, active, true, positive and 1 are positive; no, inactive, false, negative and 0 are
/// not; in any case. Other words say nothing: the alphabet never decides which of two is the positive one.
struct BinaryLabel {
  bool positive = false;
  std::uint8_t pair = 0;  ///< index for words_of_pair()
};
std::optional<BinaryLabel> binary_label(std::string_view cell);
inline constexpr std::uint8_t kNumberPair = 0;  ///< the pair of 0 and 1
inline constexpr std::uint8_t kPairs = 5;
/// {"no", "yes"} and the like: negative, positive.
std::vector<std::string> words_of_pair(std::uint8_t pair);

/// A cell's text as a class: trimmed; "3.0" and "3" are one class, as a data frame with gaps writes whole numbers with
/// a point.
std::string class_label(std::string_view cell);

/// The labels of a binary task, where a file can tell them from 0 and 1: there are two, and neither is a number.
bool are_words(const std::vector<std::string>& class_labels);

/// Numbers by value if all labels are numbers, else by text.
std::vector<std::string> sorted_labels(const std::set<std::string>& labels);

/// True for what begins as a limit or an approximate value does: ">50", "<= 0.1 nM", "~3".
bool is_censored(std::string_view cell);

/// A number, perhaps with signs in front, commas between thousands and a unit behind.
struct MeasuredNumber {
  double number = 0;
  std::string_view sign, digits;  ///< parts of the cell, trimmed; `digits` with the commas
  int bound = 0;                  ///< +1: the true value lies above the number (> and >=), -1: below it, 0: exact
  bool approximate = false;       ///< "~3"
  bool thousands = false;         ///< "1,000"
  std::string_view unit;          ///< the word behind the number, "" = none
};
/// A cell that says one number: "5", ">50", "<= 0.1 nM", "~3", "1,000", "5 nM". Empty for anything else, such as
/// ">1,5",
/// ">50-100" or "<3>". The views are of `cell`.
std::optional<MeasuredNumber> measured_number(std::string_view cell);

/// True for units of concentrations, energies and a few other measurements, such as nM, %, ug/mL and kcal/mol, in any
/// case. A word behind a number may be anything else ("2 doses", "3D").
bool is_measured_unit(std::string_view unit);

/// The two labels of a binary task, {negative, positive}, where `positive` is one of `labels` in any case and there is
/// at most one other (labels that differ in case only are one). The negative one is "" where there is none. Empty
/// otherwise.
std::vector<std::string> labels_with_positive(const std::set<std::string>& labels, const std::string& positive);

}  // namespace molgraph

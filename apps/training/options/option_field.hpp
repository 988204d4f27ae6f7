// Uniform access to the fields of an options struct for the command line and config.toml: texts, numbers, switches and
// lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "featurize/graph/error.hpp"

namespace molgraph {

using OptionValue =
    std::variant<std::string, bool, std::int64_t, double, std::vector<std::string>, std::vector<double>>;

/// On, off, or automatic: other options and the data decide.
enum class Switch : std::uint8_t { automatic, on, off };
inline Switch on_or_off(bool on) { return on ? Switch::on : Switch::off; }

/// The values of a field with their words; the word "" is the default.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

/// Access to one field. The caller of set() has checked the value against words and range.
struct OptionField {
  std::function<OptionValue()> get;
  std::function<void(const OptionValue&)> set;
  std::vector<std::string> words{};  ///< allowed values, or allowed items of a list; empty = any text
  bool is_switch = false;            ///< the words are those of Switch: --NAME and --no-NAME
  int min_items = 0, max_items = 0;  ///< number of items of a list; `max_items` 0 = unlimited

  OptionField(std::function<OptionValue()> get_, std::function<void(const OptionValue&)> set_)
      : get(std::move(get_)), set(std::move(set_)) {}

  /// A field with a type of OptionValue, or an integer of another width.
  template <class T>
  requires(!std::is_same_v<T, OptionField>)
      OptionField(T& field) {  // NOLINT(google-explicit-constructor): the list contains plain fields
    using Stored = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;
    get = [&field] { return OptionValue(static_cast<Stored>(field)); };
    set = [&field](const OptionValue& value) { field = static_cast<T>(std::get<Stored>(value)); };
  }
  /// A list of N numbers.
  template <std::size_t N>
  OptionField(std::array<double, N>& field) : min_items(N), max_items(N) {  // NOLINT(google-explicit-constructor)
    get = [&field] { return OptionValue(std::vector<double>(field.begin(), field.end())); };
    set = [&field](const OptionValue& value) {
      const auto& numbers = std::get<std::vector<double>>(value);
      if (numbers.size() != N) throw UsageError("wrong number of values, required: " + std::to_string(N));
      std::copy(numbers.begin(), numbers.end(), field.begin());
    };
  }
};

/// An optional integer; the value `unset` means not set.
template <class T>
OptionField or_unset(std::optional<T>& field, std::int64_t unset) {
  return {[&field, unset] { return OptionValue(field ? static_cast<std::int64_t>(*field) : unset); },
          [&field, unset](const OptionValue& value) {
            const std::int64_t number = std::get<std::int64_t>(value);
            field = number == unset ? std::nullopt : std::optional<T>(static_cast<T>(number));
          }};
}

namespace option_words {

template <class T>
std::string word_of(const Words<T>& words, const T& value) {
  for (const auto& [word, one] : words)
    if (one == value) return std::string(word);
  throw std::logic_error("option value without a word");
}

template <class T>
T value_of(const Words<T>& words, const std::string& word) {
  for (const auto& [one, value] : words)
    if (one == word) return value;
  throw std::logic_error("option word without a value: " + word);
}

template <class T>
OptionField with_words(OptionField field, const Words<T>& words) {
  for (const auto& [word, value] : words) field.words.emplace_back(word);
  field.is_switch = std::is_same_v<T, Switch>;
  return field;
}

}  // namespace option_words

/// A field with a fixed set of values.
template <class T>
OptionField one_of(T& field, const Words<std::type_identity_t<T>>& words) {
  namespace w = option_words;
  return w::with_words<T>(
      {[&field, words] { return OptionValue(w::word_of(words, field)); },
       [&field, words](const OptionValue& value) { field = w::value_of(words, std::get<std::string>(value)); }},
      words);
}

inline OptionField on_off(Switch& field) {
  return one_of(field, {{"auto", Switch::automatic}, {"on", Switch::on}, {"off", Switch::off}});
}

/// A list of `min_items` to `max_items` texts.
inline OptionField bounded_list(std::vector<std::string>& field, int min_items, int max_items) {
  OptionField list(field);
  list.min_items = min_items;
  list.max_items = max_items;
  return list;
}

/// A list of values from a fixed set, each at most once.
template <class T>
OptionField some_of(std::vector<T>& field, const Words<std::type_identity_t<T>>& words) {
  namespace w = option_words;
  OptionField some{[&field, words] {
                     std::vector<std::string> list;
                     for (const T& one : field) list.push_back(w::word_of(words, one));
                     return OptionValue(std::move(list));
                   },
                   [&field, words](const OptionValue& value) {
                     field.clear();
                     for (const std::string& word : std::get<std::vector<std::string>>(value))
                       field.push_back(w::value_of(words, word));
                   }};
  some.max_items = static_cast<int>(words.size());
  return w::with_words<T>(std::move(some), words);
}

}  // namespace molgraph

// Reads and writes training options in the format of config.toml.
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "apps/training/options/train_options.hpp"
#include "datasets/log_targets.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Options that version 0.1.0 did not have. A config.toml without them is valid: they have the value that means what
/// that version did.
constexpr std::array<std::string_view, 2> kLaterOptions{"log-targets", "pair-state"};
bool is_later(const std::string& key) { return std::ranges::find(kLaterOptions, key) != kLaterOptions.end(); }

template <class T>
constexpr bool kIsList = std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<double>>;

template <class T>
void insert(toml::table& table, const std::string& key, const T& value) {
  if constexpr (kIsList<T>) {
    toml::array array;
    for (const auto& item : value) array.push_back(item);
    table.insert(key, std::move(array));
  } else {
    table.insert(key, value);
  }
}

/// Returns false if the node has another type.
template <class T>
bool extract(const toml::node& node, T& out) {
  if constexpr (kIsList<T>) {
    const toml::array* array = node.as_array();
    if (!array) return false;
    out.clear();
    for (const auto& item : *array) {
      const auto value = item.value<typename T::value_type>();
      if (!value) return false;
      out.push_back(*value);
    }
    return true;
  } else {
    const auto value = node.value<T>();
    if (value) out = *value;
    return value.has_value();
  }
}

/// Writes all options; if not `all`, without those of kLaterOptions that have their default and without --log-targets,
/// because identity_of() has the chosen targets.
std::string written(const TrainOptions& options, bool all) {
  TrainOptions copy = options, unchanged;
  if (!all) copy.data.log_targets.clear();
  const auto defaults = list_options(unchanged);
  std::ostringstream text;
  std::string group;
  std::size_t k = 0;
  for (const auto& option : list_options(copy)) {
    if (option.field.get() == defaults[k++].field.get() && !all && is_later(option.key())) continue;
    if (option.group != group) {
      text << (group.empty() ? "" : "\n") << "# " << option.group << "\n";
      group = option.group;
    }
    toml::table line;
    std::visit([&](const auto& value) { insert(line, option.key(), value); }, option.field.get());
    text << line << "\n";
  }
  return text.str();
}

}  // namespace

std::string to_toml(const TrainOptions& options) { return written(options, true); }
std::string to_identity(const TrainOptions& options) { return written(options, false); }

TrainOptions train_options_from_toml(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return train_options_from_text(text.str(), path);
}

TrainOptions train_options_from_text(const std::string& text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    std::ostringstream where;
    where << name << ", line " << error.source().begin.line << ": " << error.description();
    throw FileError(where.str());
  }
  TrainOptions options;
  for (const auto& option : list_options(options)) {
    const toml::node* node = table.get(option.key());
    if (!node && option.key() == "log-targets") options.data.log_targets = {kNoLogTargets};  // as in that version
    if (!node && is_later(option.key())) continue;
    if (!node)
      throw FileError(name + ": '" + option.key() +
                      "' is missing; the file is from another version of molgraph, whose runs cannot be resumed");
    OptionValue value = option.field.get();  // has the required type
    if (!std::visit([&](auto& out) { return extract(*node, out); }, value)) {
      throw FileError(name + ": '" + option.key() + "' has a value of the wrong type");
    }
    if (const std::string problem = option.problem(value); !problem.empty())
      throw FileError(name + ": " + option.key() + ": " + problem);
    option.field.set(value);
  }
  return options;
}

}  // namespace molgraph

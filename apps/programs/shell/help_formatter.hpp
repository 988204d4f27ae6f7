// The layout of --help.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace molgraph {

inline constexpr std::size_t kNameColumn = 34;  ///< width of the column of flags
inline constexpr std::size_t kHelpWidth = 110;

/// Flags in the left column; wrapped description and default in the right column.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = "  ";
    const std::string names = is_positional ? option->get_name(true, false) : option->get_name(false, true);
    for (std::size_t at = 0; at < names.size(); ++at) {  // "-u,--urpe,--no-urpe{false}" -> "-u, --urpe, --no-urpe"
      if (names[at] == '{') at = names.find('}', at) + 1;
      if (at < names.size()) name += names[at] == ',' ? ", " : std::string(1, names[at]);
    }
    const bool takes_value = option->get_items_expected_max() > 0;
    const std::string type = option->get_type_name();  // CLI11 appends the allowed values after a colon
    const std::size_t colon = type.find(':');
    if (takes_value && !is_positional) name += " " + type.substr(0, colon);
    if (takes_value && option->get_expected_max() > 1) name += " ...";
    std::string text = option->get_description();
    if (takes_value && colon != std::string::npos) text += " [" + type.substr(colon + 1) + "]";
    if (option->get_required()) {
      text += " [required]";
    } else if (std::string value = option->get_default_str(); !value.empty() && value != "[]") {
      if (value.front() == '[' && value.back() == ']') {
        value = value.substr(1, value.size() - 2);
        std::replace(value.begin(), value.end(), ',', ' ');
      }
      text += " [default: " + value + "]";
    }
    return wrapped(std::move(name), text);
  }

  /// A positional argument in the line "Usage".
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = option->get_name(true, false) + (option->get_expected_max() > 1 ? " ..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }

  /// Prints the group "Common" last.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::vector<std::string> groups = app->get_groups();
    std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != "Common"; });
    std::string out = make_description(app) + "\n" + make_usage(app, std::move(name)) + make_positionals(app);
    for (const std::string& group : groups) {
      const auto options = app->get_options(
          [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
      if (!group.empty() && !options.empty()) out += make_group(group, false, options);
    }
    return out + "\n" + make_footer(app);
  }

 private:
  static std::string wrapped(std::string line, const std::string& text) {
    std::string out;
    if (line.size() + 2 > kNameColumn) {
      out = line + "\n";
      line.clear();
    }
    line.resize(kNameColumn, ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (line.size() + 1 + word.size() > kHelpWidth) {
        out += line + "\n";
        line.assign(kNameColumn, ' ');
      }
      if (line.size() > kNameColumn) line += ' ';
      line += word;
    }
    return out + line + "\n";
  }
};

}  // namespace molgraph

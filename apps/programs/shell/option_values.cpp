#include "apps/programs/shell/option_values.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace molgraph {

CLI::Option* limit(CLI::Option* option, const NumberRange& range) {
  option->check(CLI::Validator([range](std::string& text) { return number_problem(text, range); }, range_text(range)));
  return option->type_name(std::holds_alternative<RealRange>(range) ? "X" : "N");
}

CLI::Option* choose(CLI::Option* option, std::vector<std::string> words) {
  const std::string list = word_list(words);
  option->check(
      CLI::Validator([words = std::move(words)](std::string& text) { return word_problem(text, words); }, list));
  return option->type_name("NAME");
}

}  // namespace molgraph

// Ranges of numbers and lists of words on the command line: checked when it is parsed, shown by --help.
#pragma once

#include <string>
#include <vector>

#include "datasets/system/value_ranges.hpp"

namespace CLI {
class Option;
}

namespace molgraph {

/// Checks the option's values when the command line is parsed, and shows the range in --help.
CLI::Option* limit(CLI::Option* option, const NumberRange& range);
/// The same for words.
CLI::Option* choose(CLI::Option* option, std::vector<std::string> words);

}  // namespace molgraph

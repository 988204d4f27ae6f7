// Number ranges and allowed words of command-line options: checked by the parser and shown by --help.
#pragma once

#include <string>
#include <vector>

#include "datasets/system/value_ranges.hpp"

namespace CLI {
class Option;
}

namespace molgraph {

/// Makes the parser check that the option's values are in `range`, and shows the range in --help.
CLI::Option* limit(CLI::Option* option, const NumberRange& range);
/// The same for a list of allowed words.
CLI::Option* choose(CLI::Option* option, std::vector<std::string> words);

}  // namespace molgraph

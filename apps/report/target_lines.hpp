// The metrics of several targets as text for the terminal.
#pragma once

#include <string>

namespace molgraph {

/// `json`: from targets_json(). A line with the names of the columns, then one for each of the first
/// twenty targets: name, number of labels, metrics. "" for fewer than two targets.
std::string target_lines(const std::string& json);

}  // namespace molgraph

// What a person asks of a run first: what it predicts, from which data, how well, made when and by what.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// From run_card(): six lines, the last of which says how to see more. What the run did not record is said to be so.
std::string run_headline(const nlohmann::ordered_json& card);

}  // namespace molgraph

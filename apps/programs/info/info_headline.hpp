// Short description of a run: targets, data, results, time of training and version.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// `card`: from run_card(). One line per topic. Marks information that the run did not record.
std::string run_headline(const nlohmann::ordered_json& card);

}  // namespace molgraph

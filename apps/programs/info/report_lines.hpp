// Short form of a run's report (report.html) for the terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// `report`: from report_json(). Metrics with confidence intervals, each of several targets, other methods, members,
/// cautions, noise, errors by similarity, coverage and the worst predictions.
std::string report_lines(const nlohmann::ordered_json& report);

}  // namespace molgraph

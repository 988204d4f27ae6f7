// The report of a run in short: what report.html shows, for a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// From report_json(): measures with intervals, other methods, members, noise, errors by similarity, coverage, the
/// worst predictions.
std::string report_lines(const nlohmann::ordered_json& report);

}  // namespace molgraph

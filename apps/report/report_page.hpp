// The report as one HTML file: no script, nothing from a network.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// The whole page.
std::string report_page(const ReportFacts& facts);

/// facts_of_run() -> RUN/report.html, atomic; returns its path. Throws FileError, DataError.
std::string write_report_page(const std::string& folder, int threads = 0);

}  // namespace molgraph

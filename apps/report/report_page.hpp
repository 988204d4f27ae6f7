// The report as a single HTML file without scripts or network access.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// The whole page.
std::string report_page(const ReportFacts& facts);

/// Writes RUN/report.html from facts_of_run() and returns its path. Atomic. Throws FileError, DataError.
std::string write_report_page(const std::string& folder, int threads = 0);

}  // namespace molgraph

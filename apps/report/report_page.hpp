// The report as a single HTML file that needs no network access.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// The whole page.
std::string report_page(const ReportFacts& facts);

/// Writes RUN/report.html and RUN/model_card.md from facts_of_run(). If the predictions were removed (`molgraph-info
/// --strip`), keeps an existing card and updates only its list of files. Returns the path of report.html. Both writes
/// are atomic. Throws FileError, DataError.
std::string write_report(const std::string& folder, int threads = 0);

}  // namespace molgraph

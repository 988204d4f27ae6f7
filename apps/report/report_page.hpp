// The report as a single HTML file that needs no network access.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// The whole page.
std::string report_page(const ReportFacts& facts);

struct WrittenReport {
  std::string path;     ///< of report.html
  std::string targets;  ///< for the terminal: the metrics of several targets; "" = only one
};
/// Writes RUN/report.html and RUN/model_card.md from facts_of_run(). If the predictions were removed (`molgraph-info
/// --strip`), keeps an existing card and updates only its list of files. Both writes are atomic. Throws FileError,
/// DataError.
WrittenReport write_report(const std::string& folder, int threads = 0);

}  // namespace molgraph

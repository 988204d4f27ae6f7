// Reasons to be careful with the metrics and predictions of a run.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

struct Caution {
  std::string text;     ///< sentences without markup; names of targets and methods are not escaped
  const char* section;  ///< id of the section of the report with the details
};

/// The reasons that apply to the run, first those that concern its metrics. docs/reference/report.md lists the checks
/// and their limits. Empty if there is none.
std::vector<Caution> cautions(const ReportFacts& facts);

}  // namespace molgraph

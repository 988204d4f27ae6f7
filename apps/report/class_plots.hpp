// Plots for classification: ROC, precision and recall, reliability, confusion matrix.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

std::string binary_plots(const ReportFacts& facts);
std::string multiclass_plots(const ReportFacts& facts);

}  // namespace molgraph

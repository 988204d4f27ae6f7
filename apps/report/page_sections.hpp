// The sections of the report. Each gives HTML, "" where the facts say nothing of it.
#pragma once

#include <string>
#include <vector>

#include "apps/report/html.hpp"
#include "apps/report/report_facts.hpp"
#include "apps/report/svg_plot.hpp"

namespace molgraph {

/// A plot with its words and, to be opened, its numbers.
std::string figure(const std::string& svg, const std::string& caption, const HtmlTable& table);

/// The measure by which targets and methods are shown: that of the run's own metric where it is one, else the kind's
/// first.
Measure leading_measure(const ReportFacts& facts, TaskKind kind);
/// The leading measure of what the task mostly is.
Measure leading_measure(const ReportFacts& facts);

/// Targets whose plots are shown: all, or of many the best, the middle and the worst of the judged part.
std::vector<std::size_t> shown_targets(const ReportFacts& facts, TaskKind kind);

std::string lead_sentence(const ReportFacts& facts);
std::string data_section(const ReportFacts& facts);
std::string results_section(const ReportFacts& facts);
/// Part of the results: every target of several.
std::string targets_text(const ReportFacts& facts);
std::string learning_section(const ReportFacts& facts);
std::string prediction_section(const ReportFacts& facts);
std::string similarity_section(const ReportFacts& facts);
std::string molecule_section(const ReportFacts& facts);
std::string coverage_section(const ReportFacts& facts);

}  // namespace molgraph

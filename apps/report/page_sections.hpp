// The sections of the report as HTML, "" if the facts contain no data for a section.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/report/html.hpp"
#include "apps/report/report_facts.hpp"
#include "apps/report/svg_plot.hpp"

namespace molgraph {

/// Size of the drawing of a molecule in user units.
inline constexpr int kPictureWidth = 240, kPictureHeight = 170;

/// A plot with its caption and a collapsed table of its values.
std::string figure(const std::string& svg, const std::string& caption, const HtmlTable& table);

/// The metric for comparing the targets of a kind: Spearman's correlation for several regression targets, else the
/// run's own metric if the kind has it, else the kind's first metric.
Measure leading_measure(const ReportFacts& facts, TaskKind kind);
/// The metric for comparing methods: the leading metric of the task's kind (for mixed tasks, of regression). If the run
/// has no value for it on the evaluation set, and it is not that of several regression targets, the kind's first metric
/// with a value.
Measure leading_measure(const ReportFacts& facts);

/// Name and value of each other method for which the metric is defined on the evaluation set.
std::vector<std::pair<std::string, double>> other_methods(const ReportFacts& facts, Measure measure);

/// The split and its sizes as text: "random: 80 training, 10 validation, 10 test".
std::string split_text(const ReportFacts& facts);
/// The partners of the run's blend as text: "trees, gaussian process"; "" = none.
std::string blend_text(const ReportFacts& facts);

/// The targets with plots: all of this kind, or if there are many, the best, the median and the worst on the evaluation
/// set.
std::vector<std::size_t> shown_targets(const ReportFacts& facts, TaskKind kind);
/// The same for `all`, which have this kind.
std::vector<std::size_t> shown_targets(const ReportFacts& facts, TaskKind kind, std::vector<std::size_t> all);

std::string lead_sentence(const ReportFacts& facts);
std::string data_section(const ReportFacts& facts);
std::string results_section(const ReportFacts& facts);
/// Part of the results: one row per target, if there are several.
std::string targets_text(const ReportFacts& facts);
std::string learning_section(const ReportFacts& facts);
std::string prediction_section(const ReportFacts& facts);
std::string similarity_section(const ReportFacts& facts);
std::string molecule_section(const ReportFacts& facts);
std::string coverage_section(const ReportFacts& facts);

}  // namespace molgraph

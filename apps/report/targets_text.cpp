#include <algorithm>
#include <cmath>

#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxExpandedRows = 12, kRowsShown = 300;

const Estimate& value_of(const Measured& part, std::size_t target, Measure measure) {
  return part.targets[target][static_cast<std::size_t>(measure)];
}

/// Targets of a kind for which the metric is defined, the best first.
std::vector<std::size_t> by_measure(const ReportFacts& facts, const Measured& part, TaskKind kind, Measure measure) {
  std::vector<std::size_t> targets;
  for (std::size_t t = 0; t < part.targets.size(); ++t)
    if (facts.task.kind_of(t) == kind && std::isfinite(value_of(part, t, measure).value)) targets.push_back(t);
  std::ranges::stable_sort(targets, [&](std::size_t a, std::size_t b) {
    const double x = value_of(part, a, measure).value, y = value_of(part, b, measure).value;
    return larger_is_better(measure) ? x > y : x < y;
  });
  return targets;
}

/// All targets from the best to the worst, with their intervals.
std::string targets_figure(const ReportFacts& facts, const Measured& part, TaskKind kind) {
  const Measure measure = leading_measure(facts, kind);
  const std::vector<std::size_t> targets = by_measure(facts, part, kind, measure);
  if (targets.size() < 3) return {};
  double low = INFINITY, high = -INFINITY;
  std::vector<PlotPoint> points;
  std::vector<PlotBar> bars;
  for (const std::size_t t : targets) {
    const Estimate& value = value_of(part, t, measure);
    const auto at = static_cast<double>(points.size() + 1);
    points.push_back({at, value.value});
    if (std::isfinite(value.low)) bars.push_back({at, value.low, value.high});
    for (const double y : {value.value, value.low, value.high})
      if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
  }
  const std::string title = std::string(title_of(measure)) + " by target, " + kSetNames[facts.judged_part()] + " set";
  SvgPlot plot("targets-" + std::string(to_string(kind)), title, "From the best to the worst, as named in the table.",
               PlotAxis::nice("targets, from the best to the worst", 0, static_cast<double>(points.size() + 1)),
               PlotAxis::nice(std::string(title_of(measure)), low, high));
  plot.bars(bars, 1);
  plot.dots(points, 1);
  const std::string best = escaped(cut_short(facts.task.names[targets.front()], 60)),
                    worst = escaped(cut_short(facts.task.names[targets.back()], 60));
  return figure(plot.svg(), "Best: " + best + "; worst: " + worst + ".", {});
}

HtmlTable targets_table(const ReportFacts& facts, const Measured& part) {
  const bool has_binary = facts.task.has(TaskKind::binary);
  HtmlTable table{.caption = "All targets, " + std::string(kSetNames[facts.judged_part()]) + " set",
                  .head = {"Target", "Labels"},
                  .sortable = true};
  if (has_binary) table.head.emplace_back("of class 1");
  const std::vector<Measure> shown = measures_of(facts.task);
  for (const Measure measure : shown) table.head.emplace_back(title_of(measure));
  for (std::size_t t = 0; t < std::min(part.targets.size(), kRowsShown); ++t) {
    table.rows.push_back({escaped(cut_short(facts.task.names[t], 80)), with_thousands(part.labels[t])});
    if (has_binary)
      table.rows.back().push_back(facts.task.kind_of(t) == TaskKind::binary ? with_thousands(part.positives[t])
                                                                            : "&ndash;");
    for (const Measure measure : shown) table.rows.back().push_back(estimate_html(value_of(part, t, measure)));
  }
  return table;
}

}  // namespace

std::string targets_text(const ReportFacts& facts) {
  const auto& judged = facts.methods.front().parts[facts.judged_part()];
  if (!judged || judged->targets.size() < 2) return {};
  std::string plots;
  for (const TaskKind kind : {TaskKind::regression, TaskKind::binary})
    if (facts.task.has(kind)) plots += targets_figure(facts, *judged, kind);
  const HtmlTable table = targets_table(facts, *judged);
  std::string out = "<h3>All targets</h3>\n" + (plots.empty() ? "" : "<div class=\"plots\">" + plots + "</div>\n");
  out +=
      table.rows.size() <= kMaxExpandedRows
          ? table.html()
          : details("All " + with_thousands(static_cast<std::int64_t>(table.rows.size())) + " targets", table.html());
  if (judged->targets.size() > kRowsShown)
    out += "<p class=\"quiet\">" + with_thousands(static_cast<std::int64_t>(judged->targets.size() - kRowsShown)) +
           " more in <code>molgraph-info RUN --json</code>.</p>\n";
  return out;
}

}  // namespace molgraph

#include <algorithm>
#include <cmath>

#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kPointsShown = 400, kCurvesShown = 10, kRowsShown = 40;

/// Indices of the points to draw: all, or if there are too many, every n-th, the last and the best.
std::vector<std::size_t> shown_points(std::size_t count, std::ptrdiff_t best, std::size_t max_points) {
  std::vector<std::size_t> indices;
  const std::size_t step = std::max<std::size_t>(1, (count + max_points - 1) / max_points);
  for (std::size_t k = 0; k < count; k += step) indices.push_back(k);
  if (count > 0 && indices.back() != count - 1) indices.push_back(count - 1);
  const auto at = static_cast<std::size_t>(best);
  if (best >= 0 && !std::ranges::binary_search(indices, at)) indices.insert(std::ranges::upper_bound(indices, at), at);
  return indices;
}

using CurveValues = std::vector<double> LearningCurve::*;

std::string curve_figure(const ReportFacts& facts, CurveValues values, const std::string& id, const std::string& label,
                         bool with_best) {
  double low = INFINITY, high = -INFINITY, last = 1;
  const std::size_t shown = std::min(facts.curves.size(), kCurvesShown);
  for (std::size_t c = 0; c < shown; ++c) {
    for (const double value : facts.curves[c].*values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    last = std::max(last, facts.curves[c].epoch.back());
  }
  if (!std::isfinite(low)) return {};
  SvgPlot plot(id, label + " by epoch", "One line per model; the values are in the table below the plot.",
               PlotAxis::nice("epoch", 0, last), PlotAxis::nice(label, low, high));
  std::vector<PlotPoint> best;
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < shown; ++c) {
    const LearningCurve& curve = facts.curves[c];
    std::vector<PlotPoint> points;
    for (const std::size_t k : shown_points(curve.epoch.size(), curve.best, kPointsShown))
      points.push_back({curve.epoch[k], (curve.*values)[k]});
    if (points.size() == 1) plot.dots(points, 1);
    plot.line(points, shown > 1 ? static_cast<int>(c % 4) + 1 : 1, shown > 1 && shown <= 4 ? curve.name : "");
    if (!with_best || curve.best < 0) continue;
    const auto at = static_cast<std::size_t>(curve.best);
    best.push_back({curve.epoch[at], (curve.*values)[at]});
    titles.push_back((curve.name.empty() ? "" : curve.name + ": ") + text("best epoch %.0f, ", curve.epoch[at]) +
                     sensible_number((curve.*values)[at]));
  }
  plot.marks(best, titles, 2, best.empty() ? "" : shown > 1 ? "best epochs" : titles.front());

  const LearningCurve& first = facts.curves.front();
  HtmlTable table{.caption = escaped(label) + (first.name.empty() ? "" : " of " + escaped(first.name)),
                  .head = {"Epoch", escaped(label)}};
  for (const std::size_t k : shown_points(first.epoch.size(), first.best, kRowsShown))
    table.rows.push_back(
        {text("%.0f", first.epoch[k]) + (with_best && static_cast<std::ptrdiff_t>(k) == first.best ? " (best)" : ""),
         number_html((first.*values)[k])});
  return figure(plot.svg(), with_best ? "The best epoch determines the final weights." : "", table);
}

}  // namespace

std::string learning_section(const ReportFacts& facts) {
  if (facts.curves.empty()) return {};
  const LearningCurve& first = facts.curves.front();
  std::string out = "<div class=\"plots\">" +
                    curve_figure(facts, &LearningCurve::value, "validation", "validation " + first.metric, true) +
                    curve_figure(facts, &LearningCurve::loss, "loss", "training loss", false) + "</div>\n";
  if (facts.curves.size() > kCurvesShown)
    out += "<p class=\"quiet\">The first " + std::to_string(kCurvesShown) + " of " +
           std::to_string(facts.curves.size()) + " models.</p>\n";
  return out;
}

}  // namespace molgraph

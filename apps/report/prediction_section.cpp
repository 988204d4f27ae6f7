#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/report/class_plots.hpp"
#include "apps/report/judged_errors.hpp"
#include "apps/report/page_sections.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/smiles/drawing.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kDotsShown = 2000;
constexpr std::size_t kDrawingBytes = 1'200'000;  ///< of the report's 2 MB, with kHoverBytes for each dot
constexpr std::size_t kHoverBytes = 250;
constexpr std::size_t kGroups = 10;  ///< rows of the table below a parity plot

/// Rows with a label and a prediction, at most `most`, drawn with a fixed seed.
std::vector<std::size_t> labelled_rows(const PartRows& rows, std::size_t targets, std::size_t target,
                                       std::int64_t max_rows) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (std::isfinite(rows.labels[i * targets + target]) && std::isfinite(rows.predictions[i * targets + target]))
      all.push_back(static_cast<std::int64_t>(i));
  const std::vector<std::int64_t> some = sample(all, max_rows, 0);
  return {some.begin(), some.end()};
}

/// Groups of equal size in ascending order of prediction, with their labels and errors.
HtmlTable parity_table(const PartRows& rows, std::size_t targets, std::size_t t) {
  std::vector<std::size_t> all = labelled_rows(rows, targets, t, static_cast<std::int64_t>(rows.size()));
  const auto prediction = [&](std::size_t i) { return rows.predictions[i * targets + t]; };
  std::ranges::stable_sort(all, [&](std::size_t a, std::size_t b) { return prediction(a) < prediction(b); });
  HtmlTable table{
      .caption = "Molecules ordered by prediction, in groups of equal size; single molecules: test_predictions.csv",
      .head = {"Predicted", "Molecules", "Mean prediction", "Mean label", "MAE"}};
  const std::size_t groups = std::min(kGroups, all.size());
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t begin = g * all.size() / groups, end = (g + 1) * all.size() / groups;
    double predicted = 0, label = 0, absolute_error = 0;
    const auto n = static_cast<double>(end - begin);
    for (std::size_t k = begin; k < end; ++k) {
      const double y = rows.labels[all[k] * targets + t];
      predicted += prediction(all[k]) / n, label += y / n, absolute_error += std::abs(prediction(all[k]) - y) / n;
    }
    table.rows.push_back({number_html(prediction(all[begin])) + " to " + number_html(prediction(all[end - 1])),
                          with_thousands(static_cast<std::int64_t>(end - begin)), number_html(predicted),
                          number_html(label), number_html(absolute_error)});
  }
  return table;
}

/// A parity plot's target and the molecules that it shows.
struct Parity {
  std::size_t target;
  std::vector<std::size_t> rows;
};

std::vector<Parity> parities_of(const ReportFacts& facts) {
  std::vector<Parity> all;
  for (const std::size_t t : shown_targets(facts, TaskKind::regression))
    if (Parity one{t, labelled_rows(facts.judged(), facts.task.names.size(), t, kDotsShown)}; !one.rows.empty())
      all.push_back(std::move(one));
  return all;
}

/// The drawings that appear over the dots of the parity plots, as many as fit into kDrawingBytes: in turn the largest
/// remaining error of each plot.
class DotDrawings {
 public:
  DotDrawings(const ReportFacts& facts, const std::vector<Parity>& parities) : drawn_(facts.judged().size()) {
    const PartRows& rows = facts.judged();
    const std::size_t targets = facts.task.names.size();
    std::vector<std::size_t> dots(rows.size());
    std::vector<std::vector<std::size_t>> by_error;
    std::size_t most = 0;
    for (const Parity& parity : parities) {
      by_error.push_back(parity.rows);
      std::erase_if(by_error.back(), [&](std::size_t row) { return !may_show(facts, row); });
      const auto error = [&](std::size_t row) {
        return std::abs(rows.labels[row * targets + parity.target] - rows.predictions[row * targets + parity.target]);
      };
      std::ranges::stable_sort(by_error.back(), std::greater<>(), error);
      for (const std::size_t row : by_error.back()) ++dots[row];
      most = std::max(most, by_error.back().size());
    }
    std::vector<bool> tried(rows.size());
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < most; ++k)
      for (const std::vector<std::size_t>& plot : by_error) {
        if (k >= plot.size() || tried[plot[k]]) continue;
        const std::size_t row = plot[k];
        tried[row] = true;
        const std::string svg = draw_molecule_svg(rows.smiles[row], kPictureWidth, kPictureHeight);
        if (svg.empty()) continue;
        const std::string drawing = hover_drawing(id_of(row), svg, rows.id[row]);
        bytes += drawing.size() + dots[row] * kHoverBytes;
        if (bytes > kDrawingBytes) return;
        definitions_ += drawing;
        drawn_[row] = true;
      }
  }

  bool contains(std::size_t row) const { return drawn_[row]; }
  static std::string id_of(std::size_t row) { return "molecule-" + std::to_string(row); }
  std::string html() const {
    return definitions_.empty()
               ? ""
               : "<svg class=\"hidden\" aria-hidden=\"true\"><defs>\n" + definitions_ + "</defs></svg>\n";
  }

 private:
  std::vector<bool> drawn_;  ///< [n]
  std::string definitions_;
};

std::string parity_figure(const ReportFacts& facts, const Parity& parity, const DotDrawings& drawings) {
  const PartRows& rows = facts.judged();
  const std::size_t targets = facts.task.names.size(), t = parity.target;
  const std::vector<std::size_t>& shown = parity.rows;
  std::vector<PlotPoint> points;
  std::vector<PlotBar> bars;
  std::vector<SvgPlot::Hover> hovers;
  double low = INFINITY, high = -INFINITY;
  const auto in_table_unit = [&](double value) { return sensible_number(facts.task.in_table_unit(t, value)); };
  for (const std::size_t i : shown) {
    const std::size_t at = i * targets + t;
    if (drawings.contains(i))
      hovers.push_back(
          {{rows.labels[at], rows.predictions[at]},
           DotDrawings::id_of(i),
           {"label " + in_table_unit(rows.labels[at]), "prediction " + in_table_unit(rows.predictions[at])}});
    points.push_back({rows.labels[at], rows.predictions[at]});
    for (const double value : {rows.labels[at], rows.predictions[at]})
      low = std::min(low, value), high = std::max(high, value);
    if (!rows.low.empty() && std::isfinite(rows.low[at]))
      bars.push_back({rows.labels[at], rows.low[at], rows.high[at]});
  }
  const std::string name = cut_short(facts.task.names[t], 60), unit = facts.task.model_unit(t);
  const std::string unit_suffix = unit.empty() ? "" : " [" + unit + "]";
  // Both axes have the same range, so that the identity is the diagonal.
  SvgPlot plot("parity-" + std::to_string(t),
               name + ": predicted against measured, " + kSetNames[facts.judged_part()] + " set",
               "Each dot is a molecule; on the dashed line, prediction and label are equal.",
               PlotAxis::nice("label: " + name + unit_suffix, low, high),
               PlotAxis::nice("prediction" + unit_suffix, low, high), true);
  plot.bars(bars, 4);
  const PlotAxis range = PlotAxis::nice("", low, high);
  plot.guide({range.low, range.low}, {range.high, range.high}, "prediction = label");
  plot.dots(points, 1, "molecule");
  plot.hovers(hovers);
  std::string caption = escaped(name) + ", " + kSetNames[facts.judged_part()] + " set, " +
                        counted(std::ssize(shown), "molecule", "molecules");
  if (static_cast<std::int64_t>(shown.size()) == kDotsShown) caption += " (random sample)";
  if (!bars.empty()) caption += "; bars: 90&nbsp;% intervals";
  if (!hovers.empty()) caption += "; point at a dot to see the molecule";
  if (!hovers.empty() && hovers.size() < shown.size())
    caption += " (drawn for " + with_thousands(std::ssize(hovers)) + ", those with the largest errors)";
  return figure(plot.svg(), caption + ".", parity_table(rows, targets, t));
}

}  // namespace

std::string prediction_section(const ReportFacts& facts) {
  const PartRows& rows = facts.judged();
  if (rows.size() == 0) return {};
  const std::vector<Parity> parities = parities_of(facts);
  const DotDrawings drawings(facts, parities);
  std::string plots;
  for (const Parity& parity : parities) plots += parity_figure(facts, parity, drawings);
  std::string out = plots.empty() ? "" : drawings.html() + "<div class=\"plots\">" + plots + "</div>\n";
  if (facts.task.has(TaskKind::binary)) out += binary_plots(facts);
  if (facts.task.kind == TaskKind::multiclass) out += multiclass_plots(facts);
  const std::size_t targets = facts.task.names.size();
  if (!out.empty() && targets > 4)
    out = "<p class=\"quiet\">Of " + with_thousands(static_cast<std::int64_t>(targets)) +
          " targets, the best, the median and the worst by the metric above are shown.</p>\n" + out;
  return out;
}

std::string coverage_section(const ReportFacts& facts) {
  if (facts.coverage.empty()) return {};
  std::vector<std::size_t> covered;
  for (const Coverage& one : facts.coverage)
    if (std::ranges::find(covered, one.target) == covered.end()) covered.push_back(one.target);
  SvgPlot plot("cover", "Share of test labels inside the intervals, by their level",
               "If coverage equals the level, the line is on the dashed line.",
               PlotAxis::nice("level of the interval", 0.4, 1), PlotAxis::nice("labels inside", 0, 1));
  plot.guide({0.4, 0.4}, {1, 1}, "coverage = level");
  HtmlTable table{.caption = "Intervals on the test set", .head = {"Level", "Labels inside", "Mean width", "Labels"}};
  const bool several = facts.task.names.size() > 1;
  if (!several && facts.task.is_logarithmic(0)) table.head[2] += " of " + escaped(facts.task.model_name(0));
  int style = 0;
  for (const std::size_t t : shown_targets(facts, TaskKind::regression, covered)) {
    std::vector<PlotPoint> points;
    std::vector<PlotBar> bars;
    const std::string name = cut_short(facts.task.model_name(t), 40);
    for (const Coverage& one : facts.coverage) {
      if (one.target != t) continue;
      const Estimate share = wilson(one.hits, one.labels);
      points.push_back({one.level, one.covered});
      bars.push_back({one.level, share.low, share.high});
      table.rows.push_back({(several ? escaped(name) + ", " : "") + text("%.0f&nbsp;%%", 100 * one.level),
                            number_html(one.covered) + " <span class=\"range\">" + number_html(share.low) + " to " +
                                number_html(share.high) + "</span>",
                            number_html(one.width), with_thousands(one.labels)});
    }
    ++style;
    plot.bars(bars, style);
    plot.line(points, style, several ? name : "this run");
    plot.dots(points, style);
  }
  return "<div class=\"plots\">" +
         figure(plot.svg(),
                "Bars: 95&nbsp;% intervals of the share (Wilson 1927). Intervals: docs/reference/uncertainty.md.", {}) +
         "</div>\n" + table.html();
}

}  // namespace molgraph

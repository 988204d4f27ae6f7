#include <algorithm>
#include <cmath>

#include "apps/report/judged_errors.hpp"
#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/smiles/drawing.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kWorst = 10;

std::string similarity_figure(const ReportFacts& facts, bool regression) {
  const std::vector<SimilarityBin> bins = similarity_bins(facts, regression);
  if (bins.empty()) return {};
  const bool single = facts.task.names.size() == 1;
  const std::string of_model = facts.task.model_unit(0),
                    unit = single && !of_model.empty() ? " [" + of_model + "]" : "";
  const std::string what = !regression ? "1 - probability of the label"
                           : single    ? "mean error" + unit
                                       : "mean error, in standard deviations";
  HtmlTable table{.caption = "Error by similarity to the training set",
                  .head = {"Similarity", "Molecules", "Labels", "Mean error"}};
  std::vector<PlotPoint> points;
  std::vector<PlotBar> bars;
  std::vector<std::string> counts;
  double high = 0;
  for (const SimilarityBin& bin : bins) {
    const double at = (bin.low + bin.high) / 2;
    if (std::isfinite(bin.mean.high)) bars.push_back({at, bin.mean.low, bin.mean.high});
    points.push_back({at, bin.mean.value});
    counts.push_back(with_thousands(bin.molecules));
    high = std::max({high, bin.mean.value, std::isfinite(bin.mean.high) ? bin.mean.high : 0});
    table.rows.push_back(
        {text("%.1f to %.1f", bin.low, bin.high), counts.back(), with_thousands(bin.labels), estimate_html(bin.mean)});
  }
  SvgPlot plot(
      regression ? "far" : "far-classes", "Error against similarity to the training set",
      "Mean error of the molecules by similarity to the most similar training molecule, with their number above.",
      PlotAxis::shares("similarity to the most similar training molecule"), PlotAxis::nice(what, 0, high * 1.12));
  plot.bars(bars, 1);
  plot.line(points, 1);
  plot.dots(points, 1);
  for (std::size_t k = 0; k < points.size(); ++k) plot.note({points[k].x, high * 1.1}, counts[k]);
  return figure(plot.svg(),
                "Bars: 95&nbsp;% intervals of the mean. Small numbers: molecules in the bin. Similarity: Tanimoto "
                "coefficient of count-based Morgan fingerprints, compared with " +
                    with_thousands(facts.compared) + " training molecules.",
                table);
}

/// The drawing of a molecule, if possible, and its SMILES.
std::string picture(const std::string& smiles) {
  const std::string svg = draw_molecule_svg(smiles, kPictureWidth, kPictureHeight);
  return "<div class=\"molecule\">" + (svg.empty() ? "" : svg) + "<code>" + escaped(cut_short(smiles, 120)) +
         "</code></div>";
}

std::string entry(const std::string& name, const std::string& html) {
  return "<dt>" + name + "</dt><dd>" + html + "</dd>";
}

/// `value` in the unit of the table.
std::string value_html(const ReportFacts& facts, std::size_t t, double value) {
  if (facts.task.kind_of(t) == TaskKind::regression) return number_html(value);
  return escaped(cut_short(facts.task.class_name(static_cast<std::size_t>(value)), 60));
}

/// The most similar training molecule, for runs that store the names of their training molecules.
std::string nearest_html(const ReportFacts& facts, const NearestTraining::Found& nearest, std::size_t t) {
  const double label = nearest.values[t];
  return "<p class=\"quiet\">Most similar training molecule</p>" + picture(nearest.smiles) + "<dl>" +
         entry("id", escaped(cut_short(nearest.id, 60))) + entry("similarity", text("%.2f", nearest.similarity)) +
         entry("label", std::isnan(label) ? "none" : value_html(facts, t, label)) + "</dl>";
}

std::string worst_card(const ReportFacts& facts, const LabelError& error) {
  const PartRows& rows = facts.judged();
  const std::size_t targets = facts.task.names.size(), at = error.row * targets + error.target;
  std::string list = entry("id", escaped(cut_short(rows.id[error.row], 60)));
  if (targets > 1) list += entry("target", escaped(cut_short(facts.task.names[error.target], 60)));
  const auto of_table = [&](double value) { return facts.task.in_table_unit(error.target, value); };
  list += entry("label", value_html(facts, error.target, of_table(rows.labels[at])));
  const bool is_regression = facts.task.kind_of(error.target) == TaskKind::regression;
  const double predicted = prediction_of(facts, rows, error.row, error.target);
  const std::string positive = cut_short(facts.task.positive_label(), 60);
  list += entry(is_regression ? "prediction"
                : facts.task.kind_of(error.target) == TaskKind::binary
                    ? "probability of " + (positive.empty() ? "1" : escaped(positive))
                    : "probability of the label",
                number_html(of_table(predicted)));
  if (is_regression && !rows.low.empty() && std::isfinite(rows.low[at]))
    list += entry("90&nbsp;% interval",
                  number_html(of_table(rows.low[at])) + " to " + number_html(of_table(rows.high[at])));
  const auto nearest = facts.training ? facts.training->find(rows.smiles[error.row]) : std::nullopt;
  if (!nearest && !rows.similarity.empty() && std::isfinite(rows.similarity[error.row]))
    list += entry("nearest training molecule", text("similarity %.2f", rows.similarity[error.row]));
  return "<li class=\"card\">" + picture(rows.smiles[error.row]) + "<dl>" + list + "</dl>" +
         (nearest ? nearest_html(facts, *nearest, error.target) : "") + "</li>\n";
}

std::string worst_predictions(const ReportFacts& facts) {
  std::string cards;
  for (const LabelError& error : worst_errors(facts, kWorst)) cards += worst_card(facts, error);
  if (cards.empty()) return {};
  return "<h3>Worst predictions on the " + std::string(kSetNames[facts.judged_part()]) +
         " set</h3>\n<p class=\"quiet\">Ordered by error: for regression, in standard deviations of the target's "
         "labels; for classification, 1 - probability of the label.</p>\n<ul class=\"cards\">" +
         cards + "</ul>\n";
}

std::string twin_side(const ReportFacts& facts, std::size_t part, std::size_t row, std::size_t t) {
  const PartRows& rows = part == 1 ? facts.valid : facts.test;
  const std::size_t at = row * facts.task.names.size() + t;
  return "<div>" + picture(rows.smiles[row]) + "<dl>" + entry("id", escaped(cut_short(rows.id[row], 60))) +
         entry("set", kSetNames[part]) +
         entry("label", value_html(facts, t, facts.task.in_table_unit(t, rows.labels[at]))) +
         entry(facts.task.kind_of(t) == TaskKind::regression ? "prediction" : "probability",
               number_html(facts.task.in_table_unit(t, prediction_of(facts, rows, row, t)))) +
         "</dl></div>";
}

std::string twin_cards(const ReportFacts& facts) {
  if (facts.twins.empty()) return {};
  std::string cards;
  for (const Twins& pair : facts.twins)
    cards += "<li class=\"card\"><p>" +
             (facts.task.names.size() > 1 ? escaped(cut_short(facts.task.names[pair.target], 60)) + ", " : "") +
             text("similarity %.2f", pair.similarity) + "</p><div class=\"two\">" +
             twin_side(facts, pair.part_a, pair.row_a, pair.target) +
             twin_side(facts, pair.part_b, pair.row_b, pair.target) + "</div></li>\n";
  return "<h3>Near twins with different labels</h3>\n<p class=\"quiet\">Activity cliffs or measurement errors: pairs "
         "of validation and test molecules with a similarity of at least 0.7 whose labels differ the most.</p>\n<ul "
         "class=\"cards pairs\">" +
         cards + "</ul>\n";
}

}  // namespace

std::string similarity_section(const ReportFacts& facts) {
  if (facts.judged().similarity.empty()) return {};
  std::string plots;
  if (facts.task.has(TaskKind::regression)) plots += similarity_figure(facts, true);
  if (facts.task.kind != TaskKind::regression) plots += similarity_figure(facts, false);
  return plots.empty() ? "" : "<div class=\"plots\">" + plots + "</div>\n";
}

std::string molecule_section(const ReportFacts& facts) { return worst_predictions(facts) + twin_cards(facts); }

}  // namespace molgraph

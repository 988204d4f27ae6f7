#include "apps/report/class_plots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kBins = 10, kPointsShown = 300, kRowsShown = 21, kClassesShown = 20;

/// A predicted probability, and whether the predicted event is true.
struct Predicted {
  double probability;
  bool positive;
};

/// For a binary target, in descending order of probability.
std::vector<Predicted> predicted_of(const ReportFacts& facts, std::size_t t) {
  const PartRows& rows = facts.judged();
  const std::size_t targets = facts.task.names.size();
  std::vector<Predicted> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double label = rows.labels[i * targets + t], predicted = rows.predictions[i * targets + t];
    if (std::isfinite(label) && std::isfinite(predicted)) all.push_back({predicted, label > 0.5});
  }
  std::ranges::stable_sort(all, [](const Predicted& a, const Predicted& b) { return a.probability > b.probability; });
  return all;
}

struct Threshold {
  double probability, false_positive_rate, recall, precision;
};

/// One per distinct probability, from the highest. Both classes must be present.
std::vector<Threshold> thresholds_of(const std::vector<Predicted>& predicted) {
  const auto positives = static_cast<double>(std::ranges::count_if(predicted, &Predicted::positive));
  const double negatives = static_cast<double>(predicted.size()) - positives;
  std::vector<Threshold> all{{1, 0, 0, 1}};
  double true_positives = 0, false_positives = 0;
  for (std::size_t k = 0; k < predicted.size(); ++k) {
    (predicted[k].positive ? true_positives : false_positives) += 1;
    if (k + 1 < predicted.size() && predicted[k + 1].probability == predicted[k].probability) continue;
    all.push_back({predicted[k].probability, false_positives / negatives, true_positives / positives,
                   true_positives / (true_positives + false_positives)});
  }
  if (all.size() > 1) all.front().precision = all[1].precision;
  return all;
}

bool has_both_classes(const std::vector<Predicted>& predicted) {
  const auto positives = static_cast<std::size_t>(std::ranges::count_if(predicted, &Predicted::positive));
  return positives > 0 && positives < predicted.size();
}

template <class T>
std::vector<T> thinned(const std::vector<T>& all, std::size_t max_count) {
  if (all.size() <= max_count) return all;
  std::vector<T> kept;
  for (std::size_t k = 0; k < max_count; ++k) kept.push_back(all[k * (all.size() - 1) / (max_count - 1)]);
  return kept;
}

struct Bin {
  double predicted = 0;
  std::int64_t positive = 0, count = 0;
};

/// Ten bins of equal width, as for the expected calibration error.
std::array<Bin, kBins> bins_of(const std::vector<Predicted>& predicted) {
  std::array<Bin, kBins> bins{};
  for (const Predicted& one : predicted) {
    Bin& bin = bins[std::min(static_cast<std::size_t>(std::max(0.0, one.probability) * kBins), kBins - 1)];
    bin.predicted += one.probability;
    bin.positive += one.positive;
    ++bin.count;
  }
  return bins;
}

/// One target of a plot.
struct ShownTarget {
  std::string name;  ///< of the target, "" if there is only one
  std::vector<Predicted> predicted;
};

std::string curve_figure(const std::vector<ShownTarget>& shown, const std::string& part, bool roc) {
  SvgPlot plot(roc ? "roc" : "pr", (roc ? "ROC curve, " : "Precision-recall curve, ") + part + " set",
               roc ? "True positive rate against false positive rate at all thresholds; dashed line: random guessing."
                   : "Precision against recall at all thresholds.",
               PlotAxis::shares(roc ? "false positive rate" : "recall"),
               PlotAxis::shares(roc ? "true positive rate" : "precision"), true);
  if (roc) plot.guide({0, 0}, {1, 1}, "random guessing");
  HtmlTable table{
      .caption = roc ? "Points of the ROC curve" : "Points of the precision-recall curve",
      .head = roc ? std::vector<std::string>{"Probability at least", "False positive rate", "True positive rate"}
                  : std::vector<std::string>{"Probability at least", "Recall", "Precision"}};
  int style = 0;
  for (const ShownTarget& one : shown) {
    if (!has_both_classes(one.predicted)) continue;
    const std::vector<Threshold> all = thresholds_of(one.predicted);
    std::vector<PlotPoint> points;
    for (const Threshold& at : thinned(all, kPointsShown))
      points.push_back(roc ? PlotPoint{at.false_positive_rate, at.recall} : PlotPoint{at.recall, at.precision});
    plot.line(points, ++style, one.name.empty() && roc ? "this run" : one.name);
    for (const Threshold& at : thinned(all, kRowsShown))
      table.rows.push_back({(one.name.empty() ? "" : escaped(one.name) + ", ") + number_html(at.probability),
                            number_html(roc ? at.false_positive_rate : at.recall),
                            number_html(roc ? at.recall : at.precision)});
    if (roc) continue;
    const double share = static_cast<double>(std::ranges::count_if(one.predicted, &Predicted::positive)) /
                         static_cast<double>(one.predicted.size());
    plot.guide({0, share}, {1, share}, style == 1 ? "share of positives" : "");
  }
  if (style == 0) return {};
  return figure(plot.svg(), roc ? "ROC curve." : "Precision-recall curve; dashed: random guessing.", table);
}

std::string reliability_figure(const std::vector<ShownTarget>& shown, const std::string& part,
                               const std::string& what) {
  SvgPlot plot("reliability", "Reliability, " + part + " set",
               "Observed share against predicted probability; on the dashed line, both are equal.",
               PlotAxis::shares("predicted probability"), PlotAxis::shares("share that " + what), true);
  plot.guide({0, 0}, {1, 1}, "predicted = observed");
  HtmlTable table{.caption = "Molecules by predicted probability",
                  .head = {"Mean probability", "Molecules", "Share that " + escaped(what)}};
  int style = 0;
  for (const ShownTarget& one : shown) {
    std::vector<PlotPoint> points;
    std::vector<PlotBar> bars;
    for (const Bin& bin : bins_of(one.predicted)) {
      if (bin.count == 0) continue;
      const Estimate share = wilson(bin.positive, bin.count);
      const double predicted = bin.predicted / static_cast<double>(bin.count);
      points.push_back({predicted, share.value});
      bars.push_back({predicted, share.low, share.high});
      table.rows.push_back({(one.name.empty() ? "" : escaped(one.name) + ", ") + number_html(predicted),
                            with_thousands(bin.count), estimate_html(share)});
    }
    if (points.empty()) continue;
    plot.bars(bars, ++style);
    plot.line(points, style, one.name.empty() ? "this run" : one.name);
    plot.dots(points, style);
  }
  if (style == 0) return {};
  return figure(plot.svg(), "Reliability; bars: 95&nbsp;% intervals of the share (Wilson 1927).", table);
}

std::vector<Predicted> top_class_predictions(const ReportFacts& facts, std::size_t t) {
  const PartRows& rows = facts.judged();
  const auto classes = static_cast<std::size_t>(facts.task.classes);
  const std::size_t targets = facts.task.names.size();
  std::vector<Predicted> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double label = rows.labels[i * targets + t];
    const double* row = rows.predictions.data() + (i * targets + t) * classes;
    if (!std::isfinite(label) || !std::all_of(row, row + classes, [](double p) { return std::isfinite(p); })) continue;
    const double* best = std::max_element(row, row + classes);
    all.push_back({*best, static_cast<double>(best - row) == label});
  }
  return all;
}

std::string class_name(const Task& task, std::size_t c) { return escaped(cut_short(task.class_name(c), 40)); }

std::string confusion_table(const ReportFacts& facts, std::size_t t) {
  const PartRows& rows = facts.judged();
  const auto classes = static_cast<std::size_t>(facts.task.classes);
  if (classes > kClassesShown) return {};
  const std::size_t targets = facts.task.names.size();
  std::vector<std::int64_t> count(classes * classes);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double label = rows.labels[i * targets + t];
    const double* row = rows.predictions.data() + (i * targets + t) * classes;
    if (std::isfinite(label))
      ++count[static_cast<std::size_t>(label) * classes +
              static_cast<std::size_t>(std::max_element(row, row + classes) - row)];
  }
  HtmlTable table{.caption = escaped(cut_short(facts.task.names[t], 60)) + ": rows are labels, columns are predictions",
                  .head = {"Label"}};
  for (std::size_t c = 0; c < classes; ++c) table.head.push_back(class_name(facts.task, c));
  for (std::size_t c = 0; c < classes; ++c) {
    table.rows.push_back({class_name(facts.task, c)});
    for (std::size_t predicted = 0; predicted < classes; ++predicted)
      table.rows.back().push_back(with_thousands(count[c * classes + predicted]));
  }
  return table.html();
}

std::vector<ShownTarget> shown_of(const ReportFacts& facts, TaskKind kind,
                                  const std::function<std::vector<Predicted>(std::size_t)>& predicted) {
  std::vector<ShownTarget> shown;
  for (const std::size_t t : shown_targets(facts, kind))
    shown.push_back({facts.task.names.size() > 1 ? cut_short(facts.task.names[t], 40) : "", predicted(t)});
  return shown;
}

}  // namespace

std::string binary_plots(const ReportFacts& facts) {
  const std::vector<ShownTarget> shown =
      shown_of(facts, TaskKind::binary, [&](std::size_t t) { return predicted_of(facts, t); });
  const std::string part = kSetNames[facts.judged_part()];
  std::string missing;
  for (const ShownTarget& one : shown)
    if (!has_both_classes(one.predicted))
      missing += "<p class=\"warn\">" + (one.name.empty() ? "The target" : escaped(one.name)) + " has " +
                 (one.predicted.empty() ? "no label" : "only one class") + " in the " + part +
                 " set, so there is no ROC curve and no precision-recall curve.</p>\n";
  const std::string label = facts.task.positive_label();
  return missing + "<div class=\"plots\">" + curve_figure(shown, part, true) + curve_figure(shown, part, false) +
         reliability_figure(shown, part, label.empty() ? "is 1" : "is " + cut_short(label, 30)) + "</div>\n";
}

std::string multiclass_plots(const ReportFacts& facts) {
  const std::vector<ShownTarget> shown =
      shown_of(facts, TaskKind::multiclass, [&](std::size_t t) { return top_class_predictions(facts, t); });
  std::string out = "<div class=\"plots\">" +
                    reliability_figure(shown, kSetNames[facts.judged_part()], "is the predicted class") + "</div>\n";
  for (const std::size_t t : shown_targets(facts, TaskKind::multiclass)) out += confusion_table(facts, t);
  return out;
}

}  // namespace molgraph

#include <algorithm>
#include <cmath>

#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kAllShown = 4;       ///< maximum number of targets to show all; of more, three are shown
constexpr std::size_t kMembersDrawn = 21;  ///< maximum number of rows in a plot of members

const Measured* part_of(const MethodResults& method, std::size_t part) {
  return method.parts[part] ? &*method.parts[part] : nullptr;
}

/// The kind of the leading metric.
TaskKind leading_kind(const Task& task) { return task.kind == TaskKind::mixed ? TaskKind::regression : task.kind; }

std::vector<std::size_t> targets_of(const Task& task, TaskKind kind) {
  std::vector<std::size_t> all;
  for (std::size_t t = 0; t < task.names.size(); ++t)
    if (task.kind_of(t) == kind) all.push_back(t);
  return all;
}

/// Metrics that are defined on at least one set.
std::vector<Measure> measures_shown(const ReportFacts& facts) {
  std::vector<Measure> shown = measures_of(facts.task);
  std::erase_if(shown, [&](Measure measure) {
    return std::ranges::none_of(facts.methods.front().parts,
                                [&](const auto& part) { return part && std::isfinite(part->value_of(measure).value); });
  });
  return shown;
}

std::string resamples_text(const ReportFacts& facts) {
  if (facts.folds)
    return "<p class=\"quiet\">Means over " + with_thousands(static_cast<std::int64_t>(facts.members.size())) +
           " folds. Small: mean plus or minus the standard deviation over the folds.</p>\n";
  std::string list;
  for (std::size_t p = 0; p < kParts; ++p) {
    const Measured* part = part_of(facts.methods.front(), p);
    if (part == nullptr) continue;
    list += (list.empty() ? "" : ", ") + std::string(kSetNames[p]) + " " +
            (part->resamples > 0 ? with_thousands(part->resamples) : "none");
  }
  return "<p class=\"quiet\">Small: 95&nbsp;% intervals. Number of resamples: " + list +
         ". A set with fewer than 10 molecules or too many labels has none.</p>\n";
}

std::string run_table(const ReportFacts& facts) {
  HtmlTable table{.caption = facts.folds ? "All folds" : "This run", .head = {"Metric"}};
  for (std::size_t p = 0; p < kParts; ++p)
    if (const Measured* part = part_of(facts.methods.front(), p))
      table.head.push_back(std::string(kSetNames[p]) + " (" + with_thousands(part->molecules) + ")");
  for (const Measure measure : measures_shown(facts)) {
    table.rows.push_back({std::string(title_of(measure))});
    for (std::size_t p = 0; p < kParts; ++p)
      if (const Measured* part = part_of(facts.methods.front(), p))
        table.rows.back().push_back(estimate_html(part->value_of(measure)));
  }
  return table.html();
}

/// The leading metric on the evaluation set as a dot with its interval for each row; the first row is marked.
std::string measure_figure(const ReportFacts& facts, const std::vector<MethodResults>& methods, const std::string& id,
                           const std::string& caption, const HtmlTable& table) {
  const Measure measure = leading_measure(facts);
  const std::size_t p = facts.judged_part();
  std::vector<std::string> names;
  std::vector<PlotPoint> points;
  std::vector<PlotBar> bars;
  double low = INFINITY, high = -INFINITY;
  for (auto method = methods.rbegin(); method != methods.rend(); ++method) {
    const Measured* part = part_of(*method, p);
    if (part == nullptr || !std::isfinite(part->value_of(measure).value)) continue;
    const Estimate& value = part->value_of(measure);
    const auto at = static_cast<double>(names.size());
    names.push_back(method->name);
    points.push_back({value.value, at});
    bars.push_back({at, value.low, value.high});
    for (const double x : {value.value, value.low, value.high})
      if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  }
  if (names.size() < 2) return {};
  const std::string title = std::string(title_of(measure)) + " on the " + kSetNames[p] + " set, " +
                            (larger_is_better(measure) ? "larger" : "smaller") + " is better";
  SvgPlot plot(id, title, "Values with their ranges; the table below contains all of them.",
               PlotAxis::nice(title, low, high), PlotAxis::of_names("", names));
  plot.bars(bars, 1, true);
  plot.dots({points.begin(), points.end() - 1}, 1);
  plot.marks({points.back()}, {names.back() + ": " + sensible_number(points.back().x)}, 2);
  return "<div class=\"plots\">" + figure(plot.svg(), caption, {}) + "</div>" + table.html();
}

/// One row per method, with all metrics on the evaluation set.
HtmlTable measures_table(const ReportFacts& facts, const std::vector<MethodResults>& methods,
                         const std::string& caption, const std::string& what) {
  HtmlTable table{.caption = caption, .head = {what}};
  const std::vector<Measure> shown = measures_shown(facts);
  for (const Measure measure : shown) table.head.emplace_back(title_of(measure));
  for (const MethodResults& one : methods) {
    const Measured* part = part_of(one, facts.judged_part());
    if (part == nullptr) continue;
    table.rows.push_back({escaped(one.name)});
    for (const Measure measure : shown) table.rows.back().push_back(estimate_html(part->value_of(measure)));
  }
  return table;
}

std::string with_figure(const std::string& heading, const std::string& plot, const HtmlTable& table) {
  return "<h3>" + heading + "</h3>\n" + (plot.empty() ? table.html() : plot);
}

std::string methods_text(const ReportFacts& facts) {
  if (facts.methods.size() < 2) return {};
  const HtmlTable table = measures_table(
      facts, facts.methods, "Other methods, " + std::string(kSetNames[facts.judged_part()]) + " set", "Method");
  return with_figure("Comparison with other methods",
                     measure_figure(facts, facts.methods, "methods", "This run (ring) and simple methods.", table),
                     table);
}

/// The results of each member of an ensemble or each fold.
std::string members_text(const ReportFacts& facts) {
  if (facts.members.empty() || facts.methods.empty()) return {};
  const std::string part = std::string(kSetNames[facts.judged_part()]) + " set";
  std::vector<MethodResults> rows = facts.members;
  rows.insert(rows.begin(), facts.methods.front());
  rows.front().name = facts.folds ? "mean of the folds" : "whole ensemble";
  const HtmlTable table = measures_table(facts, rows, (facts.folds ? "Results by fold, " : "Results by model, ") + part,
                                         facts.folds ? "Fold" : "Model");
  if (table.rows.size() < 2) return {};
  const bool drawn = rows.size() <= kMembersDrawn;
  const std::string note =
      facts.folds
          ? "<p class=\"quiet\">Small: for the mean, plus or minus the standard deviation over the folds; for a fold, "
            "the 95&nbsp;% interval on its own test set. Each fold's folder (model_0, ...) has its own report.</p>\n"
          : "<p class=\"quiet\">Each model alone, " +
                std::string(facts.run && !facts.run->blend.empty() ? "without its blend partners, " : "") +
                "compared with the whole ensemble. Small: 95&nbsp;% intervals.</p>\n";
  return with_figure(facts.folds ? "Results by fold" : "Results by model",
                     drawn ? measure_figure(facts, rows, "members",
                                            facts.folds ? "The folds and their mean (ring)."
                                                        : "Each model alone, and the whole ensemble (ring).",
                                            table)
                           : "",
                     table) +
         note;
}

/// For several targets, which of them the leading metric is the mean of.
std::string mean_text(const Task& task) {
  const std::size_t count = targets_of(task, leading_kind(task)).size();
  if (task.names.size() < 2) return {};
  const bool mixed = task.kind == TaskKind::mixed;
  return ", mean over " + counted(static_cast<std::int64_t>(count), mixed ? "numeric target" : "target",
                                  mixed ? "numeric targets" : "targets");
}

/// The metric of the other methods and, for a single regression target, the noise of its labels.
std::string comparison_sentence(const ReportFacts& facts, Measure measure) {
  std::vector<std::string> others;
  for (const auto& [name, value] : other_methods(facts, measure))
    others.push_back(escaped(name) + " " + number_html(value));
  std::string out;
  if (!others.empty()) out = std::string(title_of(measure)) + " of other methods: " + list_of(others) + ". ";
  const bool is_error = measure == Measure::mae || measure == Measure::rmse;
  if (is_error && facts.task.names.size() == 1 && !facts.noise.empty() && facts.noise.front().deviation > 0) {
    const std::string unit = facts.task.model_unit(0);
    out += "Standard deviation of repeated measurements: " + number_html(facts.noise.front().deviation) +
           (unit.empty() ? "" : " " + escaped(unit)) + " (" +
           counted(facts.noise.front().molecules, "molecule", "molecules") + ").";
  }
  return out.empty() ? "" : "<p>" + out + "</p>\n";
}

std::string recipe_text(const ReportFacts& facts) {
  return facts.recipe.empty() ? "" : "<p>" + escaped(facts.recipe) + ".</p>\n";
}

}  // namespace

std::string figure(const std::string& svg, const std::string& caption, const HtmlTable& table) {
  return "<figure>" + svg + (caption.empty() ? "" : "<figcaption>" + caption + "</figcaption>") +
         (table.rows.empty() ? "" : details("Numbers", table.html())) + "</figure>\n";
}

std::vector<std::pair<std::string, double>> other_methods(const ReportFacts& facts, Measure measure) {
  std::vector<std::pair<std::string, double>> others;
  for (std::size_t k = 1; k < facts.methods.size(); ++k)
    if (const Measured* part = part_of(facts.methods[k], facts.judged_part());
        part != nullptr && std::isfinite(part->value_of(measure).value))
      others.emplace_back(facts.methods[k].name, part->value_of(measure).value);
  return others;
}

Measure leading_measure(const ReportFacts& facts, TaskKind kind) {
  // Errors of several targets can have different units, and one target with nearly equal labels dominates a mean R2.
  if (kind == TaskKind::regression && targets_of(facts.task, kind).size() > 1) return Measure::spearman;
  const std::vector<Measure>& measures = measures_of(kind);
  const std::string chosen = facts.run ? facts.run->metric == "ap" ? "pr-auc" : facts.run->metric : "";
  const auto found = std::ranges::find(measures, chosen, [](Measure measure) { return std::string(key_of(measure)); });
  return found == measures.end() ? measures.front() : *found;
}

Measure leading_measure(const ReportFacts& facts) {
  const TaskKind kind = leading_kind(facts.task);
  const Measure measure = leading_measure(facts, kind);
  const Measured* part = facts.methods.empty() ? nullptr : part_of(facts.methods.front(), facts.judged_part());
  if (part == nullptr || measure == Measure::spearman) return measure;
  const auto is_defined = [&](Measure one) { return !std::isnan(part->value_of(one).value); };
  const auto found = std::ranges::find_if(measures_of(kind), is_defined);
  return is_defined(measure) || found == measures_of(kind).end() ? measure : *found;
}

std::vector<std::size_t> shown_targets(const ReportFacts& facts, TaskKind kind) {
  return shown_targets(facts, kind, targets_of(facts.task, kind));
}

std::vector<std::size_t> shown_targets(const ReportFacts& facts, TaskKind kind, std::vector<std::size_t> all) {
  if (all.size() <= kAllShown || facts.methods.empty()) return all;
  const Measured* part = part_of(facts.methods.front(), facts.judged_part());
  std::vector<std::size_t> first{all[0], all[1], all[2]};
  if (part == nullptr || part->targets.empty()) return first;
  const Measure measure = leading_measure(facts, kind);
  const auto value = [&](std::size_t t) { return part->targets[t][static_cast<std::size_t>(measure)].value; };
  std::erase_if(all, [&](std::size_t t) { return std::isnan(value(t)); });
  std::ranges::stable_sort(all, [&](std::size_t a, std::size_t b) {
    return larger_is_better(measure) ? value(a) > value(b) : value(a) < value(b);
  });
  if (all.empty()) return first;
  if (all.size() <= 3) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

std::string lead_sentence(const ReportFacts& facts) {
  if (facts.methods.empty()) return {};
  const std::size_t p = facts.judged_part();
  const Measured* part = part_of(facts.methods.front(), p);
  const Measure measure = leading_measure(facts);
  if (part == nullptr || std::isnan(part->value_of(measure).value)) return {};
  const Estimate& value = part->value_of(measure);
  std::string out = "<p class=\"lead\">" + std::string(title_of(measure)) + " on the " + kSetNames[p] + " set" +
                    mean_text(facts.task) + ": <strong>" + number_html(value.value) + "</strong>";
  if (std::isfinite(value.low) && facts.folds)
    out += " (mean of " + with_thousands(static_cast<std::int64_t>(facts.members.size())) +
           " folds, standard deviation " + number_html(value.high - value.value) + ")";
  else if (std::isfinite(value.low))
    out += " (95&nbsp;% interval " + number_html(value.low) + " to " + number_html(value.high) + ")";
  out += ", " + with_thousands(part->molecules) + (part->molecules == 1 ? " molecule" : " molecules");
  out += ".</p>\n" + comparison_sentence(facts, measure);
  if (facts.folds)
    out +=
        "<p>Each molecule is predicted by the model of the fold that tests it, which was not trained on it. A molecule "
        "in several test sets counts once per set.</p>\n";
  return out;
}

std::string results_section(const ReportFacts& facts) {
  const bool any = !facts.methods.empty() &&
                   std::ranges::any_of(facts.methods.front().parts, [](const auto& part) { return part.has_value(); });
  if (!any) return {};
  return run_table(facts) + resamples_text(facts) + recipe_text(facts) + methods_text(facts) + members_text(facts) +
         targets_text(facts);
}

}  // namespace molgraph

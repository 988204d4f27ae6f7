#include <algorithm>
#include <cmath>

#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kReasonsShown = 12, kNoiseShown = 12, kNamesShown = 8, kOutliersShown = 20;

std::string entry(const std::string& name, const std::string& html) {
  return html.empty() ? "" : "<dt>" + name + "</dt><dd>" + html + "</dd>\n";
}

std::string rejected_text(const ReportFacts& facts) {
  std::int64_t count = 0;
  for (const RejectedRows& rows : facts.rejected) count += rows.count;
  if (facts.run) count = facts.run->rejected;
  if (count == 0) return facts.run ? "none" : "";
  if (facts.rejected.empty()) return counted(count, "row", "rows");
  HtmlTable table{.caption = "Rows without a valid molecule", .head = {"Status", "Reason", "Rows"}, .numbers = false};
  for (const RejectedRows& rows : facts.rejected) {
    if (table.rows.size() == kReasonsShown) break;
    table.rows.push_back({escaped(rows.status), escaped(cut_short(rows.reason, 200)), with_thousands(rows.count)});
  }
  std::string more;
  if (facts.rejected.size() > kReasonsShown)
    more = "<p class=\"quiet\">" +
           counted(static_cast<std::int64_t>(facts.rejected.size() - kReasonsShown), "more reason", "more reasons") +
           " in rejected.csv.</p>";
  return details(counted(count, "row", "rows") + " (reasons)", table.html() + more);
}

std::string shared_text(const ReportFacts& facts) {
  if (!facts.shared) return "not recorded";
  if (*facts.shared == 0) return "none";
  return "<strong>" + counted(*facts.shared, "molecule", "molecules") +
         "</strong>: the metrics can be better than on new molecules";
}

std::string repeated_text(const ReportFacts& facts) {
  // splits.csv, from which the sizes are read, is also removed by --strip.
  const bool stripped = facts.is_stripped() && facts.parts == std::array<std::int64_t, kParts>{};
  if (facts.repeated_molecules == 0) return stripped ? "not recorded" : "none";
  return counted(facts.repeated_molecules, "molecule occurs", "molecules occur") + " in " +
         with_thousands(facts.repeated_rows) + " rows (duplicates.csv)";
}

std::string targets_text(const Task& task) {
  std::string list;
  for (std::size_t t = 0; t < std::min(task.names.size(), kNamesShown); ++t) {
    const std::string unit = task.model_unit(t);
    list +=
        (t > 0 ? ", " : "") + escaped(cut_short(task.names[t], 80)) + (unit.empty() ? "" : " [" + escaped(unit) + "]");
  }
  if (task.names.size() > kNamesShown) list += " and " + std::to_string(task.names.size() - kNamesShown) + " more";
  return list + " (" + std::string(to_string(task.kind)) + ")";
}

/// The label noise, estimated from duplicate molecules, and the best R2 that it allows.
std::string noise_text(const ReportFacts& facts) {
  if (facts.noise.empty()) return {};
  HtmlTable numbers{.caption = "Label noise, from molecules that were measured more than once",
                    .head = {"Target", "Molecules", "Rows", "Standard deviation of a label", "Best possible R2"}};
  HtmlTable classes{.caption = "Labels of molecules that were measured more than once",
                    .head = {"Target", "Molecules", "Rows", "Pairs that disagree"}};
  for (const LabelNoise& noise : facts.noise) {
    const std::string name = escaped(cut_short(facts.task.model_name(noise.target), 80)),
                      molecules = with_thousands(noise.molecules), rows = with_thousands(noise.rows);
    if (facts.task.kind_of(noise.target) == TaskKind::regression) {
      if (numbers.rows.size() < kNoiseShown)
        numbers.rows.push_back({name, molecules, rows, number_html(noise.deviation), number_html(noise.best_r2)});
    } else if (classes.rows.size() < kNoiseShown) {
      classes.rows.push_back({name, molecules, rows, text("%.1f&nbsp;%%", 100 * noise.disagree)});
    }
  }
  std::string out = "<h3>Label noise</h3>\n";
  if (!numbers.rows.empty())
    out += numbers.html() +
           "<p class=\"quiet\">No model can be expected to exceed the best possible R2 on labels with this noise. It "
           "is 1 - noise variance / variance of the labels in the evaluation set. Duplicates within one table often "
           "come from one laboratory; noise between laboratories is larger.</p>";
  if (!classes.rows.empty()) out += classes.html();
  return out;
}

/// Labels that may be wrong. Labels of training molecules, and those of similar molecules, are listed only if the run
/// stores the values of its training molecules.
std::string outliers_text(const ReportFacts& facts) {
  if (!facts.run || facts.run->suspicious_labels.empty()) return {};
  HtmlTable table{.caption = "Outlier labels, which may be wrong",
                  .head = {"Row", "id", "Set", "Target", "Label", "Median label"},
                  .numbers = false};
  if (facts.training) table.head.emplace_back("Labels of the most similar molecules");
  std::int64_t hidden = 0;
  for (const SuspiciousLabel& label : facts.run->suspicious_labels) {
    // In a fold or a run over several splits, the set is unknown, so the molecule can be a training molecule.
    const bool is_training = label.part.empty() || label.part == kPartNames[0];
    if (table.rows.size() == kOutliersShown || (is_training && !facts.training)) {
      ++hidden;
      continue;
    }
    const auto part = std::ranges::find(kPartNames, label.part);
    table.rows.push_back(
        {std::to_string(label.row), escaped(cut_short(label.id, 60)),
         part == kPartNames.end() ? escaped(label.part)
                                  : kSetNames[static_cast<std::size_t>(part - kPartNames.begin())],
         escaped(cut_short(label.target, 60)),
         number_html(label.value) + (label.merged.empty() ? "" : " (" + escaped(cut_short(label.merged, 120)) + ")"),
         number_html(label.median)});
    if (!facts.training) continue;
    std::vector<std::string> neighbours;
    for (const double value : label.neighbours) neighbours.push_back(number_html(value));
    table.rows.back().push_back(neighbours.empty() ? "&ndash;" : list_of(neighbours));
  }
  std::string rest;
  if (hidden > 0)
    rest = "<p class=\"quiet\">" + counted(hidden, "outlier label is", "outlier labels are") +
           " not listed; <code>molgraph-info RUN -v</code> lists all.</p>\n";
  return "<h3>Outlier labels</h3>\n" + (table.rows.empty() ? "" : table.html()) + rest;
}

}  // namespace

std::string split_text(const ReportFacts& facts) {
  std::string parts;
  const auto add = [&](std::int64_t count, const char* name) {
    if (count > 0) parts += (parts.empty() ? "" : ", ") + with_thousands(count) + " " + name;
  };
  for (std::size_t p = 0; p < kParts; ++p) add(facts.parts[p], kSetNames[p]);
  add(facts.calibration_part, "calibration");
  if (facts.folds) add(static_cast<std::int64_t>(facts.members.size()), "folds");
  if (facts.run && !facts.run->split.empty()) parts = facts.run->split + (parts.empty() ? "" : ": ") + parts;
  return parts;
}

std::string blend_text(const ReportFacts& facts) {
  if (!facts.run) return {};
  std::vector<std::string> partners = facts.run->blend;
  for (std::string& partner : partners) std::ranges::replace(partner, '_', ' ');
  return list_of(partners);
}

std::string data_section(const ReportFacts& facts) {
  std::string list;
  if (facts.run && !facts.run->data.empty()) list += entry("Table", escaped(list_of(facts.run->data, 5)));
  list += entry("Targets", targets_text(facts.task));
  if (facts.run && facts.run->molecules > 0) list += entry("Molecules", with_thousands(facts.run->molecules));
  list += entry("Split", escaped(split_text(facts)));
  list += entry("Rejected rows", rejected_text(facts));
  list += entry("Duplicate molecules", repeated_text(facts));
  if (facts.run && !facts.run->suspicious_labels.empty())
    list += entry("Outlier labels", with_thousands(std::ssize(facts.run->suspicious_labels)));
  list += entry("Molecules in two sets", shared_text(facts));
  if (facts.censored.value_or(0) > 0)
    list += entry("Censored labels (&gt;50)", with_thousands(*facts.censored) + ", excluded from all metrics");
  list +=
      entry("Model", (facts.models > 1 ? with_thousands(facts.models) + " models, each " : "") + escaped(facts.model));
  if (facts.run && !facts.run->start.empty()) list += entry("Started from", escaped(facts.run->start));
  list += entry("Blended with", escaped(blend_text(facts)));
  return "<dl>" + list + "</dl>\n" + noise_text(facts) + outliers_text(facts);
}

}  // namespace molgraph

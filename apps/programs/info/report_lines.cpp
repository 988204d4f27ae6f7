#include "apps/programs/info/report_lines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/report/target_lines.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMembersShown = 10, kTargetsShown = 3, kWorstShown = 3;
constexpr double kLevelShown = 0.9;

std::string number(const Json& of) { return of.is_number() ? sensible_number(of.get<double>()) : "-"; }

std::string line(std::string label, const std::string& text) {
  label.resize(14, ' ');
  return "  " + label + text + "\n";
}

bool is_measure(const std::string& key) { return key != "molecules" && key != "name"; }

std::string with_range(const Json& estimate) {
  return number(estimate["value"]) +
         (estimate.contains("low") ? " (" + number(estimate["low"]) + " to " + number(estimate["high"]) + ")" : "");
}

/// One row per metric, one column per set.
std::string measures(const Json& report) {
  const Json& parts = report["measures"];
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> columns;
  for (const auto& [part, of] : parts.items()) {
    columns.push_back({part + " (" + with_thousands(of["molecules"].get<std::int64_t>()) + ")"});
    for (const auto& [key, value] : of.items())
      if (is_measure(key) && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  std::size_t c = 0;
  for (const auto& [part, of] : parts.items()) {
    for (const std::string& key : keys) columns[c].push_back(of.contains(key) ? with_range(of[key]) : "-");
    ++c;
  }
  std::string out;
  for (std::size_t r = 0; r <= keys.size(); ++r) {
    std::string row;
    for (const auto& column : columns) {
      std::size_t width = 0;
      for (const std::string& cell : column) width = std::max(width, cell.size());
      row += (row.empty() ? "" : "  ") + column[r] + std::string(width - column[r].size(), ' ');
    }
    out += line(r == 0 ? "" : keys[r - 1], row.substr(0, row.find_last_not_of(' ') + 1));
  }
  return out;
}

/// For example "rmse of trees 0.61, mean predictor 1.6".
std::string comparison_text(const Json& rows, const std::string& measure, std::size_t max_items) {
  std::vector<std::string> items;
  for (const Json& row : rows)
    if (row.contains(measure)) items.push_back(row["name"].get<std::string>() + " " + number(row[measure]["value"]));
  return items.empty() ? "" : measure + " of " + list_of(items, max_items);
}

/// The name of a target, for logarithmic targets "log10(NAME)".
std::string model_name(const Json& target) {
  const auto name = target["name"].get<std::string>();
  return target.contains("logarithmic") ? "log10(" + name + ")" : name;
}

std::string noise(const Json& list) {
  std::vector<std::string> items;
  for (const Json& one : list)
    items.push_back(
        model_name(one) +
        (one.contains("best_r2")
             ? " deviation of a label " + number(one["deviation"]) + ", best r2 " + number(one["best_r2"])
             : " " + text("%.1f %%", 100 * one["disagree"].get<double>()) + " of duplicate pairs disagree"));
  return list_of(items, kTargetsShown);
}

/// For example "0.3 to 0.4: 0.8110 (23), ...".
std::string bins(const Json& list) {
  std::string out;
  for (const Json& bin : list)
    out += (out.empty() ? "" : ", ") + text("%.1f to %.1f: ", bin["low"].get<double>(), bin["high"].get<double>()) +
           number(bin["error"]["value"]) + " (" + with_thousands(bin["molecules"].get<std::int64_t>()) + ")";
  return out;
}

std::string coverage(const Json& list) {
  std::vector<std::string> items;
  for (const Json& one : list)
    if (std::abs(one["level"].get<double>() - kLevelShown) < 1e-6)
      items.push_back(text("%.1f %% of ", 100 * one["covered"].get<double>()) + model_name(one) + ", mean width " +
                      number(one["width"]));
  return list_of(items, kTargetsShown);
}

std::string worst(const Json& list) {
  std::vector<std::string> items;
  const bool several = std::ranges::any_of(list, [&](const Json& one) { return one["target"] != list[0]["target"]; });
  for (const Json& one : list)
    items.push_back(one["id"].get<std::string>() + (several ? " " + one["target"].get<std::string>() : "") +
                    ": label " + (one["label"].is_string() ? one["label"].get<std::string>() : number(one["label"])) +
                    ", predicted " + number(one["prediction"]) +
                    (one.contains("similarity") ? text(" (similarity %.2f)", one["similarity"].get<double>()) : ""));
  return list_of(items, kWorstShown);
}

}  // namespace

std::string report_lines(const Json& report) {
  std::string out;
  const auto add = [&](const char* key, const char* label, const auto& describe) {
    if (report.contains(key))
      if (const std::string description = describe(report[key]); !description.empty()) out += line(label, description);
  };
  const auto evaluated_set = report["judged"].get<std::string>();
  if (report.contains("measures")) {
    out += measures(report);
    const bool several = report.contains("targets") && report["targets"].size() > 1;
    out += line("", report.contains("folds") ? "mean over the folds (minus and plus one standard deviation)"
                    : several                ? "mean over the targets (95 % bootstrap interval)"
                                             : "value (95 % bootstrap interval)");
    const auto metric = report["metric"].get<std::string>();
    if (several) out += target_lines(report["targets"].dump());
    add("beside", "compared with", [&](const Json& rows) { return comparison_text(rows, metric, kMembersShown); });
    add("members", report.contains("folds") ? "folds" : "models",
        [&](const Json& rows) { return comparison_text(rows, metric, kMembersShown); });
  }
  if (report.contains("cautions"))
    for (const Json& caution : report["cautions"]) out += line("careful", caution.get<std::string>());
  add("recipe", "recipe", [](const Json& recipe) { return recipe.get<std::string>(); });
  add("noise", "noise", noise);
  add("by_similarity", "by similarity", bins);
  add("classes_by_similarity", "by similarity", bins);
  add("coverage", "90 % interval", coverage);
  add("worst", "worst", worst);
  return out.empty() ? ""
                     : "report (" + evaluated_set + " set, unless another is named; report.html shows more)\n" + out;
}

}  // namespace molgraph

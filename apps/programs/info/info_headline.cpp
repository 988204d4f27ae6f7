#include "apps/programs/info/info_headline.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/programs/shell/program.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTargetsShown = 6;

std::string not_recorded(const Json& card) {
  return card["kind"] == "model file" ? "not stored in a model file: see its run directory"
                                      : "not recorded: run.json is missing or incomplete";
}

std::string line(std::string label, const std::string& text) {
  label.resize(14, ' ');
  return "  " + label + text + "\n";
}

std::string number(double value) {
  std::ostringstream out;
  out.precision(4);
  out << value;
  return out.str();
}

std::string counted(const Json& count) { return with_thousands(count.get<std::int64_t>()); }

std::string describe_targets(const Json& card) {
  std::vector<std::string> targets, logarithmic;
  for (const Json& target : card["targets"]) {
    const auto unit = target["unit"].get<std::string>();
    targets.push_back(target["name"].get<std::string>() + (unit.empty() ? "" : " [" + unit + "]") +
                      (target.contains("kind") ? " (" + target["kind"].get<std::string>() + ")" : ""));
    if (target.contains("logarithmic")) logarithmic.push_back(target["name"].get<std::string>());
  }
  std::string text =
      (targets.size() > 1 ? std::to_string(targets.size()) + " targets: " : "") + list_of(targets, kTargetsShown);
  text += " (" + card["task"].get<std::string>();
  if (card.contains("classes")) text += ": " + list_of(card["classes"].get<std::vector<std::string>>(), kTargetsShown);
  if (card.contains("positive")) text += ": the probability of " + card["positive"].get<std::string>();
  text += ")";
  if (!logarithmic.empty())
    text += "; learned as logarithms, with errors in log10 units: " + list_of(logarithmic, kTargetsShown);
  return text;
}

/// "split random: 902 train, 113 valid, 113 test"
std::string split_text(const Json& card) {
  const bool named = card.contains("data");
  std::string parts;
  if (card.contains("splits"))
    for (const auto& [part, count] : card["splits"].items())
      parts += (parts.empty() ? "" : ", ") + counted(count) + " " + part;
  std::string text = named ? "split " + card["data"]["split"].get<std::string>() : parts.empty() ? "" : "split";
  if (card.contains("folds")) text += " (" + counted(card["folds"]) + ")";  // "split random folds"
  return text + (parts.empty() ? "" : ": " + parts);
}

std::string describe_data(const Json& card) {
  if (card.contains("origin")) return "published weights: " + card["origin"].get<std::string>();
  const std::string split = split_text(card);
  if (!card.contains("data")) return not_recorded(card) + (split.empty() ? "" : " (" + split + ")");
  const Json& data = card["data"];
  std::string text = card.contains("target_descriptors") ? "pre-trained: the descriptors (" : "";
  if (!text.empty()) text += card["target_descriptors"].get<std::string>() + ") of ";
  if (card.contains("measured_labels")) {
    const Json& labels = card["measured_labels"];
    text += "all molecules and " + counted(labels["labels"]) + " measured labels (" + counted(labels["columns"]) +
            " columns, " + counted(labels["molecules"]) + " molecules) of ";
  }
  text += list_of(data["given"].get<std::vector<std::string>>(), 3) + ": " + counted(data["molecules"]) + " molecules";
  if (data["rejected"] > 0)
    text += ", " + counted(data["rejected"]) + (data["rejected"] == 1 ? " row" : " rows") + " rejected" +
            (std::filesystem::exists(card["path"].get<std::string>() + "/rejected.csv") ? " (rejected.csv)" : "");
  return text + "; " + split;
}

/// Results on the test set; if there is none, on the validation set, else on the training set.
std::string describe_results(const Json& card) {
  if (card["kind"] == "model file") return not_recorded(card);
  if (!card.contains("results"))
    return card.contains("origin")               ? "not measured here"
           : card.contains("target_descriptors") ? "not measured: there was no validation set"
                                                 : "not recorded: there is no results.csv";
  const Json& results = card["results"];
  const char* chosen = results.contains("test") ? "test" : results.contains("valid") ? "valid" : "train";
  if (!results.contains(chosen)) return "not recorded: results.csv contains no results";
  const Json& part = results[chosen];
  std::string text = std::string(chosen) +
                     (part.contains("n") ? " (" + counted(part["n"]) + " molecules)" : " (mean of the folds)") + ": ",
              values;
  for (const auto& [metric, value] : part.items()) {
    if (metric == "n" || metric.ends_with(" deviation")) continue;
    values += (values.empty() ? "" : ", ") + metric + " " + (value.is_number() ? number(value.get<double>()) : "-");
    const std::string deviation = metric + " deviation";
    if (part.contains(deviation) && part[deviation].is_number())
      values += " +- " + number(part[deviation].get<double>());
  }
  text += values;
  if (!card.contains("baseline")) return text + "; baseline " + not_recorded(card);
  const Json& baseline = card["baseline"];
  const Json& value = baseline[chosen];
  const auto shown = [](const Json& of) { return of.is_number() ? number(of.get<double>()) : std::string("-"); };
  text +=
      "; always predicting the training set's average: " + baseline["metric"].get<std::string>() + " " + shown(value);
  if (card.contains("baselines"))
    for (const auto& [name, parts] : card["baselines"].items()) {
      std::string words = name;
      std::replace(words.begin(), words.end(), '_', ' ');
      text += ", " + words + " " + shown(parts[chosen]);
    }
  return text;
}

std::string describe_training(const Json& card) {
  if (!card.contains("made")) return card.contains("origin") ? "imported" : not_recorded(card);
  const Json& made = card["made"];
  std::string when = made["finished"].get<std::string>();
  if (when.empty()) return "not finished, by " + made["program"].get<std::string>();
  std::replace(when.begin(), when.end(), 'T', ' ');
  if (when.ends_with('Z')) when.replace(when.size() - 1, 1, " UTC");
  if (card.contains("origin") && !card.contains("data"))
    return "imported " + when + " by " + made["program"].get<std::string>();
  return when + " by " + made["program"].get<std::string>() + ", in " + duration_text(made["seconds"].get<double>()) +
         (made.contains("precision") ? " in " + made["precision"].get<std::string>() : "");
}

std::string size_of(const Json& card) {
  const Json& e = card["encoder"];
  std::string text = card["kind"] == "ensemble" ? counted(card["runs"]) + " x " : "";
  text +=
      (card["model"] == "grpe" ? "GRPE" : "Graphormer") + std::string(e["gate"].get<bool>() ? " with URPE's gate" : "");
  text += ", " + counted(card["parameters"]) + " parameters, " + counted(e["layers"]) +
          (e["layers"] == 1 ? " layer x " : " layers x ") + counted(e["width"]);
  if (const int numbers = e.value("pair_state", 0); numbers > 0)
    text += ", pair states of " + std::to_string(numbers) + " numbers";
  if (card.contains("auxiliary_targets"))
    text += "; auxiliary targets " + list_of(card["auxiliary_targets"].get<std::vector<std::string>>());
  if (card.contains("refit")) text += "; retrained with the validation set";
  if (!card.contains("blend")) return text;
  std::vector<std::string> partners = card["blend"].get<std::vector<std::string>>();
  for (std::string& partner : partners) std::ranges::replace(partner, '_', ' ');
  return text + "; blended with " + list_of(partners);
}

/// For example "the molecule, its 207 descriptors (--descriptors) and the columns logD, pKa of the table".
std::string describe_inputs(const Json& inputs) {
  const auto descriptors = inputs["descriptors"].get<std::int64_t>();
  const auto columns = inputs["columns"].get<std::vector<std::string>>();
  std::string text = "the molecule";
  if (descriptors > 0)
    text += (columns.empty() ? " and its " : ", its ") + with_thousands(descriptors) + " descriptors (--descriptors)";
  if (!columns.empty()) text += " and the columns " + list_of(columns) + " of the table";
  return text;
}

/// For example "90 % interval of logS +- 1.1; from the validation set, which also chose the epoch, 113 labels".
std::string describe_calibration(const Json& calibration) {
  std::vector<std::string> items;
  std::int64_t min_labels = std::numeric_limits<std::int64_t>::max();
  for (const Json& target : calibration["targets"]) {
    auto name = target["name"].get<std::string>();
    if (target.contains("logarithmic")) name = "log10(" + name + ")";
    if (target.contains("half_width_90"))
      items.push_back("90 % interval of " + name + " +- " + number(target["half_width_90"].get<double>()));
    else if (target.value("temperature", 1.0) != 1)
      items.push_back("temperature of " + name + " " + number(target["temperature"].get<double>()));
    else continue;
    min_labels = std::min(min_labels, target["labels"].get<std::int64_t>());
  }
  const auto part = calibration["part"].get<std::string>();
  const std::string source = part == "valid"         ? "the validation set, which also chose the epoch"
                             : part == "inner_folds" ? "out-of-fold predictions for the training and validation sets"
                             : part == "folds"       ? "the folds' test sets"
                                                     : "a separate calibration set";
  return list_of(items, kTargetsShown) + "; from " + source + ", " + with_thousands(min_labels) +
         (items.size() > 1 ? " labels or more" : " labels");
}

/// For example "2 labels that may be wrong: logS -350.0 (row 17), ...".
std::string describe_suspicious_labels(const Json& labels) {
  std::vector<std::string> items;
  for (const Json& label : labels) {
    const auto row = std::to_string(label["row"].get<std::int64_t>()), id = label["id"].get<std::string>();
    items.push_back(label["target"].get<std::string>() + " " +
                    (label["value"].is_number() ? number(label["value"].get<double>()) : "-") + " (row " + row +
                    (id.empty() || id == row ? "" : ", " + id) + ")");
  }
  return with_thousands(std::ssize(labels)) +
         (labels.size() == 1 ? " label that may be wrong: " : " labels that may be wrong: ") + list_of(items, 3) +
         "; -v lists all";
}

/// Which information about its molecules the run contains. Equal descriptions of several files are listed once.
std::string describe_contents(const Json& files) {
  std::vector<std::string> items;
  for (const auto& [file, contents] : files.items())
    if (const std::string text = contents.get<std::string>(); std::ranges::find(items, text) == items.end())
      items.push_back(text);
  return list_of(items) + " (--strip removes data that predictions do not need)";
}

}  // namespace

std::string run_headline(const Json& card) {
  const bool parents = card["featurizer"].contains("standardize");
  const std::string molecules = "without salts and solvents, neutralised (--standardize parent)";
  return card["path"].get<std::string>() + " (" + card["kind"].get<std::string>() + ")\n" +
         line("predicts", describe_targets(card)) + (parents ? line("molecules", molecules) : "") +
         (card.contains("inputs") ? line("inputs", describe_inputs(card["inputs"])) : "") +
         line("data", describe_data(card)) +
         (card.contains("start") ? line("started from", card["start"].get<std::string>()) : "") +
         line("results", describe_results(card)) +
         (card.contains("calibration") ? line("calibrated", describe_calibration(card["calibration"])) : "") +
         (card.contains("lacks") ? line("missing", list_of(card["lacks"].get<std::vector<std::string>>())) : "") +
         (card.contains("suspicious_labels") ? line("suspicious", describe_suspicious_labels(card["suspicious_labels"]))
                                             : "") +
         (card.contains("holds") ? line("contains", describe_contents(card["holds"])) : "") +
         line("created", describe_training(card)) + line("model", size_of(card));
}

}  // namespace molgraph

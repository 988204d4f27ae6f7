#include "apps/programs/info/info_card.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "apps/programs/info/info_headline.hpp"
#include "apps/programs/info/report_lines.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/report/report_json.hpp"
#include "apps/scoring/calibration.hpp"
#include "apps/scoring/explanation_file.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/scoring/molecule_files.hpp"
#include "apps/scoring/run_files.hpp"
#include "apps/scoring/run_record.hpp"
#include "datasets/archives/safetensors.hpp"
#include "datasets/store/store.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kIntervalLevel = 0.9;

std::int64_t parameters_of(const SafetensorsFile& file) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : file.tensors) {
    if (name != kTargetShift && name != kTargetScale) count += tensor.count();  // buffers, set by the training data
  }
  return count;
}

Json targets_of(const Task& task, const SafetensorsFile& file) {
  const std::vector<double> shift = target_scaling(file, kTargetShift), scale = target_scaling(file, kTargetScale);
  Json targets = Json::array();
  for (std::size_t t = 0; t < task.names.size(); ++t) {
    Json target = {{"name", task.names[t]}, {"unit", t < task.units.size() ? task.units[t] : ""}};
    if (task.kind == TaskKind::mixed) target["kind"] = to_string(task.kind_of(t));
    if (task.is_logarithmic(t)) target["logarithmic"] = true;
    if (task.kind_of(t) == TaskKind::regression && t < shift.size() && t < scale.size()) {
      target["scaling"] = {{"shift", shift[t]}, {"scale", scale[t]}};
    }
    targets.push_back(target);
  }
  return targets;
}

void add_labels(const Task& task, Json& card) {
  if (task.kind == TaskKind::multiclass) card["classes"] = task.class_labels;
  if (const std::string label = task.positive_label(); !label.empty()) card["positive"] = label;
}

/// Rows of a small comma-separated file that training wrote, as objects with the header's names as keys.
Json rows_of(const fs::path& path) {
  Json rows = Json::array();
  std::ifstream in(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    Json row = Json::object();
    for (std::size_t c = 0; c < std::min(cells.size(), names.size()); ++c) {
      const Json number = Json::parse(cells[c], nullptr, false);
      row[names[c]] = number.is_number() ? number : cells[c].empty() ? Json() : Json(cells[c]);  // blank = no value
    }
    rows.push_back(row);
  }
  return rows;
}

/// Set sizes, such as "train": 902, from the column `split` of splits.csv.
Json split_sizes_of(const fs::path& path) {
  TableOptions options;
  options.format = TableFormat::csv;
  options.molecules = false;
  TableReader reader(path.string(), options);
  const int column = find_column(reader.columns(), "split", path.string());
  if (column < 0) return Json::object();
  std::map<std::string, std::int64_t> counts;
  for (TableRow row; reader.next(row);) ++counts[row.cells[static_cast<std::size_t>(column)]];
  Json sizes = Json::object();
  for (const char* part : {"train", "valid", "test"}) sizes[part] = counts[part];
  if (counts["calibration"] > 0) sizes["calibration"] = counts["calibration"];
  if (counts[""] > 0) sizes["unused"] = counts[""];
  return sizes;
}

/// Adds split sizes, epochs and results from the run's files. Each file may be missing.
void add_training(const fs::path& folder, Json& card) {
  std::error_code error;
  if (fs::exists(folder / "splits.csv", error)) card["splits"] = split_sizes_of(folder / "splits.csv");
  if (const Json epochs = rows_of(folder / "metrics.csv"); !epochs.empty()) {
    card["training"] = {{"epochs", epochs.size()}, {"last_epoch", epochs.back()}};
  }
  for (const Json& row : rows_of(folder / "results.csv")) {
    if (!row.contains("part") || !row.contains("metric") || !row.contains("value")) continue;
    std::string metric = row["metric"].get<std::string>();
    if (row.contains("fold")) {  // only mean and deviation over folds
      if (row["fold"] != "mean" && row["fold"] != "deviation") continue;
      if (row["fold"] == "deviation") metric += " deviation";
    }
    Json& part = card["results"][row["part"].get<std::string>()];
    if (row.contains("n")) part["n"] = row["n"];
    part[metric] = row["value"];
  }
}

/// Adds the calibration. Regression: half the width of the 90 % interval in the model's unit (if it depends on the
/// molecule, at the mean difficulty). Classification: the temperature.
void add_calibration(const std::string& run, const Task& task, Json& card) {
  const std::optional<Calibration> calibration = calibration_of(run, task);
  if (!calibration) return;
  card["calibration"] = {{"part", to_string(calibration->part)}, {"targets", Json::array()}};
  for (const TargetCalibration& target : calibration->targets) {
    Json one = {{"name", target.name}, {"labels", target.labels}};
    if (task.is_logarithmic(card["calibration"]["targets"].size())) one["logarithmic"] = true;
    if (target.kind != TaskKind::regression) one["temperature"] = target.temperature;
    if (target.has_interval(kIntervalLevel)) {
      const std::vector<double> members(static_cast<std::size_t>(calibration->members));
      const Interval interval = interval_of(target, kIntervalLevel, 0, target.offset, members);
      one["half_width_90"] = (interval.high - interval.low) / 2;
    }
    card["calibration"]["targets"].push_back(std::move(one));
  }
}

/// Adds files that are missing or from another run. Returns false if there are any.
bool add_missing(const std::string& run, Json& card) {
  const std::vector<std::string> problems = run_file_problems(run);
  for (const std::string& problem : problems) card["lacks"].push_back(problem);
  return problems.empty();
}

/// Adds the basis of explanations, or that it is missing.
void add_explanation(const std::vector<std::string>& weights, Json& card) {
  std::int64_t atoms = 0;
  for (const std::string& file : weights) {
    const std::string explanation_path = explanation_file_of(file);
    if (explanation_path.empty()) {
      card["lacks"].push_back("the training mean that molgraph-score --explain atoms needs");
      return;
    }
    atoms += read_node_mean(explanation_path, read_model_config(read_model_file(file), file)).atoms;
  }
  card["explanation"] = {{"models", weights.size()}, {"atoms", atoms}};
}

/// Adds the training record, if there is one.
void add_record(const fs::path& folder, Json& card) {
  const std::optional<RunRecord> r = read_run_record(folder.string());
  if (!r) return;
  card["made"] = {{"finished", r->finished}, {"program", r->program}, {"seconds", r->seconds}};
  if (r->finished.empty()) return;
  if (r->metric.empty()) return;  // imported weights: no training and no results
  if (!r->precision.empty()) card["made"]["precision"] = r->precision;
  card["data"] = {{"given", r->data},          {"source", r->source},     {"sha256", r->sha256}, {"rdkit", r->rdkit},
                  {"molecules", r->molecules}, {"rejected", r->rejected}, {"split", r->split}};
  const auto value = [](double of) { return std::isnan(of) ? Json(nullptr) : Json(of); };
  card["baseline"] = {{"metric", r->metric},
                      {"train", value(r->baseline[0])},
                      {"valid", value(r->baseline[1])},
                      {"test", value(r->baseline[2])}};
  for (const auto& [name, values] : r->baselines)
    card["baselines"][name] = {{"train", value(values[0])}, {"valid", value(values[1])}, {"test", value(values[2])}};
  if (!r->start.empty()) card["start"] = r->start;
  if (!r->target_descriptors.empty()) card["target_descriptors"] = r->target_descriptors;
  if (const MeasuredLabels& labels = r->measured_labels; labels.columns > 0)
    card["measured_labels"] = {{"columns", labels.columns}, {"labels", labels.labels}, {"molecules", labels.molecules}};
  if (!r->auxiliary_targets.empty()) card["auxiliary_targets"] = r->auxiliary_targets;
  if (r->refit) card["refit"] = true;
  if (!r->blend.empty()) card["blend"] = r->blend;
  for (const SuspiciousLabel& label : r->suspicious_labels) {
    Json one = {{"target", label.target}, {"value", value(label.value)}, {"row", label.row}, {"id", label.id}};
    if (!label.part.empty()) one["part"] = label.part;
    if (!label.merged.empty()) one["merged"] = label.merged;
    one["median"] = value(label.median), one["deviations"] = value(label.deviations);
    if (!label.neighbours.empty()) one["neighbours"] = label.neighbours;
    card["suspicious_labels"].push_back(std::move(one));
  }
}

/// Adds, for each file, the information about training molecules that it contains.
void add_molecule_files(const std::string& run, Json& card) {
  for (const MoleculeFile& file : molecule_files(run))
    card["holds"][fs::path(file.path).lexically_relative(run).string()] = file.contents;
}

/// Adds the contents of report.html if the run recorded them.
void add_report(const std::string& run, const std::vector<std::string>& weights, Json& card) {
  std::error_code error;
  const fs::path first = card.contains("folds") ? fs::path(weights.front()).parent_path() : fs::path(run);
  if (fs::exists(first / kReportRecord, error)) card["report"] = Json::parse(report_json(facts_of_run(run)));
}

Json card_of(const FeaturizerOptions& featurizer) {
  Json card = {{"text", featurizer.canonical_text()}, {"hash", featurizer.hash()}};
  if (featurizer.standardize != Standardize::none) card["standardize"] = to_string(featurizer.standardize);
  return card;
}

/// Adds the inputs of the head: number of descriptors, and columns of the table.
void add_inputs(std::span<const std::string> names, const FeaturizerOptions& featurizer, Json& card) {
  if (names.empty()) return;
  const std::size_t computed = featurizer.descriptors == DescriptorSet::rdkit ? descriptor_names().size() : 0;
  const auto columns = names.subspan(std::min(computed, names.size()));
  card["inputs"] = {{"descriptors", computed}, {"columns", std::vector<std::string>(columns.begin(), columns.end())}};
}

Json card_of_weights(const std::string& weights) {
  const SafetensorsFile file = read_model_file(weights);
  const ModelConfig config = read_model_config(file, weights);
  Json stored = Json::parse(to_json(config));
  if (config.model.published.origin.empty()) {  // not imported: leave out options of imports
    Json kept = Json::object();
    for (const auto& [key, value] : stored["options"].items()) {
      if (!key.starts_with("origin") && !key.starts_with("missing_")) kept[key] = value;
    }
    stored["options"] = kept;
  }
  Json card = {{"model", stored["model"]},
               {"parameters", parameters_of(file)},
               {"encoder", stored["encoder"]},
               {"options", stored["options"]},
               {"featurizer", card_of(config.featurizer)},
               {"task", to_string(config.task.kind)},
               {"targets", targets_of(config.task, file)}};
  add_labels(config.task, card);
  add_inputs(config.input_names, config.featurizer, card);
  if (!config.model.published.origin.empty()) card["origin"] = config.model.published.origin;
  return card;
}

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return with_thousands(value.get<std::int64_t>());
  if (value.is_number()) {
    std::string text = sensible_number(value.get<double>());
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);  // 0.1000 -> 0.1
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  }
  return value.is_null() ? "-" : value.dump();
}

void append_text(const Json& value, const std::string& indent, std::string& out) {
  constexpr std::size_t kColumn = 22;
  for (const auto& [key, entry] : value.items()) {
    std::string line = indent + key;
    if (entry.is_object()) {
      out += line + "\n";
      append_text(entry, indent + "  ", out);
      continue;
    }
    line.resize(std::max(kColumn, line.size() + 1), ' ');
    if (!entry.is_array()) {
      out += line + scalar_text(entry) + "\n";
      continue;
    }
    const bool objects = !entry.empty() && entry[0].is_object();
    std::string list;
    for (const Json& item : entry) {
      if (!objects) list += (list.empty() ? "" : ", ") + scalar_text(item);
    }
    out += objects ? indent + key + "\n" : line + list + "\n";
    for (std::size_t i = 0; objects && i < entry.size(); ++i) {
      const std::string name = entry[i].contains("name") ? scalar_text(entry[i]["name"]) : std::to_string(i);
      Json rest = entry[i];
      rest.erase("name");
      out += indent + "  " + name + "\n";
      append_text(rest, indent + "    ", out);
    }
  }
}

}  // namespace

Json run_card(const std::string& path) {
  std::error_code error;
  require_existing(path, "no such run, model file or store");
  const fs::path folder = fs::is_directory(path, error) ? fs::path(path) : fs::path(path).parent_path();
  Json card = {{"kind", "run"}, {"path", path}};
  if (!fs::is_directory(path, error)) {
    card["kind"] = "model file";
    card.update(card_of_weights(path));
    return card;
  }
  const std::vector<std::string> weights = weight_files(path);
  card.update(card_of_weights(weights[0]));
  if (weights.size() > 1) {
    card["kind"] = "ensemble";
    card["runs"] = weights.size();
    for (std::size_t m = 1; m < weights.size(); ++m) card_of_weights(weights[m]);  // throws if damaged
    if (!rows_of(folder / "results.csv").empty() && rows_of(folder / "results.csv")[0].contains("fold"))
      card["folds"] = weights.size();
  }
  add_record(folder, card);
  const bool complete = add_missing(path, card);
  if (complete) add_calibration(path, read_model_config(read_model_file(weights[0]), weights[0]).task, card);
  if (complete) add_explanation(weights, card);
  add_training(folder, card);
  add_molecule_files(path, card);
  if (complete) add_report(path, weights, card);
  return card;
}

Json store_card(const std::string& path) {
  const Store store(path);
  const StoreSummary& summary = store.summary();
  Json card = {{"kind", "store"},
               {"path", path},
               {"bytes", summary.file_bytes},
               {"created", summary.created},
               {"featurizer", card_of(summary.featurizer)},
               {"source",
                {{"name", summary.source.name},
                 {"file", summary.source.file},
                 {"sha256", summary.source.sha256},
                 {"rdkit", summary.source.rdkit_version}}},
               {"molecules", summary.molecules},
               {"atoms", summary.atoms},
               {"bonds", summary.bonds},
               {"pairs", summary.has_pairs ? Json(summary.pairs) : Json("not stored")},
               {"rejected", summary.rejected}};
  if (!summary.task.names.empty()) {
    card["task"] = to_string(summary.task.kind);
    card["targets"] = targets_of(summary.task, {});
    add_labels(summary.task, card);
  }
  add_inputs(summary.input_names, summary.featurizer, card);
  const MoleculeSet set = store.load();
  for (const auto& [name, split] : set.splits) {
    card["splits"][name] = {{"train", split.train.size()}, {"valid", split.valid.size()}, {"test", split.test.size()}};
  }
  for (const RejectedRow& row : set.rejected) {
    Json& count = card["rejected_by_status"][row.status];
    count = count.is_null() ? 1 : count.get<std::int64_t>() + 1;
  }
  return card;
}

std::string card_text(const Json& card, bool all) {
  std::string text;
  if (card["kind"] == "store") {
    append_text(card, "", text);
    return text;
  }
  text = run_headline(card);
  if (card.contains("report")) text += report_lines(card["report"]);
  if (!all) return text + "-v and --json show all options and numbers\n";
  text += "\n";
  append_text(card, "", text);
  return text;
}

}  // namespace molgraph

#include "apps/scoring/run_record.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/scoring/model_limits.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double number_of(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

constexpr const char* kSuspiciousKey = "suspicious_labels";

Json json_of(const SuspiciousLabel& label) {
  Json one = {{"target", label.target}, {"value", number_or_null(label.value)}, {"row", label.row}, {"id", label.id}};
  if (!label.part.empty()) one["part"] = label.part;
  if (!label.merged.empty()) one["merged"] = label.merged;
  one["median"] = number_or_null(label.median);
  one["deviations"] = number_or_null(label.deviations);
  if (!label.neighbours.empty()) one["neighbours"] = label.neighbours;
  return one;
}

SuspiciousLabel suspicious_label_of(const Json& one) {
  return {.target = one.at("target").get<std::string>(),
          .value = number_of(one.at("value")),
          .row = one.at("row").get<std::int64_t>(),
          .id = one.at("id").get<std::string>(),
          .part = one.value("part", ""),
          .merged = one.value("merged", ""),
          .median = number_of(one.at("median")),
          .deviations = number_of(one.at("deviations")),
          .neighbours = one.value("neighbours", std::vector<double>{})};
}

constexpr const char* kMeasuredKey = "measured_labels";

Json json_of(const MeasuredLabels& labels) {
  Json all = {{"columns", labels.columns}, {"labels", labels.labels}, {"molecules", labels.molecules}};
  for (const KindQuality& kind : labels.valid)
    all["valid"][kind.name] = {{"mean", number_or_null(kind.value)}, {"targets", kind.targets}};
  return all;
}

MeasuredLabels measured_labels_of(const Json& all) {
  MeasuredLabels labels;
  all.at("columns").get_to(labels.columns);
  all.at("labels").get_to(labels.labels);
  all.at("molecules").get_to(labels.molecules);
  if (all.contains("valid"))
    for (const auto& [name, quality] : all["valid"].items())
      labels.valid.push_back({name, number_of(quality.at("mean")), quality.at("targets").get<std::int64_t>()});
  return labels;
}

/// model_K of a folder.
fs::path member(const fs::path& folder, std::int64_t k) { return folder / ("model_" + std::to_string(k)); }

/// One more than the largest K of the existing models.
std::int64_t count_members(const fs::path& folder) {
  std::int64_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_member(name) && fs::is_directory(entry->path(), error))
      count = std::max<std::int64_t>(count, std::stoll(name.substr(6)) + 1);
  }
  return std::min(count, kMaxMembers);
}

void find_weights(const fs::path& path, std::vector<std::string>& files) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    require_existing(path.string(), "no such run directory or model file");
    files.push_back(path.string());
    return;
  }
  const std::optional<RunRecord> record = read_run_record(path.string());
  const std::int64_t recorded = record ? record->members : 0, found = count_members(path);
  if (recorded == 0 && fs::exists(path / "model.safetensors", error)) {
    files.push_back((path / "model.safetensors").string());
    return;
  }
  if (recorded == 0 && found == 0)
    throw FileError(path.string() + ": the folder contains neither model.safetensors nor model_0");
  if (recorded > 0 && found > recorded) {
    throw FileError(member(path, found - 1).string() + ": the run has " + std::to_string(recorded) +
                    " models according to run.json; this is not one of them");
  }
  for (std::int64_t k = 0; k < std::max(recorded, found); ++k) {
    if (!fs::is_directory(member(path, k), error)) {
      throw FileError(member(path, k).string() + " is missing: " +
                      (recorded > 0 ? "the run has " + std::to_string(recorded) + " models"
                                    : member(path, found - 1).filename().string() + " exists"));
    }
    find_weights(member(path, k), files);
  }
}

}  // namespace

fs::path real_folder_of(const std::string& file) { return fs::weakly_canonical(fs::absolute(file).parent_path()); }

void require_existing(const std::string& path, const std::string& missing) {
  std::error_code error;
  if (!fs::exists(path, error)) throw FileError(path + ": " + (error ? error.message() : missing));
}

bool is_member(const std::string& name) {
  return name.starts_with("model_") && name.size() > 6 && name.size() < 16 &&
         name.find_first_not_of("0123456789", 6) == std::string::npos;
}

void write_run_record(const std::string& folder, const RunRecord& r) {
  Json all = {{"version", 1}, {"members", r.members}, {"program", r.program}};
  if (!r.finished.empty()) {
    all["finished"] = r.finished;
    all["seconds"] = r.seconds;
    all["data"] = {{"given", r.data},  {"source", r.source},       {"sha256", r.sha256},
                   {"rdkit", r.rdkit}, {"molecules", r.molecules}, {"rejected", r.rejected}};
    all["split"] = {{"name", r.split}, {"train", r.parts[0]}, {"valid", r.parts[1]}, {"test", r.parts[2]}};
    all["metric"] = r.metric;
    all["baseline"] = {{"train", number_or_null(r.baseline[0])},
                       {"valid", number_or_null(r.baseline[1])},
                       {"test", number_or_null(r.baseline[2])}};
    for (const auto& [name, values] : r.baselines)
      all["baselines"][name] = {{"train", number_or_null(values[0])},
                                {"valid", number_or_null(values[1])},
                                {"test", number_or_null(values[2])}};
    if (!r.start.empty()) all["start"] = r.start;
    if (!r.target_descriptors.empty()) all["target_descriptors"] = r.target_descriptors;
    if (r.measured_labels.columns > 0) all[kMeasuredKey] = json_of(r.measured_labels);
    if (!r.auxiliary_targets.empty()) all["auxiliary_targets"] = r.auxiliary_targets;
    if (r.refit) all["refit"] = true;
    if (!r.blend.empty()) all["blend"] = r.blend;
    if (!r.precision.empty()) all["precision"] = r.precision;
    if (r.calibrated) all["calibrated"] = true;
    if (r.explained) all["explained"] = true;
    for (const SuspiciousLabel& label : r.suspicious_labels) all[kSuspiciousKey].push_back(json_of(label));
    if (!r.checksums.empty()) all["checksums"] = r.checksums;
  }
  write_file_atomically(folder + "/" + kRunRecord, all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<RunRecord> read_run_record(const std::string& folder) {
  const std::string path = folder + "/" + kRunRecord;
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    const Json all = Json::parse(read_file(path));
    RunRecord r;
    const auto version = all.at("version").get<int>();
    if (version != 1)
      throw FileError(path + ": has version " + std::to_string(version) + "; this program reads version 1");
    all.at("members").get_to(r.members);
    if (r.members < 0 || r.members > kMaxMembers) throw FileError(path + ": invalid number of models");
    all.at("program").get_to(r.program);
    if (!all.contains("finished")) return r;
    all.at("finished").get_to(r.finished);
    all.at("seconds").get_to(r.seconds);
    const Json &data = all.at("data"), &split = all.at("split"), &baseline = all.at("baseline");
    data.at("given").get_to(r.data);
    data.at("source").get_to(r.source);
    data.at("sha256").get_to(r.sha256);
    data.at("rdkit").get_to(r.rdkit);
    data.at("molecules").get_to(r.molecules);
    data.at("rejected").get_to(r.rejected);
    split.at("name").get_to(r.split);
    all.at("metric").get_to(r.metric);
    constexpr std::array kParts{"train", "valid", "test"};
    const auto metric_of = [&](const Json& values, std::size_t p) { return number_of(values.at(kParts[p])); };
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      split.at(kParts[p]).get_to(r.parts[p]);
      r.baseline[p] = metric_of(baseline, p);
    }
    if (all.contains("baselines"))
      for (const auto& [name, values] : all["baselines"].items())
        r.baselines.push_back({name, {metric_of(values, 0), metric_of(values, 1), metric_of(values, 2)}});
    r.start = all.value("start", "");
    r.target_descriptors = all.value("target_descriptors", "");
    if (all.contains(kMeasuredKey)) r.measured_labels = measured_labels_of(all[kMeasuredKey]);
    r.auxiliary_targets = all.value("auxiliary_targets", std::vector<std::string>{});
    r.refit = all.value("refit", false);
    r.precision = all.value("precision", "");
    r.calibrated = all.value("calibrated", false);
    r.explained = all.value("explained", false);
    if (const auto checksums = all.find("checksums"); checksums != all.end()) checksums->get_to(r.checksums);
    r.blend = all.value("blend", std::vector<std::string>{});
    if (all.contains(kSuspiciousKey))
      for (const Json& one : all[kSuspiciousKey]) r.suspicious_labels.push_back(suspicious_label_of(one));
    return r;
  } catch (const nlohmann::json::exception& problem) {
    throw FileError(path + ": damaged: " + problem.what());
  }
}

void strip_run_record(const std::string& folder) {
  const std::string path = folder + "/" + kRunRecord;
  try {
    Json all = Json::parse(read_file(path));
    if (all.erase(kSuspiciousKey) == 0) return;
    write_file_atomically(path, all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const nlohmann::json::exception& problem) {
    throw FileError(path + ": damaged: " + problem.what());
  }
}

std::vector<std::string> weight_files(const std::string& run) {
  std::vector<std::string> files;
  find_weights(run, files);
  return files;
}

}  // namespace molgraph

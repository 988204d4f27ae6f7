#include "apps/scoring/run_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "apps/scoring/calibration.hpp"
#include "apps/scoring/domain.hpp"
#include "apps/scoring/explanation_file.hpp"
#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/run_blend.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/scoring/tree_file.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 6> kPredictionFiles{"model.safetensors", kTreesFile,  kProcessFile,
                                                      kCalibrationFile,    kDomainFile, kExplanationFile};

void add_checksums(const fs::path& folder, const std::string& prefix, std::map<std::string, std::string>& all) {
  std::error_code error;
  for (const char* name : kPredictionFiles)
    if (fs::is_regular_file(folder / name, error)) all[prefix + name] = sha256_of_file((folder / name).string());
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

}  // namespace

std::map<std::string, std::string> checksums_of(const std::string& folder) {
  std::map<std::string, std::string> all;
  add_checksums(folder, "", all);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const std::string name = entry->path().filename().string(); is_member(name) && entry->is_directory())
      add_checksums(entry->path(), name + "/", all);
  return all;
}

const RunFiles::Record& RunFiles::record_of(const std::string& folder) {
  const auto [entry, is_new] = records_.try_emplace(folder);
  if (is_new)
    if (std::optional<RunRecord> record = read_run_record(folder); record)
      entry->second = {true, std::move(record->checksums)};
  return entry->second;
}

std::string RunFiles::problem(const std::string& file) {
  const fs::path folder = real_folder_of(file);
  const std::string name = fs::path(file).filename().string(), member = folder.filename().string();
  std::vector<std::pair<std::string, const Record*>> records{{name, &record_of(folder.string())}};
  if (is_member(member)) records.emplace_back(member + "/" + name, &record_of(folder.parent_path().string()));
  std::erase_if(records, [](const auto& one) { return !one.second->exists; });
  if (records.empty())
    return (folder_of(file) / kRunRecord).string() + " is missing; specify model.safetensors to score the model alone";
  std::string sum;
  for (const auto& [listed_name, record] : records) {
    if (record->checksums.empty()) continue;
    const auto entry = record->checksums.find(listed_name);
    if (entry == record->checksums.end())
      return file + ": run.json does not list this file, so it is not part of the run";
    if (sum.empty()) sum = sha256_of_file(file);
    if (sum != entry->second)
      return file + ": is not the file that the run wrote: its SHA-256 differs from the one in run.json";
  }
  return {};
}

void check_run_files(const std::vector<std::string>& given, const std::vector<std::string>& files) {
  RunFiles runs;
  std::error_code error;
  for (const std::string& run : given) {  // a run without members has no run.json before its end
    if (!fs::is_directory(run, error)) continue;
    const fs::path own = real_folder_of((fs::path(run) / kRunRecord).string());
    const bool in_ensemble = is_member(own.filename().string()) && !fs::exists(own / kRunRecord, error);
    const fs::path folder = in_ensemble ? own.parent_path() : own;
    if (const auto record = read_run_record(folder.string()); record && record->members > 0 && record->finished.empty())
      throw FileError(folder.string() +
                      ": its training is not finished, so its blend and calibration may be missing; "
                      "molgraph-train -o " +
                      folder.string() +
                      " --resume finishes it, or specify model.safetensors to score a "
                      "model alone");
  }
  const auto is_standalone = [&](const std::string& file) {
    return std::ranges::any_of(given, [&](const std::string& run) {
      return !fs::is_directory(run, error) && real_folder_of(run) == real_folder_of(file);
    });
  };
  for (const std::string& file : files) {
    if (is_standalone(file)) continue;
    if (const std::string problem = runs.problem(file); !problem.empty()) throw FileError(problem);
  }
}

std::vector<std::string> run_file_problems(const std::string& run) {
  std::vector<std::string> problems;
  const auto add = [&](const std::string& problem) {
    if (!problem.empty() && std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
  };
  RunFiles runs;
  std::error_code error;
  const auto missing = [](const fs::path& file) { return file.string() + " is missing, although run.json records it"; };
  const auto check_folder = [&](const fs::path& folder) {
    try {
      const std::optional<RunRecord> record = read_run_record(folder.string());
      for (const char* name : kPredictionFiles)
        if (fs::exists(folder / name, error)) add(runs.problem((folder / name).string()));
      if (!record) return;
      for (const auto& [name, sum] : record->checksums)
        if (fs::path(name).filename() != kDomainFile && !fs::exists(folder / name, error)) add(missing(folder / name));
      // Records without checksums also contain this.
      if (record->calibrated && !fs::exists(folder / kCalibrationFile, error)) add(missing(folder / kCalibrationFile));
    } catch (const FileError& problem) {  // a damaged record
      add(problem.what());
    }
  };
  check_folder(run);
  for (const std::string& weights : weight_files(run)) {
    if (folder_of(weights) != fs::path(run)) check_folder(folder_of(weights));
    try {
      (void)partner_files_of(weights);
      (void)explanation_file_of(weights);
    } catch (const FileError& problem) {
      if (problems.empty()) add(problem.what());  // else it is already listed
    }
  }
  return problems;
}

}  // namespace molgraph

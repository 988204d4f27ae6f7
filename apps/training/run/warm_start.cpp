#include "apps/training/run/warm_start.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/options/option_conflicts.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "datasets/tables/table_form.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

bool belongs_to_head(const std::string& name) {
  return name.starts_with("head.") || name == "target_shift" || name == "target_scale";
}

/// What a splits.csv says of its molecules, without the test set.
struct KnownMolecules {
  std::vector<std::string> trained;  ///< SMILES of the training set and, after --refit, of the validation set
  std::vector<std::string> held;     ///< of the other sets except the test set
};

KnownMolecules known_molecules(const std::string& path, bool refit) {
  TableOptions options;
  options.format = TableFormat::csv;
  options.molecules = false;
  options.header = true;
  TableReader reader(path, options);
  const int smiles = find_column(reader.columns(), "smiles", path), part = find_column(reader.columns(), "split", path);
  KnownMolecules known;
  if (smiles < 0 || part < 0) return known;
  for (TableRow row; reader.next(row);) {
    if (!row.problem.empty()) continue;
    const std::string& split_name = row.cells[static_cast<std::size_t>(part)];
    if (split_name.empty() || split_name == "test") continue;
    const bool trained = split_name == "train" || (refit && split_name == "valid");
    (trained ? known.trained : known.held).push_back(row.cells[static_cast<std::size_t>(smiles)]);
  }
  return known;
}

/// SMILES that RDKit cannot read remain unchanged.
void make_canonical(std::vector<std::string>& smiles, Standardize standardize, int threads) {
  parallel_for(std::ssize(smiles), 64, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) try {
        smiles[k] = canonical_smiles(smiles[k], standardize);
      } catch (const DataError&) {
      }
  });
}

}  // namespace

std::vector<std::string> leak_warnings(const std::string& from, const Task& start, const LoadedData& data,
                                       int threads) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path given = fs::is_directory(from, error) ? fs::path(from) : fs::path(from).parent_path();
  // An ensemble has its record, and without member splits also its split, only in the folder of the ensemble.
  const fs::path own = real_folder_of((given / kRunRecord).string());
  const auto folder_with = [&](const char* name) {
    return is_member(own.filename().string()) && !fs::exists(own / name, error) ? own.parent_path() : own;
  };
  std::vector<std::string> known_targets = start.names;
  bool refit = false;
  try {
    if (const std::optional<RunRecord> record = read_run_record(folder_with(kRunRecord).string())) {
      known_targets.insert(known_targets.end(), record->auxiliary_targets.begin(), record->auxiliary_targets.end());
      refit = record->refit;
    }
  } catch (const FileError&) {
  }
  const auto is_shared = [&](const std::string& name) {  // a corpus matches its columns in this way, too
    return find_any_case(known_targets, {std::string_view(lower(trim(name)))}) >= 0;
  };
  const std::string path = RunDirectory{folder_with("splits.csv").string()}.splits();
  if (std::ranges::none_of(data.set.task.names, is_shared) || !fs::is_regular_file(path, error)) return {};
  KnownMolecules known;
  try {
    known = known_molecules(path, refit);
  } catch (const DataError&) {  // an unreadable file costs only a warning
    return {};
  } catch (const FileError&) {
    return {};
  }
  std::unordered_set<std::string> learned;
  const auto learn = [&](std::vector<std::string>& smiles) {
    make_canonical(smiles, data.set.featurizer.standardize, threads);
    learned.insert(smiles.begin(), smiles.end());
  };
  std::vector<std::string> warnings;
  const auto check = [&](const std::vector<std::int64_t>& molecules, const char* part, const char* sets,
                         const char* effect) {
    std::vector<std::string> smiles;
    for (const std::int64_t g : molecules) smiles.push_back(data.set.smiles[static_cast<std::size_t>(g)]);
    make_canonical(smiles, data.set.featurizer.standardize, threads);
    const auto count = std::ranges::count_if(smiles, [&](const std::string& text) { return learned.contains(text); });
    if (count == 0) return;
    warnings.push_back(with_thousands(count) + " of the " + with_thousands(std::ssize(smiles)) + " " + part +
                       " molecules are in the " + sets + " of " + from + ", which has a target of the same name: " +
                       effect + ". For the same table, use the split options and the --seed of that run" +
                       (refit ? ", and train that run without --refit" : ""));
  };
  learn(known.trained);
  check(data.split.valid, "validation", refit ? "training or validation set" : "training set",
        "the validation results will be too optimistic, and an earlier epoch may be chosen");
  learn(known.held);
  check(data.split.test, "test", "training or validation set", "the test results will be too optimistic");
  return warnings;
}

WarmStart warm_start(const std::string& path, const ModelConfig& start, const ModelConfig& config, GraphModel& model) {
  WarmStart result;
  result.new_head = needs_new_head(start.task, config.task) || start.input_names != config.input_names ||
                    start.model.head.mixed != config.model.head.mixed;
  SafetensorsFile file = read_model_file(path);
  if (result.new_head) std::erase_if(file.tensors, [](const auto& item) { return belongs_to_head(item.first); });
  std::string problems;
  for (const TensorProblem& problem : copy_tensors(file.tensors, model)) {
    const bool missing = problem.kind == TensorProblem::Kind::missing;
    if (missing && result.new_head && belongs_to_head(problem.name)) continue;
    const ParameterSpec* spec = model.specs().find(problem.name);
    if (missing && spec != nullptr && spec->is_gate() && !start.model.encoder.gate.enabled) {
      result.fresh.push_back(problem.name);
      continue;
    }
    problems += "\n  " + problem.text;
  }
  if (!problems.empty()) throw FileError(path + ": these weights do not match the model:" + problems);
  return result;
}

}  // namespace molgraph

#include "apps/programs/score/explain_rows.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/drawing.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr int kRowsPerWindow = 64;
constexpr std::size_t kMaxIdBytes = 64;

/// For example "17-CHEMBL25.svg": row number and id. Characters that are unsuitable for a file name become underscores.
std::string picture_name(std::int64_t row, const std::string& id) {
  std::string name = std::to_string(row), safe;
  for (const char letter : id.substr(0, kMaxIdBytes)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
    safe += plain ? letter : '_';
  }
  return safe.empty() || safe == name ? name + ".svg" : name + "-" + safe + ".svg";
}

/// For example "logS -1.8 = baseline -5.5 + atoms 1.1 + blend 2.6"; parts that are 0 are not shown.
std::string legend_of(const std::string& name, const TargetExplanation& target) {
  std::string text =
      name + " " + sensible_number(target.prediction) + " = baseline " + sensible_number(target.baseline);
  const std::pair<const char*, double> parts[] = {
      {"atoms", std::accumulate(target.atoms.begin(), target.atoms.end(), 0.0)},
      {"descriptors", target.descriptors},
      {"blend", target.blend}};
  for (const auto& [part, value] : parts)
    if (value != 0) text += (value < 0 ? " - " : " + ") + std::string(part) + " " + sensible_number(std::abs(value));
  return text;
}

/// The contribution of each atom's fragment; 0 if it is not defined.
std::vector<double> values_of_fragments(const Explanation& explanation, const TargetExplanation& target) {
  std::vector<double> values;
  for (const int fragment : explanation.fragment) {
    const double value = target.fragments[static_cast<std::size_t>(fragment)];
    values.push_back(std::isnan(value) ? 0 : value);
  }
  return values;
}

}  // namespace

BatchOptions explained_batch(BatchOptions batch) {
  batch.batch_size = std::min(batch.batch_size, kRowsPerWindow);
  return batch;
}

ExplainMethod explain_method(const std::string& word) {
  return word.empty()          ? ExplainMethod::none
         : word == "rollout"   ? ExplainMethod::rollout
         : word == "fragments" ? ExplainMethod::fragments
                               : ExplainMethod::atoms;
}

ExplainColumns explained_columns(const Predictor& predictor, ExplainMethod method) {
  if (method == ExplainMethod::none) return {};
  if (method == ExplainMethod::rollout) return {.rollout = true};
  if (method == ExplainMethod::fragments) return {.fragments = true};
  return {.atoms = true, .descriptors = predictor.reads_inputs(), .blend = predictor.is_blend()};
}

void explain_rows(const Predictor& predictor, const RowWindow& window, const std::vector<float>& columns,
                  std::vector<ScoredRow>& rows) {
  std::vector<Explanation> all = window.mol_blocks ? predictor.explain_mol_blocks(window.molecules, columns)
                                                   : predictor.explain(window.molecules, columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ScoredRow& row = rows[i];
    if (row.status != RowStatus::ok) continue;
    row.explanation = std::move(all[i]);
    row.status = row.explanation.status;
    row.reason = row.explanation.reason;
    for (std::size_t t = 0; t < row.explanation.targets.size(); ++t) {
      const TargetExplanation& one = row.explanation.targets[t];
      if (one.complete) continue;
      row.reason += (row.reason.empty() ? "" : "; ") + predictor.task().names[t] + "_atoms: the sum is off by " +
                    sensible_number(one.error);
    }
  }
}

Pictures::Pictures(const ScoreOptions& options, const Predictor& predictor)
    : folder_(options.draw), method_(explain_method(options.explain)), featurizer_(predictor.featurizer()) {
  const bool rollout = method_ == ExplainMethod::rollout;
  if (folder_.empty()) {
    if (!options.draw_target.empty()) throw UsageError("--draw-target needs --draw");
    return;
  }
  if (options.explain.empty()) throw UsageError("--draw draws explanations and needs --explain");
  if (rollout && !options.draw_target.empty())
    throw UsageError("--draw-target: attention rollout does not refer to a target; use --explain atoms or fragments");
  if (const std::string reason = why_no_drawing(); !reason.empty()) throw UsageError("--draw: " + reason);
  const std::vector<std::string>& names = predictor.task().names;
  if (!options.draw_target.empty()) {
    const auto found = std::ranges::find(names, options.draw_target);
    if (found == names.end())
      throw UsageError("--draw-target " + options.draw_target + ": the targets are " + list_of(names));
    target_ = static_cast<std::size_t>(found - names.begin());
  }
  name_ = rollout ? "attention rollout" : predictor.task().model_name(target_);
  std::error_code error;
  const bool exists = fs::exists(folder_, error);
  if (exists && !options.batch.resume && !(fs::is_directory(folder_, error) && fs::is_empty(folder_, error)))
    throw UsageError("--draw " + folder_ + ": exists and is not an empty folder; use a new or empty folder");
  fs::create_directories(folder_, error);
  if (error) throw FileError(folder_ + ": cannot be created: " + error.message());
}

void Pictures::draw(const RowWindows& windows, const RowWindow& window, const std::vector<ScoredRow>& rows) const {
  for (std::size_t i = 0; i < rows.size() && !folder_.empty(); ++i) {
    const std::int64_t number = window.first + static_cast<std::int64_t>(i) + 1;
    if (number > kMaxPictures) return;
    if (rows[i].status != RowStatus::ok) continue;
    const Explanation& explanation = rows[i].explanation;
    std::vector<double> values = explanation.rollout;
    std::string legend = name_;
    if (method_ != ExplainMethod::rollout) {
      const TargetExplanation& target = explanation.targets[target_];
      const bool fragments = method_ == ExplainMethod::fragments;
      values = fragments ? values_of_fragments(explanation, target) : target.atoms;
      legend = fragments ? name_ + " " + sensible_number(target.prediction) + "; fragments" : legend_of(name_, target);
    }
    const std::string svg = draw_atoms(window.molecules[i], window.mol_blocks, featurizer_, values, legend);
    write_file_atomically((fs::path(folder_) / picture_name(number, windows.id(window, i))).string(), svg);
  }
}

}  // namespace molgraph

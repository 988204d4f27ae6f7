#include "apps/scoring/run_trees.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/scoring/run_record.hpp"
#include "apps/scoring/tree_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

bool says_blend(const fs::path& folder) {
  const std::optional<RunRecord> record = read_run_record(folder.string());
  return record && record->blend;
}

}  // namespace

std::string trees_file_of(const std::string& weights) {
  const fs::path folder = fs::path(weights).parent_path();
  std::string path = (folder / kTreesFile).string();
  std::error_code error;
  if (fs::exists(path, error)) return path;
  const bool member = is_member(folder.filename().string());
  if (says_blend(folder) || (member && says_blend(folder.parent_path())))
    throw FileError(path + " is missing: by its run.json the run is a blend of the model and trees");
  return {};
}

RunTrees::RunTrees(const std::string& path, const ModelConfig& config)
    : trees_(read_trees(path, config.task, config.featurizer)) {
  const auto known = descriptor_names();
  for (const std::string& name : trees_.descriptors) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) throw FileError(path + ": this program computes no descriptor " + name);
    descriptor_place_.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  if (!std::ranges::equal(trees_.columns, config.input_columns()))
    throw FileError(path + ": its trees read other columns than the model beside it");
}

void RunTrees::mix(const MolecularGraph& graph, std::span<const float> columns, double* values) const {
  std::vector<float> row(trees_.features(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t k = 0; k < graph.fingerprint.size(); ++k)
    if (graph.fingerprint[k] > 0) row[k] = graph.fingerprint[k];
  for (std::size_t d = 0; d < descriptor_place_.size(); ++d)
    row[kFingerprintBins + d] = graph.descriptors[descriptor_place_[d]];
  std::ranges::copy(columns, row.end() - static_cast<std::ptrdiff_t>(columns.size()));
  for (float& number : row)
    if (!std::isfinite(number)) number = std::numeric_limits<float>::quiet_NaN();  // missing, as in training
  std::vector<double> of_trees(trees_.outputs());
  tree_predictions(trees_, row, of_trees.data());
  mix_predictions(trees_.targets, of_trees, values);
}

}  // namespace molgraph

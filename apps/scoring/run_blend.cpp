#include "apps/scoring/run_blend.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/scoring/tree_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool names_partner(const fs::path& folder, const char* partner) {
  const std::optional<RunRecord> record = read_run_record(folder.string());
  return record && std::ranges::find(record->blend, partner) != record->blend.end();
}

/// "" if the run has no such partner.
std::string partner_file(const fs::path& folder, const char* name, const char* partner) {
  std::string path = (folder / name).string();
  std::error_code error;
  if (fs::exists(path, error)) return path;
  const bool member = is_member(folder.filename().string());
  if (names_partner(folder, partner) || (member && names_partner(folder.parent_path(), partner)))
    throw FileError(path + " is missing: by its run.json the run is a blend of the model and it");
  return {};
}

/// The molecule's counts above 0.
struct Counts {
  std::vector<std::uint32_t> column;
  std::vector<float> count;
};

Counts counts_of(const MolecularGraph& graph) {
  Counts counts;
  for (std::size_t k = 0; k < graph.fingerprint.size(); ++k) {
    if (graph.fingerprint[k] == 0) continue;
    counts.column.push_back(static_cast<std::uint32_t>(k));
    counts.count.push_back(graph.fingerprint[k]);
  }
  return counts;
}

}  // namespace

PartnerFiles partner_files_of(const std::string& weights) {
  const fs::path folder = fs::path(weights).parent_path();
  return {partner_file(folder, kTreesFile, kTreesPartner), partner_file(folder, kProcessFile, kProcessPartner)};
}

RunBlend::RunBlend(const PartnerFiles& files, const ModelConfig& config) {
  if (!files.trees.empty()) {
    trees_ = read_trees(files.trees, config.task, config.featurizer);
    of_trees_ = reader(files.trees, trees_->descriptors, trees_->columns, config);
  }
  if (files.process.empty()) return;
  process_.emplace(read_process(files.process, config.task, config.featurizer));
  of_process_ = reader(files.process, process_->process().descriptors, process_->process().columns, config);
}

RunBlend::Reader RunBlend::reader(const std::string& path, const std::vector<std::string>& descriptors,
                                  const std::vector<std::string>& columns, const ModelConfig& config) {
  Reader reader;
  const auto known = descriptor_names();
  for (const std::string& name : descriptors) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) throw FileError(path + ": this program computes no descriptor " + name);
    reader.place.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  if (!std::ranges::equal(columns, config.input_columns()))
    throw FileError(path + ": reads other columns than the model beside it");
  return reader;
}

std::vector<float> RunBlend::Reader::numbers(const MolecularGraph& graph, std::span<const float> columns) const {
  std::vector<float> numbers;
  for (const std::size_t d : place) numbers.push_back(graph.descriptors[d]);
  numbers.insert(numbers.end(), columns.begin(), columns.end());
  for (float& number : numbers)
    if (!std::isfinite(number)) number = kNaN;  // missing, as in training
  return numbers;
}

void RunBlend::mix(const MolecularGraph& graph, std::span<const float> columns, double* values) const {
  const Counts counts = counts_of(graph);
  std::vector<double> by_trees, by_process;
  std::vector<PartnerPrediction> partners;
  if (trees_) {
    std::vector<float> row(trees_->features(), kNaN);
    for (std::size_t k = 0; k < counts.column.size(); ++k) row[counts.column[k]] = counts.count[k];
    std::ranges::copy(of_trees_.numbers(graph, columns), row.begin() + kFingerprintBins);
    by_trees.resize(trees_->outputs());
    tree_predictions(*trees_, row, by_trees.data());
    partners.push_back({trees_->targets, by_trees});
  }
  if (process_) {
    by_process.resize(process_->process().outputs());
    process_->predict({counts.column, counts.count}, of_process_.numbers(graph, columns), by_process.data());
    partners.push_back({process_->process().targets, by_process});
  }
  blend_predictions(partners, values);
}

}  // namespace molgraph

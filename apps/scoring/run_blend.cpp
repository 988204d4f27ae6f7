#include "apps/scoring/run_blend.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/scoring/tree_file.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBlendedPerPiece = 16;  // unit of work of a thread
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

bool record_lists_partner(const fs::path& folder, const char* partner) {
  const std::optional<RunRecord> record = read_run_record(folder.string());
  return record && std::ranges::find(record->blend, partner) != record->blend.end();
}

/// In the folder of the model or of its ensemble; "" if the run has no such partner.
std::string partner_file(const fs::path& folder, const char* name, const char* partner) {
  std::error_code error;
  if (fs::exists(folder / name, error)) return (folder / name).string();
  const fs::path real = real_folder_of((folder / name).string());
  const bool member = is_member(real.filename().string());
  const fs::path parent = member ? real.parent_path() : real;
  if (member && fs::exists(parent / name, error)) return (parent / name).string();
  if (record_lists_partner(folder, partner))
    throw FileError((folder / name).string() + " is missing: according to run.json, the blend of the run includes it");
  if (member && record_lists_partner(parent, partner))
    throw FileError((parent / name).string() +
                    " is missing: according to run.json, the blend of the ensemble includes it");
  return {};
}

/// A molecule's positive counts.
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
    tree_inputs_ = make_reader(files.trees, trees_->descriptors, trees_->columns, config);
  }
  if (!files.process.empty()) {
    process_.emplace(read_process(files.process, config.task, config.featurizer));
    process_inputs_ = make_reader(files.process, process_->process().descriptors, process_->process().columns, config);
  }
  model_share_.assign(static_cast<std::size_t>(config.task.num_outputs()), 1);
  const std::vector<double> zeros(model_share_.size());
  std::vector<PartnerPrediction> partners;
  if (trees_) partners.push_back({trees_->targets, zeros});
  if (process_) partners.push_back({process_->process().targets, zeros});
  blend_predictions(partners, model_share_.data());
}

RunBlend::InputReader RunBlend::make_reader(const std::string& path, const std::vector<std::string>& descriptors,
                                            const std::vector<std::string>& columns, const ModelConfig& config) {
  InputReader reader;
  const auto known = descriptor_names();
  for (const std::string& name : descriptors) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) throw FileError(path + ": unknown descriptor " + name);
    reader.descriptor_index.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  if (!std::ranges::equal(columns, config.input_columns()))
    throw FileError(path + ": has other input columns than the run's model");
  return reader;
}

std::vector<float> RunBlend::InputReader::numbers(const MolecularGraph& graph, std::span<const float> columns) const {
  std::vector<float> numbers;
  for (const std::size_t d : descriptor_index) numbers.push_back(graph.descriptors[d]);
  numbers.insert(numbers.end(), columns.begin(), columns.end());
  for (float& number : numbers)
    if (!std::isfinite(number)) number = kMissing;  // missing, as in training
  return numbers;
}

std::vector<double> RunBlend::partner_contribution(const MolecularGraph& graph, std::span<const float> columns,
                                                   double* difficulty) const {
  const Counts counts = counts_of(graph);
  std::vector<double> by_trees, by_process;
  std::vector<PartnerPrediction> partners;
  if (trees_) {
    std::vector<float> row(trees_->features(), kMissing);
    for (std::size_t k = 0; k < counts.column.size(); ++k) row[counts.column[k]] = counts.count[k];
    std::ranges::copy(tree_inputs_.numbers(graph, columns), row.begin() + kFingerprintBins);
    by_trees.resize(trees_->outputs());
    tree_predictions(*trees_, row, by_trees.data());
    partners.push_back({trees_->targets, by_trees});
  }
  if (process_) {
    by_process.resize(process_->process().outputs());
    process_->predict({counts.column, counts.count}, process_inputs_.numbers(graph, columns), by_process.data(),
                      difficulty);
    partners.push_back({process_->process().targets, by_process});
  }
  std::vector<double> values(model_share_.size());
  blend_predictions(partners, values.data());  // with a model that predicts 0
  return values;
}

void RunBlend::mix(std::span<const double> contribution, double* values) const {
  for (std::size_t o = 0; o < model_share_.size(); ++o) values[o] = model_share_[o] * values[o] + contribution[o];
}

std::vector<std::shared_ptr<const RunBlend>> load_blends(const std::vector<PartnerFiles>& partner_files,
                                                         const ModelConfig& config, std::vector<std::string>& files) {
  std::vector<std::shared_ptr<const RunBlend>> blends(partner_files.size());
  for (std::size_t r = 0; r < partner_files.size(); ++r) {
    if (!partner_files[r].any()) continue;
    const auto first =
        static_cast<std::size_t>(std::ranges::find(partner_files, partner_files[r]) - partner_files.begin());
    if (first < r) {
      blends[r] = blends[first];
      continue;
    }
    blends[r] = std::make_shared<const RunBlend>(partner_files[r], config);
    for (const std::string& file : {partner_files[r].trees, partner_files[r].process})
      if (!file.empty()) files.push_back(file);
  }
  return blends;
}

PartnerRows partner_rows(const std::vector<std::shared_ptr<const RunBlend>>& blends,
                         const std::vector<FeaturizeResult>& molecules, std::span<const float> columns,
                         std::size_t measured, std::size_t outputs, bool with_difficulty, int threads) {
  PartnerRows all;
  if (with_difficulty) all.difficulty.resize(molecules.size() * outputs);
  for (const auto& one : blends) {
    if (one == nullptr || all.contribution.contains(one.get())) continue;
    std::vector<double>& rows = all.contribution[one.get()];
    rows.resize(molecules.size() * outputs);
    parallel_for(std::ssize(molecules), kBlendedPerPiece, threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const auto* graph = std::get_if<MolecularGraph>(&molecules[i]);
        if (graph == nullptr) continue;
        const std::vector<double> row = one->partner_contribution(
            *graph, columns.subspan(i * measured, measured), with_difficulty ? &all.difficulty[i * outputs] : nullptr);
        std::ranges::copy(row, rows.begin() + static_cast<std::ptrdiff_t>(i * outputs));
      }
    });
  }
  return all;
}

}  // namespace molgraph

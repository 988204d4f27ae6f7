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
    const Trees trees = read_trees(files.trees, config.task, config.featurizer);
    trees_.emplace(trees);
    tree_inputs_ = make_reader(files.trees, trees.descriptors, trees.columns, config);
  }
  if (!files.process.empty()) {
    process_.emplace(read_process(files.process, config.task, config.featurizer));
    process_inputs_ = make_reader(files.process, process_->process().descriptors, process_->process().columns, config);
  }
  model_share_.assign(static_cast<std::size_t>(config.task.num_outputs()), 1);
  const std::vector<double> zeros(model_share_.size());
  std::vector<PartnerPrediction> partners;
  if (trees_) partners.push_back({trees_->targets(), zeros});
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

void RunBlend::InputReader::read(const Molecule& molecule, float* numbers) const {
  const auto put = [&](float number) {
    *numbers++ = std::isfinite(number) ? number : kMissing;  // missing, as in training
  };
  for (const std::size_t d : descriptor_index) put(molecule.graph->descriptors[d]);
  for (const float number : molecule.columns) put(number);
}

std::vector<double> RunBlend::partner_contributions(std::span<const Molecule> molecules, double* difficulty) const {
  const std::size_t outputs = model_share_.size();
  std::vector<Counts> counts;
  for (const Molecule& molecule : molecules) counts.push_back(counts_of(*molecule.graph));
  std::vector<double> by_trees, by_process;
  if (trees_) {
    const std::size_t features = trees_->features();
    std::vector<float> rows(molecules.size() * features, kMissing);
    for (std::size_t m = 0; m < molecules.size(); ++m) {
      float* const row = rows.data() + m * features;
      for (std::size_t k = 0; k < counts[m].column.size(); ++k) row[counts[m].column[k]] = counts[m].count[k];
      tree_inputs_.read(molecules[m], row + kFingerprintBins);
    }
    by_trees.resize(molecules.size() * outputs);
    trees_->predict(rows, by_trees.data());
  }
  if (process_) {
    const std::size_t width = process_->process().scaling.size();
    std::vector<float> numbers(molecules.size() * width);
    std::vector<KernelInput> inputs;
    for (std::size_t m = 0; m < molecules.size(); ++m) {
      const std::span<float> own = std::span(numbers).subspan(m * width, width);
      process_inputs_.read(molecules[m], own.data());
      inputs.push_back({{counts[m].column, counts[m].count}, own});
    }
    by_process.resize(molecules.size() * outputs);
    process_->predict(inputs, by_process.data(), difficulty);
  }
  std::vector<double> values(molecules.size() * outputs);
  for (std::size_t at = 0; at < values.size(); at += outputs) {
    std::vector<PartnerPrediction> partners;
    if (trees_) partners.push_back({trees_->targets(), std::span(by_trees).subspan(at, outputs)});
    if (process_) partners.push_back({process_->process().targets, std::span(by_process).subspan(at, outputs)});
    blend_predictions(partners, values.data() + at);  // with a model that predicts 0
  }
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
  std::vector<RunBlend::Molecule> readable;
  std::vector<std::size_t> index;  // of each in `molecules`
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    if (const auto* graph = std::get_if<MolecularGraph>(&molecules[i]); graph != nullptr) {
      readable.push_back({graph, columns.subspan(i * measured, measured)});
      index.push_back(i);
    }
  }
  for (const auto& one : blends) {
    if (one == nullptr || all.contribution.contains(one.get())) continue;
    std::vector<double>& rows = all.contribution[one.get()];
    rows.resize(molecules.size() * outputs);
    parallel_for(std::ssize(readable), kBlendedPerPiece, threads, [&](std::int64_t begin, std::int64_t end) {
      const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
      std::vector<double> difficulty(with_difficulty ? count * outputs : 0);
      const std::vector<double> values = one->partner_contributions(std::span(readable).subspan(first, count),
                                                                    with_difficulty ? difficulty.data() : nullptr);
      for (std::size_t k = 0; k < count * outputs; ++k) {
        const std::size_t to = index[first + k / outputs] * outputs + k % outputs;
        rows[to] = values[k];
        if (with_difficulty) all.difficulty[to] = difficulty[k];
      }
    });
  }
  return all;
}

}  // namespace molgraph

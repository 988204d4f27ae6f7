#include "apps/scoring/explanation_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/partner_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "molgraph.explanation";
constexpr int kExplanationVersion = 1;

bool record_requires_file(const fs::path& folder) {
  const std::optional<RunRecord> record = read_run_record(folder.string());
  return record && record->explained;
}

}  // namespace

void write_node_mean(const std::string& path, const NodeMean& mean, const FeaturizerOptions& featurizer) {
  const PartnerJson about = {{"version", kExplanationVersion}, {"molecules", mean.molecules}, {"atoms", mean.atoms}};
  write_safetensors(path, {{kKey, about.dump()}, {kFeaturizerKey, featurizer.hash()}},
                    {array_view("node_mean", mean.row)});
}

NodeMean read_node_mean(const std::string& path, const ModelConfig& config) {
  const PartnerFile file(path, "training mean", kKey, config.featurizer);
  file.check_version(kExplanationVersion, kExplanationVersion);
  NodeMean mean{file.array<double>("node_mean"), file.get<std::int64_t>("molecules"), file.get<std::int64_t>("atoms")};
  if (mean.row.size() != static_cast<std::size_t>(config.encoder().width))
    file.throw_damaged("it has " + std::to_string(mean.row.size()) + " channels, the model has " +
                       std::to_string(config.encoder().width));
  if (!std::ranges::all_of(mean.row, [](double value) { return std::isfinite(value); }))
    file.throw_damaged("a number is not finite");
  return mean;
}

std::string explanation_file_of(const std::string& weights) {
  const fs::path folder = real_folder_of(weights), path = folder / kExplanationFile;
  std::error_code error;
  if (fs::exists(path, error)) return path.string();
  if (record_requires_file(folder) ||
      (is_member(folder.filename().string()) && record_requires_file(folder.parent_path())))
    throw FileError(path.string() + " is missing, although run.json records it");
  return {};
}

}  // namespace molgraph

#include "apps/training/run/run_explanation.hpp"

#include <array>
#include <filesystem>

#include "apps/scoring/explanation_file.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/scoring/node_rows.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kMoleculesPerSum = 512;  // a fixed order of summation for any number of threads

NodeMean node_mean(const NodeRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train, int threads) {
  const auto count = static_cast<std::int64_t>(train.size());
  std::vector<std::vector<double>> sums(static_cast<std::size_t>((count + kMoleculesPerSum - 1) / kMoleculesPerSum));
  parallel_for(count, kMoleculesPerSum, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double>& sum = sums[static_cast<std::size_t>(begin / kMoleculesPerSum)];
    sum.assign(rows.width(), 0);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::array graph{set.graph(train[static_cast<std::size_t>(k)])};
      const std::array<std::int64_t, 1> row{0};
      const PackOptions options{.inputs = graph[0].num_inputs};
      const std::vector<double> values = rows.of(pack(graph, row, options), 0);
      for (std::size_t i = 0; i < values.size(); ++i) sum[i % rows.width()] += values[i];
    }
  });
  NodeMean mean{std::vector<double>(rows.width()), count, 0};
  for (const std::int64_t g : train) mean.atoms += set.graph(g).num_atoms;
  for (const auto& sum : sums)
    for (std::size_t c = 0; c < sum.size(); ++c) mean.row[c] += sum[c];
  for (double& value : mean.row) value /= static_cast<double>(mean.atoms);
  return mean;
}

}  // namespace

void write_explanation(const std::string& folder, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                       int threads) {
  const RunDirectory directory{folder};
  if (train.empty()) {
    std::filesystem::remove(directory.explanation());
    return;
  }
  const SafetensorsFile file = read_model_file(directory.model());
  const ModelConfig config = read_model_config(file, directory.model());
  const NodeRows rows(model_plan(config), [&](const std::string& name) {
    return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
  });
  write_node_mean(directory.explanation(), node_mean(rows, set, train, threads), config.featurizer);
}

}  // namespace molgraph

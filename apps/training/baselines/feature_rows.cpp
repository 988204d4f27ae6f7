#include "apps/training/baselines/feature_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "datasets/system/readable.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/pair_relations.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kMoleculesPerPiece = 16;
constexpr std::int64_t kMoleculesPerBlock = 4096;  ///< between two progress calls

/// The values of one molecule that are not missing.
struct Row {
  std::vector<std::uint32_t> column;
  std::vector<float> value;

  void add(std::size_t at, float number) {
    if (!std::isfinite(number)) return;
    column.push_back(static_cast<std::uint32_t>(at));
    value.push_back(number);
  }
};

Row row_of(const MolecularGraph& graph, std::span<const float> measured) {
  Row row;
  for (std::size_t k = 0; k < graph.fingerprint.size(); ++k)
    if (graph.fingerprint[k] > 0) row.add(k, graph.fingerprint[k]);
  std::size_t at = kFingerprintBins;
  for (const float number : graph.descriptors) row.add(at++, number);
  for (const float number : measured) row.add(at++, number);
  return row;
}

}  // namespace

void FeatureRows::spread(std::size_t i, float* dense) const {
  std::fill_n(dense, width, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t k = offset[i]; k < offset[i + 1]; ++k) dense[column[k]] = value[k];
}

CountsView FeatureRows::counts(std::size_t i) const {
  const auto begin = column.begin() + static_cast<std::ptrdiff_t>(offset[i]),
             end = column.begin() + static_cast<std::ptrdiff_t>(offset[i + 1]);
  const auto length = static_cast<std::size_t>(std::lower_bound(begin, end, kFingerprintBins) - begin);
  return {std::span(column).subspan(offset[i], length), std::span(value).subspan(offset[i], length)};
}

std::vector<float> FeatureRows::numbers(std::size_t i) const {
  std::vector<float> all(width - kFingerprintBins, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t k = offset[i]; k < offset[i + 1]; ++k)
    if (column[k] >= kFingerprintBins) all[column[k] - kFingerprintBins] = value[k];
  return all;
}

FeatureRows feature_rows(const MoleculeSet& set, int threads, const std::function<void(std::int64_t)>& progress) {
  FeatureRows rows;
  for (const std::string_view name : descriptor_names()) rows.descriptors.emplace_back(name);
  const std::size_t inputs = set.input_names.size(),
                    computed = set.featurizer.descriptors == DescriptorSet::none ? 0 : rows.descriptors.size(),
                    measured = inputs - computed;
  rows.columns.assign(set.input_names.begin() + static_cast<std::ptrdiff_t>(computed), set.input_names.end());
  rows.width += rows.descriptors.size() + measured;
  const Featurizer featurizer(set.featurizer, {.max_atoms = kMaxAtoms}, {.descriptors = true, .fingerprint = true});
  std::vector<Row> block;
  for (std::int64_t first = 0; first < set.size(); first += kMoleculesPerBlock) {
    if (progress) progress(first);
    const std::int64_t count = std::min(kMoleculesPerBlock, set.size() - first);
    block.assign(static_cast<std::size_t>(count), {});
    parallel_for(count, kMoleculesPerPiece, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto g = static_cast<std::size_t>(first + i);
        const FeaturizeResult read = featurizer.smiles(set.smiles[g]);
        if (const auto* rejection = std::get_if<Rejection>(&read))
          throw DataError(set.source.file, set.row[g] + 1, "can no longer be read: " + rejection->reason,
                          set.smiles[g]);
        block[static_cast<std::size_t>(i)] =
            row_of(std::get<MolecularGraph>(read), std::span(set.inputs).subspan(g * inputs + computed, measured));
      }
    });
    for (const Row& row : block) {
      rows.column.insert(rows.column.end(), row.column.begin(), row.column.end());
      rows.value.insert(rows.value.end(), row.value.begin(), row.value.end());
      rows.offset.push_back(rows.column.size());
    }
  }
  return rows;
}

}  // namespace molgraph

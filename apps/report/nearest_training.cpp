#include "apps/report/nearest_training.hpp"

#include <utility>

#include "featurize/graph/pair_relations.hpp"

namespace molgraph {
namespace {

FeaturizerOptions without_descriptors(FeaturizerOptions options) {
  options.descriptors = DescriptorSet::none;
  return options;
}

}  // namespace

NearestTraining::NearestTraining(Domain domain, const FeaturizerOptions& featurizer)
    : fingerprints_(domain.bits), labels_(std::move(domain.labels).value()),
      featurizer_(without_descriptors(featurizer), {.max_atoms = kMaxAtoms}, {.fingerprint = true}) {}

std::optional<NearestTraining::Found> NearestTraining::find(const std::string& smiles) const {
  const FeaturizeResult read = featurizer_.smiles(smiles);
  const auto* graph = std::get_if<MolecularGraph>(&read);
  if (graph == nullptr) return std::nullopt;
  const SimilarMolecule nearest = fingerprints_.most_similar(bits_of(graph->fingerprint));
  const std::size_t targets = labels_.values.size() / labels_.ids.size();
  const auto first = labels_.values.begin() + static_cast<std::ptrdiff_t>(nearest.index * targets);
  return Found{nearest.similarity,
               labels_.ids[nearest.index],
               labels_.smiles[nearest.index],
               {first, first + static_cast<std::ptrdiff_t>(targets)}};
}

}  // namespace molgraph

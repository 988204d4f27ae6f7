#include "apps/scoring/domain.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "featurize/graph/ring_systems.hpp"

namespace molgraph {
namespace {

NearestRows rows_of(const Domain& domain) {
  NearestRows rows(domain.space.axes());
  std::vector<float> row(domain.space.axes());
  for (std::size_t i = 0; i < domain.size(); ++i) {
    domain.space.dequantise(domain.embeddings.data() + i * row.size(), row.data());
    rows.add(row);
  }
  rows.finish();
  return rows;
}

bool is_ascending(const auto& values) { return std::ranges::is_sorted(values, std::less_equal()); }

/// Whether all values are in `known`, which is ascending.
bool all_known(const auto& values, const auto& known) {
  return std::ranges::all_of(values, [&](auto value) { return std::ranges::binary_search(known, value); });
}

bool elements_known(const GraphView& graph, const std::vector<std::uint8_t>& known) {
  for (int atom = 0; atom < graph.num_atoms; ++atom)
    if (!std::ranges::binary_search(known, graph.atoms[atom][0])) return false;
  return true;
}

}  // namespace

float DomainSpace::coordinate(const float* embedding, std::size_t axis) const {
  if (projection.empty()) return embedding[axis];
  double sum = 0;
  for (std::size_t c = 0; c < width; ++c)
    sum += static_cast<double>(projection[axis * width + c]) * (embedding[c] - center[c]);
  return static_cast<float>(sum);
}

void DomainSpace::quantise(std::span<const float> embedding, std::int8_t* to) const {
  assert(embedding.size() == width);
  for (std::size_t a = 0; a < axes(); ++a) {
    const float steps = std::clamp(coordinate(embedding.data(), a) / step[a], -kMaxQuantised, kMaxQuantised);
    to[a] = static_cast<std::int8_t>(std::lround(steps));
  }
}

void DomainSpace::dequantise(const std::int8_t* quantised, float* to) const {
  for (std::size_t a = 0; a < axes(); ++a) to[a] = static_cast<float>(quantised[a]) * step[a];
}

std::string domain_problem(const Domain& d, std::size_t width, std::size_t targets) {
  const std::size_t axes = d.space.axes(), count = d.size();
  const auto finite = [](const std::vector<float>& values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  };
  if (count == 0) return "no molecules";
  if (d.space.width != width) return "embeddings of another width than the model's";
  const bool projected = !d.space.projection.empty();
  if (axes == 0 || axes > kMaxDomainAxes || (!projected && axes != width)) return "an invalid number of axes";
  if (projected && (d.space.projection.size() != axes * width || d.space.center.size() != width))
    return "a projection of the wrong size";
  if (!finite(d.space.projection) || !finite(d.space.center) || !finite(d.space.step) ||
      std::ranges::any_of(d.space.step, [](float step) { return step <= 0; }))
    return "an invalid embedding space";
  if (d.embeddings.size() != count * axes) return "the number of embeddings does not match the fingerprints";
  if (d.own_distances.size() > kMaxOwnDistances || !finite(d.own_distances) ||
      !std::ranges::is_sorted(d.own_distances) || (!d.own_distances.empty() && d.own_distances[0] < 0))
    return "invalid distances";
  if (!is_ascending(d.atom_kinds) || !is_ascending(d.ring_systems)) return "a list that is not in ascending order";
  if (d.labels &&
      (d.labels->ids.size() != count || d.labels->smiles.size() != count || d.labels->values.size() != count * targets))
    return "the number of labels does not match the molecules";
  if (d.labels && std::ranges::any_of(d.labels->values, [](double value) { return std::isinf(value); }))
    return "an infinite label";
  return {};
}

DomainIndex::DomainIndex(Domain domain)
    : domain_(std::move(domain)), rows_(rows_of(domain_)), fingerprints_(domain_.bits) {}

std::vector<DomainPlace> DomainIndex::places(std::span<const Query> queries) const {
  const std::size_t axes = domain_.space.axes();
  std::vector<float> points(queries.size() * axes);
  std::vector<std::int8_t> quantised(axes);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    domain_.space.quantise(queries[q].embedding, quantised.data());
    domain_.space.dequantise(quantised.data(), points.data() + q * axes);
  }
  const std::vector<Neighbour> nearest = rows_.find(points);
  const std::vector<float>& own_distances = domain_.own_distances;
  std::vector<DomainPlace> places(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const SimilarMolecule similar = fingerprints_.most_similar(bits_of(queries[q].fingerprint));
    const auto nearer =
        std::ranges::lower_bound(own_distances, static_cast<float>(nearest[q].distance)) - own_distances.begin();
    places[q] = {.similarity = similar.similarity,
                 .nearest = similar.index,
                 .percentile = own_distances.empty()
                                   ? std::numeric_limits<double>::quiet_NaN()
                                   : 100.0 * static_cast<double>(nearer) / static_cast<double>(own_distances.size()),
                 .elements_seen = elements_known(queries[q].graph, domain_.atom_kinds),
                 .rings_seen = all_known(ring_systems(queries[q].graph), domain_.ring_systems)};
  }
  return places;
}

}  // namespace molgraph

#include "attention/cpu/pack_places.hpp"

#include <algorithm>

#include "attention/spec/node_positions.hpp"
#include "attention/spec/pair_vector.hpp"
#include "attention/spec/resistance.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {
namespace {

std::vector<LevelPart> level_parts(const GraphBatch& batch, const Pack& pack) {
  const PathSteps& paths = batch.paths;
  std::vector<LevelPart> parts;
  for (std::size_t m = 1; m <= static_cast<std::size_t>(paths.levels()); ++m) {
    const auto begin = paths.pair.begin() + paths.level_pairs[m - 1], end = paths.pair.begin() + paths.level_pairs[m];
    const auto first =
        std::lower_bound(begin, end, batch.pair_offset[pack.first]);  // a level's pairs are in the order of molecules
    const auto last = std::lower_bound(first, end, batch.pair_offset[pack.last]);
    const auto steps = paths.target.begin() + paths.level_steps[m - 1],
               steps_end = paths.target.begin() + paths.level_steps[m];
    const auto first_step = std::lower_bound(steps, steps_end, first - begin);
    const auto last_step = std::lower_bound(first_step, steps_end, last - begin);
    parts.push_back({static_cast<std::size_t>(first - paths.pair.begin()),
                     static_cast<std::size_t>(last - paths.pair.begin()),
                     static_cast<std::size_t>(first_step - paths.target.begin()),
                     static_cast<std::size_t>(last_step - paths.target.begin())});
  }
  return parts;
}

void pack_resistances(const GraphBatch& batch, const Pack& pack, std::vector<float>& out) {
  out.assign(pack.pairs, -1.0f);
  std::vector<double> of_molecule;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    const std::size_t atoms = of.tokens - 1;
    of_molecule.resize(atoms * atoms);
    resistance_distances(batch, static_cast<std::int64_t>(b), of_molecule.data());
    for (std::size_t i = 0; i < atoms; ++i)
      for (std::size_t j = 0; j < atoms; ++j)
        out[of.first_pair + (i + 1) * of.tokens + j + 1] = static_cast<float>(of_molecule[i * atoms + j]);
  }
}

void pack_pair_walks(const GraphBatch& batch, const Pack& pack, const PairVector& vector, std::vector<float>& out) {
  const auto size = static_cast<std::size_t>(vector.size());
  out.resize(pack.pairs * size);
  for (std::size_t b = pack.first; b < pack.last; ++b)
    pair_vectors(batch, static_cast<std::int64_t>(b), vector,
                 out.data() + pack.molecules[b - pack.first].first_pair * size);
}

}  // namespace

void PackPlaces::load(const GraphBatch& batch, const Pack& pack) {
  batch_ = &batch;
  pack_ = &pack;
  has_levels_ = has_resistances_ = false;
  walk_steps_ = 0;
  pair_vector_ = {};
}

const std::vector<LevelPart>& PackPlaces::levels() {
  if (!has_levels_) levels_ = level_parts(*batch_, *pack_);
  has_levels_ = true;
  return levels_;
}

const std::vector<float>& PackPlaces::walks(std::size_t steps) {
  if (walk_steps_ != steps)
    pack_positions(*batch_, *pack_, NodePosition::random_walk, {.steps = static_cast<int>(steps)}, {}, walks_);
  walk_steps_ = steps;
  return walks_;
}

const std::vector<float>& PackPlaces::resistances() {
  if (!has_resistances_) pack_resistances(*batch_, *pack_, resistances_);
  has_resistances_ = true;
  return resistances_;
}

const std::vector<float>& PackPlaces::pair_walks(const PairVector& vector) {
  if (pair_vector_ != vector) pack_pair_walks(*batch_, *pack_, vector, pair_walks_);
  pair_vector_ = vector;
  return pair_walks_;
}

void PackPlaces::diagonals(const PairVector& vector, std::vector<float>& out) {
  const std::vector<float>& pairs = pair_walks(vector);
  const auto size = static_cast<std::size_t>(vector.size());
  out.resize(pack_->tokens * size);
  for (const MoleculeRelations& of : pack_->molecules)
    for (std::size_t i = 0; i < of.tokens; ++i)
      for (std::size_t k = 0; k < size; ++k)
        out[(of.first_token + i) * size + k] = pairs[of.first_pair * size + (k * of.tokens + i) * of.tokens + i];
}

void pack_positions(const GraphBatch& batch, const Pack& pack, NodePosition kind, const PairVector& vector,
                    const RandomMode& random, std::vector<float>& out) {
  const int count = vector.size();
  const auto dim = static_cast<std::size_t>(count);
  out.assign(pack.tokens * dim, 0.0f);
  std::vector<double> rows;
  std::vector<std::uint16_t> draws(dim);
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    const MoleculeRelations& of = pack.molecules[b - pack.first];
    rows.assign((of.tokens - 1) * dim, 0.0);
    const auto molecule = static_cast<std::int64_t>(b);
    if (kind == NodePosition::random_walk) atom_vectors(batch, molecule, vector, rows.data());
    else laplacian_positions(batch, molecule, count, rows.data());
    if (kind == NodePosition::laplacian && random.training) {
      random_draws(input_stream(batch, b, random, RandomSite::laplacian_sign), count, draws.data());
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (flips_sign(draws[i % dim])) rows[i] = -rows[i];
    }
    std::copy(rows.begin(), rows.end(), out.begin() + static_cast<std::ptrdiff_t>((of.first_token + 1) * dim));
  }
}

RandomStream input_stream(const GraphBatch& batch, std::size_t b, const RandomMode& random, RandomSite site) {
  return {random.seed, random.step, static_cast<std::uint32_t>(batch.row[b]), 0, site, random.ascent};
}

}  // namespace molgraph::cpu

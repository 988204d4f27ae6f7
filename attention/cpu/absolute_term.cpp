#include "attention/cpu/absolute_term.hpp"

#include <algorithm>

#include "attention/spec/node_positions.hpp"

namespace molgraph::cpu {
namespace {

constexpr std::size_t kRank = kAbsoluteRank, kLastDegree = kAbsoluteLastDegree;

/// Row of each token in query_row and key_row: the capped degree; the last row for the virtual node.
std::vector<std::size_t> rows_of_tokens(const GraphBatch& batch, const Pack& pack, std::size_t rows) {
  std::vector<std::size_t> of;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    of.push_back(rows - 1);
    for (auto a = batch.atom_offset[b]; a < batch.atom_offset[b + 1]; ++a)
      of.push_back(
          std::min<std::size_t>(static_cast<std::size_t>(batch.degree[static_cast<std::size_t>(a)]), kLastDegree));
  }
  return of;
}

}  // namespace

AbsoluteTerm::AbsoluteTerm(const PairTerm& term, const ParameterList& parameters)
    : PlainPairTerm(term, parameters, {"query_row", "query_walk", "key_row", "key_walk"}) {
  const auto& rows = parameters.at(term.prefix + "query_row").shape;
  rows_ = static_cast<std::size_t>(rows[0]);
  width_ = static_cast<std::size_t>(rows[1]);
  heads_ = width_ / kRank;
  padded_ = padded_heads(heads_);
  steps_ = flat_parameters_[1].size / width_;
  side_ = flat_parameters_[2].offset;
}

void AbsoluteTerm::factors(PackPlaces& places, const float* side, std::vector<float>& out) const {
  const Pack& pack = places.pack();
  const std::vector<std::size_t> rows = rows_of_tokens(places.batch(), pack, rows_);
  const float *walks = places.walks(steps_).data(), *walk = side + rows_ * width_;
  out.resize(pack.tokens * width_);
  for (std::size_t t = 0; t < pack.tokens; ++t) {
    float* to = out.data() + t * width_;
    std::copy_n(side + rows[t] * width_, width_, to);
    for (std::size_t s = 0; s < steps_; ++s)
      for (std::size_t c = 0; c < width_; ++c) to[c] += walks[t * steps_ + s] * walk[s * width_ + c];
  }
}

void AbsoluteTerm::factors_gradient(PackPlaces& places, const std::vector<float>& slope, float* side) const {
  const Pack& pack = places.pack();
  const std::vector<std::size_t> rows = rows_of_tokens(places.batch(), pack, rows_);
  const float* walks = places.walks(steps_).data();
  float* walk = side + rows_ * width_;
  for (std::size_t t = 0; t < pack.tokens; ++t) {
    const float* from = slope.data() + t * width_;
    for (std::size_t c = 0; c < width_; ++c) side[rows[t] * width_ + c] += from[c];
    for (std::size_t s = 0; s < steps_; ++s)
      for (std::size_t c = 0; c < width_; ++c) walk[s * width_ + c] += walks[t * steps_ + s] * from[c];
  }
}

void AbsoluteTerm::add_values(PackPlaces& places, float* out) const {
  std::vector<float> query, key;
  factors(places, flat_.data(), query);
  factors(places, flat_.data() + side_, key);
  const Pack& pack = places.pack();
  for (const MoleculeRelations& of : pack.molecules)
    for (std::size_t i = 0; i < of.tokens; ++i)
      for (std::size_t j = 0; j < of.tokens; ++j) {
        float* to = out + (of.first_pair + i * of.tokens + j) * padded_;
        const float *q = query.data() + (of.first_token + i) * width_, *k = key.data() + (of.first_token + j) * width_;
        for (std::size_t h = 0; h < heads_; ++h) {
          float lanes[8] = {};
          for (std::size_t c = 0; c < kRank; c += 8)
            for (std::size_t l = 0; l < 8; ++l) lanes[l] += q[h * kRank + c + l] * k[h * kRank + c + l];
          for (const float lane : lanes) to[h] += lane;
        }
      }
}

void AbsoluteTerm::add_gradient(PackPlaces& places, const float* slope, float* flat) const {
  const Pack& pack = places.pack();
  std::vector<float> query, key, dquery(pack.tokens * width_, 0.0f), dkey(pack.tokens * width_, 0.0f);
  factors(places, flat_.data(), query);
  factors(places, flat_.data() + side_, key);
  for (const MoleculeRelations& of : pack.molecules)
    for (std::size_t i = 0; i < of.tokens; ++i)
      for (std::size_t j = 0; j < of.tokens; ++j) {
        const float* from = slope + (of.first_pair + i * of.tokens + j) * padded_;
        const std::size_t qi = (of.first_token + i) * width_, kj = (of.first_token + j) * width_;
        for (std::size_t h = 0; h < heads_; ++h)
          for (std::size_t c = h * kRank; c < (h + 1) * kRank; ++c) {
            dquery[qi + c] += from[h] * key[kj + c];
            dkey[kj + c] += from[h] * query[qi + c];
          }
      }
  factors_gradient(places, dquery, flat);
  factors_gradient(places, dkey, flat + side_);
}

}  // namespace molgraph::cpu

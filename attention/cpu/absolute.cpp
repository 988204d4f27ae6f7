#include "attention/cpu/absolute.hpp"

#include <algorithm>
#include <cassert>

#include "attention/spec/node_positions.hpp"

namespace molgraph::cpu {
namespace {

constexpr std::size_t kRank = kAbsoluteRank, kLastDegree = kAbsoluteLastDegree, kRows = kAbsoluteRows;

}  // namespace

std::vector<std::size_t> absolute_rows(const GraphBatch& batch, const Pack& pack) {
  std::vector<std::size_t> rows;
  for (std::size_t b = pack.first; b < pack.last; ++b) {
    rows.push_back(kRows - 1);
    for (auto a = batch.atom_offset[b]; a < batch.atom_offset[b + 1]; ++a)
      rows.push_back(std::min<std::size_t>(static_cast<std::size_t>(batch.degree[static_cast<std::size_t>(a)]), kLastDegree));
  }
  return rows;
}

AbsoluteBias::AbsoluteBias(std::size_t heads, std::size_t walk_steps)
    : heads_(heads), padded_(padded_heads(heads)), steps_(walk_steps), width_(heads * kRank), side_((kRows + walk_steps) * width_),
      flat_(2 * side_) {}

std::vector<TensorSpec> AbsoluteBias::tensors() const {
  const auto width = static_cast<std::int64_t>(width_), rows = static_cast<std::int64_t>(kRows), steps = static_cast<std::int64_t>(steps_);
  return {{"query_row", {rows, width}}, {"query_walk", {steps, width}}, {"key_row", {rows, width}}, {"key_walk", {steps, width}}};
}

void AbsoluteBias::assign(const TensorLookup& tensors) {
  float* to = flat_.data();
  for (const char* side : {"query", "key"})
    for (const auto& [part, rows] : {std::pair{"_row", kRows}, std::pair{"_walk", steps_}}) {
      const float* from = tensors(std::string(side) + part);
      assert(from != nullptr);
      to = std::copy_n(from, rows * width_, to);
    }
}

void AbsoluteBias::add_gradients(const float* flat, const GradientLookup& gradients) const {
  for (const char* side : {"query", "key"})
    for (const auto& [part, rows] : {std::pair{"_row", kRows}, std::pair{"_walk", steps_}}) {
      float* to = gradients(std::string(side) + part);
      for (std::size_t i = 0; to != nullptr && i < rows * width_; ++i) to[i] += flat[i];
      flat += rows * width_;
    }
}

void AbsoluteBias::factors(const GraphBatch& batch, const Pack& pack, const float* walks, std::size_t side,
                           std::vector<float>& out) const {
  const std::vector<std::size_t> rows = absolute_rows(batch, pack);
  const float *table = flat_.data() + side * side_, *walk = table + kRows * width_;
  out.resize(pack.tokens * width_);
  for (std::size_t t = 0; t < pack.tokens; ++t) {
    float* to = out.data() + t * width_;
    std::copy_n(table + rows[t] * width_, width_, to);
    for (std::size_t s = 0; s < steps_; ++s)
      for (std::size_t c = 0; c < width_; ++c) to[c] += walks[t * steps_ + s] * walk[s * width_ + c];
  }
}

void AbsoluteBias::factors_gradient(const GraphBatch& batch, const Pack& pack, const float* walks,
                                    const std::vector<float>& slope, float* flat) const {
  const std::vector<std::size_t> rows = absolute_rows(batch, pack);
  float* walk = flat + kRows * width_;
  for (std::size_t t = 0; t < pack.tokens; ++t) {
    const float* from = slope.data() + t * width_;
    for (std::size_t c = 0; c < width_; ++c) flat[rows[t] * width_ + c] += from[c];
    for (std::size_t s = 0; s < steps_; ++s)
      for (std::size_t c = 0; c < width_; ++c) walk[s * width_ + c] += walks[t * steps_ + s] * from[c];
  }
}

void AbsoluteBias::add_bias(const GraphBatch& batch, const Pack& pack, const float* walks, float* bias) const {
  std::vector<float> query, key;
  factors(batch, pack, walks, 0, query);
  factors(batch, pack, walks, 1, key);
  for (const MoleculeRelations& of : pack.molecules)
    for (std::size_t i = 0; i < of.tokens; ++i)
      for (std::size_t j = 0; j < of.tokens; ++j) {
        float* to = bias + (of.first_pair + i * of.tokens + j) * padded_;
        const float *q = query.data() + (of.first_token + i) * width_, *k = key.data() + (of.first_token + j) * width_;
        for (std::size_t h = 0; h < heads_; ++h) {
          float lanes[8] = {};
          for (std::size_t c = 0; c < kRank; c += 8)
            for (std::size_t l = 0; l < 8; ++l) lanes[l] += q[h * kRank + c + l] * k[h * kRank + c + l];
          for (const float lane : lanes) to[h] += lane;
        }
      }
}

void AbsoluteBias::gradient(const GraphBatch& batch, const Pack& pack, const float* walks, const float* slope, float* flat) const {
  std::vector<float> query, key, dquery(pack.tokens * width_, 0.0f), dkey(pack.tokens * width_, 0.0f);
  factors(batch, pack, walks, 0, query);
  factors(batch, pack, walks, 1, key);
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
  factors_gradient(batch, pack, walks, dquery, flat);
  factors_gradient(batch, pack, walks, dkey, flat + side_);
}

}  // namespace molgraph::cpu

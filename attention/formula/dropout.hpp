// The random numbers of one molecule in one training pass (docs/models/formula.md section 2, "Random numbers").
#pragma once

#include <cstdint>
#include <vector>

#include "attention/formula/matrix.hpp"
#include "attention/spec/random.hpp"

namespace molgraph::formula {

/// At scoring, nothing is random: all factors are 1, without noise or sign changes.
class Draws {
 public:
  /// `row`: the molecule's row in its data set.
  Draws(const RandomMode& mode, std::int64_t row) : mode_(mode), row_(row) {}

  /// Dropout factors [rows, columns]: 0 with probability p, else 1/(1 - p).
  Matrix dropout(RandomSite site, int layer, std::int64_t rows, std::int64_t columns, double p) const;
  /// Dropout factors of the attention weights, per head [N, N].
  std::vector<Matrix> attention(int layer, int heads, std::int64_t tokens, double p) const;
  /// Uniform in (-width, width), [rows, columns].
  Matrix noise(double width, std::int64_t rows, std::int64_t columns) const;
  /// Signs of `count` eigenvectors, +1 or -1 each, [1, count].
  Matrix signs(std::int64_t count) const;

 private:
  std::vector<std::uint16_t> draws(RandomSite site, int layer, std::int64_t count) const;

  RandomMode mode_;
  std::int64_t row_;
};

}  // namespace molgraph::formula

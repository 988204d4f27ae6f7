// One molecule of a packed batch and the classes of its pairs (docs/models/formula.md section 1).
#pragma once

#include <cstdint>

#include "attention/formula/matrix.hpp"
#include "attention/spec/class_rule.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::formula {

/// A molecule of n atoms has N = n + 1 tokens: token 0 is the virtual node, tokens 1..n are the atoms. Valid while the
/// batch lives.
class Molecule {
 public:
  Molecule(const GraphBatch& batch, std::int64_t number) : batch_(&batch), number_(number) {}

  const GraphBatch& batch() const { return *batch_; }
  std::int64_t number() const { return number_; }                ///< index in the batch
  std::int64_t row() const { return batch_->row[at(number_)]; }  ///< row in its data set: key of its random numbers
  std::int64_t tokens() const { return batch_->token_offset[at(number_ + 1)] - batch_->token_offset[at(number_)]; }

  /// Value of column `column` of atom token i >= 1.
  int atom(std::int64_t i, int column) const {
    const std::int64_t columns = feature_shape(batch_->features).atom_columns;
    return batch_->atoms[at((batch_->atom_offset[at(number_)] + i - 1) * columns + column)];
  }
  int degree(std::int64_t i) const { return batch_->degree[at(batch_->atom_offset[at(number_)] + i - 1)]; }

  /// Input `d` of the head; NaN = missing.
  double input(std::int64_t d) const {
    const auto count = static_cast<std::int64_t>(batch_->inputs.size()) / batch_->size();
    return batch_->inputs[at(number_ * count + d)];
  }

  /// Raw relations of the pair (i, j): distance in bonds, kUnreachable or kVirtual; bond id, kNoEdge, kSelfEdge or
  /// kVirtualEdge.
  std::uint16_t topology(std::int64_t i, std::int64_t j) const { return batch_->topology[pair(i, j)]; }
  std::uint8_t edge(std::int64_t i, std::int64_t j) const { return batch_->edge[pair(i, j)]; }
  bool bonded(std::int64_t i, std::int64_t j) const { return i > 0 && j > 0 && topology(i, j) == 1; }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  std::size_t pair(std::int64_t i, std::int64_t j) const {
    return at(batch_->pair_offset[at(number_)] + i * tokens() + j);
  }

  const GraphBatch* batch_;
  std::int64_t number_;
};

/// The classes that index the tables, for every pair of tokens [N, N].
struct PairClasses {
  Grid<int> topology, edge;
  Grid<char> masked;  ///< 1 if token i must not attend to token j; empty = no pair is masked
};

PairClasses pair_classes(const Molecule& molecule, const ClassRule& rule);

}  // namespace molgraph::formula

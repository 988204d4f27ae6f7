// Values of a pack's molecules that node input and pair terms need in addition to the relations (path levels, random
// walks, resistances), computed once per pack.
#pragma once

#include <vector>

#include "attention/cpu/pack.hpp"
#include "attention/engine.hpp"
#include "attention/spec/options.hpp"
#include "attention/spec/random.hpp"

namespace molgraph::cpu {

/// The part of a level (distance 1, 2, ...) of GraphBatch::paths that belongs to a pack: its pairs, and the steps to
/// them.
struct LevelPart {
  std::size_t first_pair, last_pair, first_step, last_step;
};

/// One object per thread, reloaded for each pack. Values are computed on first use.
class PackPlaces {
 public:
  /// Both arguments must live until the next load().
  void load(const GraphBatch& batch, const Pack& pack);

  const GraphBatch& batch() const { return *batch_; }
  const Pack& pack() const { return *pack_; }
  const std::vector<LevelPart>& levels();
  /// [tokens of the pack, steps] return probabilities of random walks (spec/node_positions.hpp).
  const std::vector<float>& walks(std::size_t steps);
  /// [pairs of the pack] resistance distances (spec/resistance.hpp); -1 for pairs without one.
  const std::vector<float>& resistances();
  /// Vectors of pairs of tokens (spec/pair_vector.hpp): per molecule [size, tokens j, tokens i], beginning at its
  /// first_pair times the size.
  const std::vector<float>& pair_walks(const PairVector& vector);
  /// The diagonals of pair_walks(): `out` [tokens of the pack, vector.size()].
  void diagonals(const PairVector& vector, std::vector<float>& out);
  /// Working memory of the caller; the next caller overwrites it.
  std::vector<float>& scratch() { return scratch_; }

 private:
  const GraphBatch* batch_ = nullptr;
  const Pack* pack_ = nullptr;
  bool has_levels_ = false, has_resistances_ = false;
  std::size_t walk_steps_ = 0;  ///< of `walks_`; 0 = not computed
  PairVector pair_vector_;      ///< of `pair_walks_`; empty = not computed
  std::vector<LevelPart> levels_;
  std::vector<float> walks_, resistances_, pair_walks_, scratch_;
};

/// Positions [tokens of the pack, vector.size()], zero for token 0: eigenvectors of spec/node_positions.hpp, with
/// random signs in training, or the diagonals of the pairs' vectors.
void pack_positions(const GraphBatch& batch, const Pack& pack, NodePosition kind, const PairVector& vector,
                    const RandomMode& random, std::vector<float>& out);

/// The random stream of molecule b of the batch at a site of the node input.
RandomStream input_stream(const GraphBatch& batch, std::size_t b, const RandomMode& random, RandomSite site);

}  // namespace molgraph::cpu

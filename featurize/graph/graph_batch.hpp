// A packed batch of molecules: concatenated, never padded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "featurize/graph/input_scaling.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Which shortest paths the edge-path bias averages over (docs/models/formula.md section 3).
/// `mean`: all of them, invariant under renumbering of the atoms (default).
/// `single`: one, through the predecessor with the smallest index (the published rule).
enum class PathRule : std::uint8_t { mean, single };

/// The recursion S(i,j) = sum_u weight * (S(i,u) + T[m][bond u-j]) of the edge-path bias, ordered by distance m.
/// Levels are m = 1..levels(). Within a level, pairs and steps are stored consecutively.
/// Level 0 (i = j) has S = 0 and is not stored: `source` of level-1 steps is -1.
struct PathSteps {
  std::vector<std::int64_t> pair;         ///< packed pair index of every (i, j) at finite distance >= 1, by level
  std::vector<std::int64_t> level_pairs;  ///< [levels + 1] offsets into `pair`
  std::vector<std::int64_t> target;       ///< [steps] index of (i, j) within its level
  std::vector<std::int64_t> source;       ///< [steps] index of (i, u) within the previous level
  std::vector<std::int64_t> bond;         ///< [steps] bond id of u-j
  std::vector<double> weight;             ///< [steps] sigma(i,u)/sigma(i,j); 1 for PathRule::single
  std::vector<std::int64_t> level_steps;  ///< [levels + 1] offsets into the steps
  int levels() const { return level_pairs.empty() ? 0 : static_cast<int>(level_pairs.size()) - 1; }
};

struct PackOptions {
  bool paths = false;  ///< also compute `GraphBatch::paths`
  PathRule path_rule = PathRule::mean;
  int inputs = 0;                               ///< D, molecule-level inputs that the head reads
  std::shared_ptr<const InputScaling> scaling;  ///< of the inputs [D]; null = unscaled
};

/// B molecules, A atoms, A + B tokens, P = sum of (n_b + 1)^2 pairs.
struct GraphBatch {
  Features features = Features::ogb;
  std::vector<std::int64_t> atom_offset;   ///< [B + 1]
  std::vector<std::int64_t> token_offset;  ///< [B + 1], atom_offset[b] + b
  std::vector<std::int64_t> pair_offset;   ///< [B + 1], pairs of molecule b are row-major [N_b, N_b]
  std::vector<std::uint8_t> atoms;         ///< [A, atom_columns]
  std::vector<std::int32_t> degree;        ///< [A] number of bonds of the atom in the graph
  std::vector<std::uint16_t> topology;     ///< [P] raw
  std::vector<std::uint8_t> edge;          ///< [P] raw
  std::vector<float> inputs;               ///< [B, D] scaled, NaN = missing; D = PackOptions::inputs
  std::vector<std::int64_t> row;           ///< [B] row of the molecule in its data set: the key of its random numbers
  PathSteps paths;                         ///< empty unless PackOptions::paths

  std::int64_t size() const { return static_cast<std::int64_t>(row.size()); }
  std::int64_t num_tokens() const { return token_offset.empty() ? 0 : token_offset.back(); }
  std::int64_t num_pairs() const { return pair_offset.empty() ? 0 : pair_offset.back(); }
};

/// Packs molecules of one feature set. `rows` [B] become GraphBatch::row. Throws std::invalid_argument if the feature
/// sets differ, a bond refers to an atom that does not exist, or the number of rows or inputs is wrong.
GraphBatch pack(std::span<const GraphView> graphs, std::span<const std::int64_t> rows, const PackOptions& options = {});

}  // namespace molgraph

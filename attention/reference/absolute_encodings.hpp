// Encodings of single tokens, not pairs: they are added to the node input or multiplied to give a bias per pair.
#pragma once

#include <torch/torch.h>

#include "attention/reference/attention.hpp"
#include "attention/reference/forward_mode.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Positions [tokens, dim] of spec/node_positions.hpp and spec/pair_vector.hpp; zero for token 0. In training, every
/// eigenvector of every molecule gets a random sign per update (Dwivedi & Bresson 2020, section 2.1): column c takes
/// draw c of RandomSite::laplacian_sign and is negated if the draw is 32768 or more. At scoring, signs are canonical.
torch::Tensor node_positions(const GraphBatch& batch, NodePosition kind, const PairVector& vector,
                             const ForwardMode& mode, const torch::TensorOptions& like);

/// DIET-ABS (Chen et al. 2021, arXiv:2104.08698, eq. 1): b_ij = P_Q(i).P_K(j) per head, with rank 64. In the paper, P
/// is a learned row per position in the sequence. Here, it is a learned row per degree, plus the return probabilities
/// of the atom's random walk times a learned matrix. Token 0 has its own row.
///
/// Parameters with `prefix`: query_row and key_row [17, H*64] (degrees 0 to 15, then token 0; larger degrees share the
/// row of 15), query_walk and key_walk [steps, H*64]. `walks` [tokens, steps].
PairValues absolute_values(const ParameterTree& parameters, const std::string& prefix, const GraphBatch& batch,
                           const torch::Tensor& walks);

}  // namespace molgraph

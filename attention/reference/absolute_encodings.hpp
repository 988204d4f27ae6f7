// Encodings of single tokens rather than of pairs: added to the node input, or multiplied into a bias per pair.
#pragma once

#include <torch/torch.h>

#include "attention/reference/attention.hpp"
#include "attention/reference/forward_mode.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/options.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// [tokens, dim] of spec/node_positions.hpp, zero at token 0. In training every eigenvector of every molecule gets a
/// random sign per update, so per epoch (Dwivedi & Bresson 2020, section 2.1): column c takes draw c of
/// RandomSite::laplacian_sign, minus where it is 32768 or more. At scoring the canonical signs hold.
torch::Tensor node_positions(const GraphBatch& batch, NodePosition kind, const PairVector& vector,
                             const ForwardMode& mode, const torch::TensorOptions& like);

/// DIET-ABS (Chen et al. 2021, arXiv:2104.08698, eq. 1): b_ij = P_Q(i).P_K(j) per head, of rank 64. There P is a
/// learned row per position of the sequence; here an atom's row is that of its degree plus its random walk's return
/// probabilities times a learned matrix, and token 0 has a row of its own.
///
/// Parameters below `prefix`: query_row and key_row [17, H*64] (degrees 0 to 15, then token 0; larger degrees share the
/// row of 15), query_walk and key_walk [steps, H*64]. `walks` [tokens, steps].
PairValues absolute_values(const ParameterTree& parameters, const std::string& prefix, const GraphBatch& batch,
                           const torch::Tensor& walks);

}  // namespace molgraph

// FLAG: adversarial noise on the node input (Kong et al. 2020, arXiv:2010.09891, algorithm 1).
#pragma once

#include <torch/torch.h>

#include <string>

#include "attention/reference/graph_model.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Options of FLAG. One update makes `ascents` forward and backward passes. After each pass except the last, the
/// perturbation moves by `step_size` in the direction of the sign of its gradient. The update uses the mean gradient of
/// all passes.
struct FlagOptions {
  int ascents = 0;       ///< m; 0 = off
  double step_size = 0;  ///< alpha
  double magnitude = 0;  ///< maximum norm of a token's perturbation; 0 = unbounded
  int passes() const { return ascents > 0 ? ascents : 1; }
};

/// Parses "M,STEP,MAGNITUDE"; "" = off. Throws UsageError.
FlagOptions flag_from_string(const std::string& text);

/// Returns the initial perturbation [tokens, width] float32, a leaf that requires a gradient. It is uniform in
/// (-step_size, step_size), or in (-magnitude, magnitude)/sqrt(width) if there is a magnitude. It is zero at token 0,
/// because the virtual node is not an input. The random numbers are those of RandomSite::flag.
torch::Tensor first_perturbation(const FlagOptions& options, const GraphBatch& batch, int width,
                                 const ForwardMode& mode);
/// Returns the perturbation after one ascent along its gradient. Token 0 stays zero.
torch::Tensor next_perturbation(const FlagOptions& options, const GraphBatch& batch, const torch::Tensor& perturbation);

}  // namespace molgraph

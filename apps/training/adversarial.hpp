// FLAG: training on node inputs that are moved where the loss grows (Kong et al. 2020, arXiv:2010.09891, algorithm 1).
#pragma once

#include <torch/torch.h>

#include <string>

#include "attention/reference/graph_model.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// One update makes `ascents` passes forward and backward; after each but the last, the perturbation takes a step of
/// `step_size` in the direction of its gradient's sign. The gradients of all passes are averaged into one update.
struct FlagOptions {
  int ascents = 0;       ///< m; 0 = off
  double step_size = 0;  ///< alpha
  double magnitude = 0;  ///< > 0: a token's perturbation is kept within this length; 0 = unbounded
  int passes() const { return ascents > 0 ? ascents : 1; }
};

/// "M,STEP,MAGNITUDE", or "" for off. Throws UsageError.
FlagOptions flag_from_string(const std::string& text);

/// Uniform in (-step_size, step_size), or with a magnitude in (-magnitude, magnitude)/sqrt(width); zero at token 0, as
/// the virtual node is no input. [tokens, width] float32, a leaf that wants a gradient. Draws of RandomSite::flag.
torch::Tensor first_perturbation(const FlagOptions& options, const GraphBatch& batch, int width,
                                 const ForwardMode& mode);
/// The perturbation after one ascent along its gradient; token 0 stays zero.
torch::Tensor next_perturbation(const FlagOptions& options, const GraphBatch& batch, const torch::Tensor& perturbation);

}  // namespace molgraph

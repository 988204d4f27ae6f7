#include "apps/training/loop/adversarial.hpp"

#include <cmath>
#include <sstream>

#include "apps/scoring/model_limits.hpp"
#include "attention/reference/dropout.hpp"
#include "attention/reference/node_input.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

FlagOptions flag_from_string(const std::string& text) {
  FlagOptions options;
  if (text.empty()) return options;
  std::istringstream in(text);
  char first = 0, second = 0;
  in >> options.ascents >> first >> options.step_size >> second >> options.magnitude;
  const bool read = !in.fail() && (in >> std::ws).eof() && first == ',' && second == ',';
  if (!read || options.ascents < 1 || options.ascents > 100 ||
      !(options.step_size > 0 && options.step_size <= kMaxNoise) ||
      !(options.magnitude >= 0 && options.magnitude <= kMaxNoise)) {
    throw UsageError("--flag " + text +
                     ": expected ascents,step,magnitude, for example 2,0.2,0: 1 to 100 ascents, step above 0, " +
                     "magnitude 0 (unbounded) or above, step and magnitude at most 1000");
  }
  return options;
}

torch::Tensor first_perturbation(const FlagOptions& options, const GraphBatch& batch, int width,
                                 const ForwardMode& mode) {
  const double bound =
      options.magnitude > 0 ? options.magnitude / std::sqrt(static_cast<double>(width)) : options.step_size;
  const torch::Tensor noise = input_noise(batch, width, bound, mode, torch::kFloat32, RandomSite::flag);
  return noise.index_fill(0, virtual_tokens(batch), 0.0).requires_grad_(true);
}

torch::Tensor next_perturbation(const FlagOptions& options, const GraphBatch& batch,
                                const torch::Tensor& perturbation) {
  torch::NoGradGuard no_grad;
  const torch::Tensor ascent = perturbation.grad().sign().index_fill(0, virtual_tokens(batch), 0.0);
  torch::Tensor next = perturbation + options.step_size * ascent;
  if (options.magnitude > 0) {
    const torch::Tensor length = next.norm(2, 1, true).clamp_min(1e-30);  // token 0 has length 0
    next = next * (options.magnitude / length).clamp_max(1.0);
  }
  return next.detach().requires_grad_(true);
}

}  // namespace molgraph

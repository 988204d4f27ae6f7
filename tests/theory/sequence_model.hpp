// A Transformer encoder for sequences with relative encodings only, and its training on a synthetic task.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>

#include "attention/reference/encoder.hpp"
#include "tests/theory/sequences.hpp"

namespace molgraph::theory {

/// Sizes of model and task, and the schedule: Adam, linear warm-up, then linear decay to zero.
struct TaskOptions {
  TaskName task = TaskName::position;
  std::int64_t length = 24;  ///< n
  std::int64_t vocabulary = 10;
  int layers = 2;
  int width = 64;  ///< also of the FFN
  int heads = 8;
  bool bias = false;  ///< t5: b by offset, shared by layers
  bool gate = false;  ///< URPE: C by offset, shared by layers
  std::int64_t batch_size = 32;
  std::int64_t steps = 1500;
  std::int64_t warmup = 150;
  double lr = 2e-3;
  std::uint64_t seed = 0;
};
/// `small` or `paper` (Luo et al. 2022, appendix C.1). Throws UsageError for other names.
TaskOptions preset(const std::string& name);
/// none, t5 or t5+urpe. Throws UsageError for other names.
void set_encoding(TaskOptions& options, const std::string& name);

/// Token embedding [vocabulary, C], Encoder, Linear C -> classes.
class SequenceModelImpl : public torch::nn::Module {
 public:
  explicit SequenceModelImpl(const TaskOptions& options);
  /// tokens [B*n] -> states [B*n, C] after the final LayerNorm
  torch::Tensor states(const torch::Tensor& tokens, const SequenceBatch& batch);
  /// [B*n, classes]
  torch::Tensor forward(const torch::Tensor& tokens, const SequenceBatch& batch);

  torch::nn::Embedding embedding{nullptr};
  std::shared_ptr<ParameterTree> encoder;
  torch::nn::Linear output{nullptr};

 private:
  EncoderOptions options_;
};
TORCH_MODULE(SequenceModel);

struct TaskResult {
  double loss = 0;      ///< mean of the last tenth of the steps
  double accuracy = 0;  ///< fraction of correct tokens on new sequences
  double seconds = 0;
};
/// Trains on new sequences in every step and evaluates on others. Equal options give equal results on the same machine.
/// Calls `report(step, loss)` every 100 steps and after the last one.
TaskResult train_task(const TaskOptions& options, const std::function<void(std::int64_t, double)>& report = {});

}  // namespace molgraph::theory

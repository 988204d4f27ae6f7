// Checkpoints: the complete state of an interrupted run. A resumed run gives the same result as an uninterrupted one.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// Counters of the training loop, stored with full precision.
struct TrainerState {
  std::int64_t step = 0;   ///< updates done
  std::int64_t epoch = 0;  ///< epochs finished
  std::int64_t batch = 0;  ///< batches done inside the current epoch
  double loss_sum = 0;     ///< of the current epoch
  std::int64_t loss_count = 0;
  double best_value = 0;
  std::int64_t best_epoch = 0;  ///< 0 = none yet
  bool finished = false;
  bool stopped_early = false;
  std::string metrics_csv;  ///< the content of metrics.csv so far
};

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Convert the state to and from the text in a checkpoint. state_from_text() throws nlohmann::json::exception on other
/// text.
std::string to_text(const TrainerState& state);
TrainerState state_from_text(const std::string& text);

/// Begins the last line of an identity: the hash of the molecules and labels. Version 0.1.0 did not write this line.
inline constexpr const char* kContentsLine = "\n# contents ";

/// Writes a checkpoint atomically. `tensors` are weights, averages and the optimiser's moments under distinct names.
void write_checkpoint(const std::string& path, const std::string& identity, const TrainerState& state,
                      const NamedTensors& tensors);

/// Reads a checkpoint into `tensors`, which must have the file's names and shapes. Throws FileError if the file is
/// damaged or has a different identity. A checkpoint of version 0.1.0 may lack the last line of the identity.
TrainerState read_checkpoint(const std::string& path, const std::string& identity, const NamedTensors& tensors);

/// Returns the counters only, or nullopt if the file does not exist or is not a checkpoint.
std::optional<TrainerState> state_of_checkpoint(const std::string& path);

}  // namespace molgraph

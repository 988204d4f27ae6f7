// Everything a run needs to go on as if nothing had happened.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// Counters of the loop; written with all digits.
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
  std::string metrics_csv;  ///< the whole of metrics.csv so far
};

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// As a checkpoint has it, and back. Throws nlohmann::json::exception on a text of something else.
std::string to_text(const TrainerState& state);
TrainerState state_from_text(const std::string& text);

/// Atomic. `tensors` are weights, averages and the optimiser's moments under distinct names.
void write_checkpoint(const std::string& path, const std::string& identity, const TrainerState& state,
                      const NamedTensors& tensors);

/// Copies into `tensors`, which must have the names and shapes of the file. Throws FileError: damaged, another
/// identity.
TrainerState read_checkpoint(const std::string& path, const std::string& identity, const NamedTensors& tensors);

/// The counters alone; nothing where there is no such file or it is no checkpoint.
std::optional<TrainerState> state_of_checkpoint(const std::string& path);

}  // namespace molgraph

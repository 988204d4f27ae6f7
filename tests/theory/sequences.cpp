#include "tests/theory/sequences.hpp"

#include "featurize/graph/error.hpp"
#include "featurize/graph/philox.hpp"

namespace molgraph::theory {

SequenceBatch make_sequence_batch(std::int64_t sequences, std::int64_t length) {
  SequenceBatch batch;
  for (std::int64_t b = 0; b <= sequences; ++b) {
    batch.graph.token_offset.push_back(b * length);
    batch.graph.pair_offset.push_back(b * length * length);
    if (b < sequences) batch.graph.row.push_back(b);
  }
  const torch::Tensor position = torch::arange(length, torch::kInt64);
  const torch::Tensor offset = position.unsqueeze(0) - position.unsqueeze(1) + (length - 1);
  batch.classes.topology = offset.reshape({1, -1}).repeat({sequences, 1}).view({-1}).contiguous();
  batch.classes.edge = torch::zeros_like(batch.classes.topology);
  return batch;
}

int offset_classes(std::int64_t length) { return static_cast<int>(2 * length - 1); }

TaskName task_from_string(const std::string& text) {
  if (text == "position") return TaskName::position;
  if (text == "even") return TaskName::even;
  throw UsageError("there is no task '" + text + "'; the tasks are position, even");
}

std::int64_t answer_classes(TaskName task, std::int64_t length, std::int64_t vocabulary) {
  return task == TaskName::position ? length : vocabulary + 1;
}

torch::Tensor random_tokens(std::int64_t sequences, std::int64_t length, std::int64_t vocabulary, std::uint64_t seed,
                            std::uint64_t stream) {
  const torch::Tensor tokens = torch::empty({sequences * length}, torch::kInt64);
  auto* out = tokens.data_ptr<std::int64_t>();
  const std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (std::int64_t k = 0; k < sequences * length; k += 4) {
    const std::uint32_t counter[4] = {static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32),
                                      static_cast<std::uint32_t>(k), 0};
    std::uint32_t draws[4];
    philox4x32_10(draws, counter, key);
    for (std::int64_t d = 0; d < 4 && k + d < sequences * length; ++d)
      out[k + d] = static_cast<std::int64_t>(std::uint64_t{draws[d]} * static_cast<std::uint64_t>(vocabulary) >> 32);
  }
  return tokens;
}

torch::Tensor answers(TaskName task, const torch::Tensor& tokens, std::int64_t length, std::int64_t vocabulary) {
  const std::int64_t sequences = tokens.size(0) / length;
  if (task == TaskName::position) return torch::arange(length, torch::kInt64).repeat({sequences});
  const torch::Tensor even = tokens.view({sequences, length}).slice(1, 1, length, 2);
  const torch::Tensor eos = torch::full({sequences, length - even.size(1)}, vocabulary, torch::kInt64);
  return torch::cat({even, eos}, 1).reshape({-1});
}

}  // namespace molgraph::theory

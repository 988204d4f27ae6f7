// Token sequences for the encoder, and the two tasks of the URPE paper.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "attention/reference/layout.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph::theory {

/// B sequences of n tokens.
struct SequenceBatch {
  GraphBatch graph;         ///< offsets and rows only; the encoder reads nothing else
  RelationClasses classes;  ///< topology: j - i + n - 1 of the pair (i, j); edge: 0
};
SequenceBatch make_sequence_batch(std::int64_t sequences, std::int64_t length);
/// Number of topology classes: 2n - 1.
int offset_classes(std::int64_t length);

/// Position Identification: the answer at position i is i. Even Token Prediction (equation 10 of the paper): for the
/// tokens w1, w2, w3, w4 ... the answers are w2, w4 ..., padded with EOS to the length of the input.
enum class TaskName : std::uint8_t { position, even };
TaskName task_from_string(const std::string& text);  ///< "position", "even"; throws UsageError
std::int64_t answer_classes(TaskName task, std::int64_t length, std::int64_t vocabulary);

/// Uniform random tokens [B*n] int64, determined by (seed, stream).
torch::Tensor random_tokens(std::int64_t sequences, std::int64_t length, std::int64_t vocabulary, std::uint64_t seed,
                            std::uint64_t stream);
/// [B*n] int64; EOS is the class `vocabulary`.
torch::Tensor answers(TaskName task, const torch::Tensor& tokens, std::int64_t length, std::int64_t vocabulary);

}  // namespace molgraph::theory

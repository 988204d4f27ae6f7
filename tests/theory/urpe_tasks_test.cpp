// The tasks compared with hand calculations, Theorem 2 on sequences, and learning of positions with the gate only.
#include <gtest/gtest.h>

#include "tests/theory/sequence_model.hpp"

namespace molgraph::theory {
namespace {

using torch::Tensor;

std::vector<std::int64_t> numbers(const Tensor& tensor) {
  return {tensor.data_ptr<std::int64_t>(), tensor.data_ptr<std::int64_t>() + tensor.numel()};
}

TEST(Sequences, ClassesAreOffsets) {
  const SequenceBatch batch = make_sequence_batch(2, 3);
  const std::vector<std::int64_t> one{2, 3, 4, 1, 2, 3, 0, 1, 2};
  std::vector<std::int64_t> both = one;
  both.insert(both.end(), one.begin(), one.end());
  EXPECT_EQ(numbers(batch.classes.topology), both);
  EXPECT_EQ(batch.graph.token_offset, (std::vector<std::int64_t>{0, 3, 6}));
  EXPECT_EQ(batch.graph.pair_offset, (std::vector<std::int64_t>{0, 9, 18}));
}

TEST(Sequences, AnswersMatchHandCalculation) {
  const Tensor tokens = torch::tensor({7, 5, 3, 1, 0, 2, 4, 6}, torch::kInt64);  // two sequences of four
  EXPECT_EQ(numbers(answers(TaskName::position, tokens, 4, 10)), (std::vector<std::int64_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(numbers(answers(TaskName::even, tokens, 4, 10)), (std::vector<std::int64_t>{5, 1, 10, 10, 2, 6, 10, 10}));
  const Tensor four = torch::tensor({5, 6, 7, 8}, torch::kInt64);  // equation 10: w2, w4, EOS, EOS
  EXPECT_EQ(numbers(answers(TaskName::even, four, 4, 10)), (std::vector<std::int64_t>{6, 8, 10, 10}));
  const Tensor odd = torch::tensor({7, 5, 3}, torch::kInt64);
  EXPECT_EQ(numbers(answers(TaskName::even, odd, 3, 10)), (std::vector<std::int64_t>{5, 10, 10}));
}

TEST(Sequences, TokensAreUniformAndDependOnSeedAndStream) {
  const Tensor tokens = random_tokens(1000, 10, 5, 3, 7);
  const Tensor counts = torch::bincount(tokens, {}, 5);
  EXPECT_EQ(counts.size(0), 5);
  EXPECT_GT(counts.min().item<std::int64_t>(), 1800);
  EXPECT_LT(counts.max().item<std::int64_t>(), 2200);
  EXPECT_TRUE(torch::equal(tokens, random_tokens(1000, 10, 5, 3, 7)));
  EXPECT_FALSE(torch::equal(tokens, random_tokens(1000, 10, 5, 3, 8)));
  EXPECT_FALSE(torch::equal(tokens, random_tokens(1000, 10, 5, 4, 7)));
}

// Theorem 2: if all tokens are equal, a bias b by offset gives equal outputs at all positions; with the gate they
// differ.
TEST(Theorem2, HoldsOnSequencesWithoutTheGate) {
  for (const bool gate : {false, true}) {
    TaskOptions o;
    o.bias = true;
    o.gate = gate;
    torch::manual_seed(5);
    SequenceModel model(o);
    model->to(torch::kFloat64);
    const torch::NoGradGuard no_grad;
    for (auto& item : model->named_parameters())
      if (item.key().ends_with("gate") || item.key().ends_with("spatial")) item.value().normal_(1.0, 0.5);
    const Tensor tokens = torch::full({2 * o.length}, 4, torch::kInt64);
    const Tensor states = model->states(tokens, make_sequence_batch(2, o.length));
    const double spread = (states - states.narrow(0, 0, 1)).abs().max().item<double>();
    if (gate) EXPECT_GT(spread, 0.1);
    else EXPECT_LT(spread, 1e-12);
  }
}

TaskOptions tiny(TaskName task, const std::string& encoding) {
  TaskOptions o;
  o.task = task;
  o.length = 12, o.width = 32, o.heads = 4, o.batch_size = 32, o.steps = 400, o.warmup = 40, o.lr = 4e-3;
  set_encoding(o, encoding);
  return o;
}

TEST(UrpeTasks, PositionsAreIdentifiedOnlyWithTheGate) {
  EXPECT_GT(train_task(tiny(TaskName::position, "t5+urpe")).accuracy, 0.99);
  EXPECT_LT(train_task(tiny(TaskName::position, "t5")).accuracy, 0.6);
}

TEST(UrpeTasks, EqualOptionsGiveEqualResults) {
  TaskOptions o = tiny(TaskName::even, "t5+urpe");
  o.steps = 20;
  const TaskResult first = train_task(o), second = train_task(o);
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(first.accuracy, second.accuracy);
  o.seed = 1;
  EXPECT_NE(train_task(o).loss, first.loss);
}

}  // namespace
}  // namespace molgraph::theory

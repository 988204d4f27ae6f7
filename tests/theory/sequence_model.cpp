#include "tests/theory/sequence_model.hpp"

#include <algorithm>
#include <chrono>

#include "featurize/graph/error.hpp"

namespace molgraph::theory {
namespace {

using torch::Tensor;

/// First random stream of the evaluation sequences. Training uses the streams 1, 2, ...
constexpr std::uint64_t kEvaluation = std::uint64_t{1} << 40;
constexpr std::int64_t kEvaluatedTokens = 50'000;

double accuracy_of(SequenceModel& model, const TaskOptions& o) {
  const torch::NoGradGuard no_grad;
  const SequenceBatch batch = make_sequence_batch(o.batch_size, o.length);
  std::int64_t correct = 0, all = 0;
  for (std::uint64_t k = 0; all < kEvaluatedTokens; ++k) {
    const Tensor tokens = random_tokens(o.batch_size, o.length, o.vocabulary, o.seed, kEvaluation + k);
    const Tensor guess = model->forward(tokens, batch).argmax(1);
    correct += (guess == answers(o.task, tokens, o.length, o.vocabulary)).sum().item<std::int64_t>();
    all += guess.size(0);
  }
  return static_cast<double>(correct) / static_cast<double>(all);
}

}  // namespace

TaskOptions preset(const std::string& name) {
  if (name == "small") return {};
  if (name != "paper") throw UsageError("there is no preset '" + name + "'; the presets are small, paper");
  TaskOptions o;
  o.length = 128, o.layers = 3, o.heads = 12, o.width = 768;
  o.batch_size = 512, o.steps = 40'000, o.warmup = 6'000, o.lr = 7e-5;
  return o;
}

void set_encoding(TaskOptions& options, const std::string& name) {
  if (name != "none" && name != "t5" && name != "t5+urpe")
    throw UsageError("there is no encoding '" + name + "' here; there are none, t5, t5+urpe");
  options.bias = name != "none";
  options.gate = name == "t5+urpe";
}

SequenceModelImpl::SequenceModelImpl(const TaskOptions& o) {
  embedding = register_module("embedding", torch::nn::Embedding(o.vocabulary, o.width));
  EncoderOptions& e = options_;
  e = {.layers = o.layers, .width = o.width, .ffn = o.width, .heads = o.heads};
  e.terms.bias = o.bias;
  e.gate.enabled = o.gate;
  e.dropout = e.attention_dropout = 0.0;
  encoder = register_module(
      "encoder", std::make_shared<ParameterTree>(encoder_parameters(e, offset_classes(o.length), 1, Features::ogb)));
  output = register_module("output", torch::nn::Linear(o.width, answer_classes(o.task, o.length, o.vocabulary)));
}

Tensor SequenceModelImpl::states(const Tensor& tokens, const SequenceBatch& batch) {
  return Encoder(options_, *encoder).forward(embedding->forward(tokens), batch.graph, batch.classes);
}

Tensor SequenceModelImpl::forward(const Tensor& tokens, const SequenceBatch& batch) {
  return output->forward(states(tokens, batch));
}

TaskResult train_task(const TaskOptions& o, const std::function<void(std::int64_t, double)>& report) {
  const auto start = std::chrono::steady_clock::now();
  torch::manual_seed(o.seed);
  SequenceModel model(o);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(o.lr));
  auto& rate = static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options());
  const SequenceBatch batch = make_sequence_batch(o.batch_size, o.length);
  const std::int64_t last_tenth = o.steps - std::max<std::int64_t>(1, o.steps / 10);
  TaskResult result;
  for (std::int64_t step = 1; step <= o.steps; ++step) {
    const double warm = static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, o.warmup));
    const double rest =
        static_cast<double>(o.steps - step + 1) / static_cast<double>(std::max<std::int64_t>(1, o.steps - o.warmup));
    rate.lr(o.lr * std::min({1.0, warm, rest}));
    const Tensor tokens = random_tokens(o.batch_size, o.length, o.vocabulary, o.seed, static_cast<std::uint64_t>(step));
    const Tensor expected = answers(o.task, tokens, o.length, o.vocabulary);
    const Tensor loss = torch::nn::functional::cross_entropy(model->forward(tokens, batch), expected);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step > last_tenth) result.loss += loss.item<double>() / static_cast<double>(o.steps - last_tenth);
    if (report && (step % 100 == 0 || step == o.steps)) report(step, loss.item<double>());
  }
  result.accuracy = accuracy_of(model, o);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace molgraph::theory

#include "tests/bench/models.hpp"

#include "apps/training/loop/loss.hpp"
#include "attention/spec/encodings.hpp"
#include "graphormer/architecture.hpp"
#include "grpe/architecture.hpp"
#include "tests/bench/machine.hpp"

namespace molgraph::bench {
namespace {

constexpr double kWalkSteps = 10;  // of the encoding grpe-walk

}  // namespace

std::vector<Case> cases() {
  return {{"graphormer"},
          {"graphormer+urpe", false, true},
          {"grpe", true},
          {"grpe+urpe", true, true},
          {.name = "grpe-walk+urpe", .grpe = true, .gate = true, .walks = true},
          {.name = "grpe-walk+urpe+paths", .grpe = true, .gate = true, .walks = true, .paths = true},
          {.name = "grpe-walk+urpe+pairs", .grpe = true, .gate = true, .walks = true, .pair_state = 32},
          {"graphormer-base", false, false, 12, 768, 32},
          {"grpe-standard", true, false, 12, 768, 32}};
}

std::unique_ptr<GraphModel> make_model(const Case& c, Features features, double dropout) {
  torch::manual_seed(0);
  ModelOptions options = c.grpe ? grpe_architecture().defaults : graphormer_architecture().defaults;
  options.features = features;
  EncoderOptions& e = options.encoder;
  e.layers = c.layers, e.width = e.ffn = c.width, e.heads = c.heads;
  if (c.walks) set_encoding(e, encoding_from_string("grpe-walk"));
  e.gate.enabled = c.gate;
  e.pair_state = c.pair_state;
  e.pair_paths = c.paths;
  e.dropout = e.attention_dropout = dropout;
  return std::make_unique<GraphModel>(options);
}

double forward_flops(const Case& c, const GraphBatch& batch) {
  const double width = c.width;
  double flops = 0;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    const auto n = static_cast<double>(batch.token_offset[b + 1] - batch.token_offset[b]);
    flops += c.layers * (n * 12 * width * width + 4 * width * n * n + (c.grpe ? 6 * width * n * 11 : 0));
    flops += c.layers * 2.0 * c.pair_state * (4 * c.heads * n * n + width * n);
    if (c.walks) flops += c.layers * kWalkSteps * 6 * (n * width + n * n * c.heads);
  }
  return flops / static_cast<double>(batch.size());
}

Runner::Runner(const Case& c, Features features, double dropout, bool engine, int threads, Precision precision)
    : model_(make_model(c, features, dropout)), optimizer_(
                                                    *model_, [](const std::string&) { return false; }, 0.01),
      threads_(threads) {
  if (engine) engine_ = std::make_unique<EngineBoundary>(*model_, Device{.threads = threads}, precision);
}

double Runner::train(const TrainBatch& batch) {
  model_->train();
  torch::set_num_threads(threads_);  // also those of the optimizer
  const torch::Tensor shift = torch::zeros({1}), scale = torch::ones({1});
  const auto start = Clock::now();
  const ForwardMode mode{true, 0, step_++};
  const double share = 1.0 / static_cast<double>(batch.targets.numel());
  if (engine_) {
    engine_->weights_changed();
    engine_->train(batch.graph, mode, loss_slope(Loss::l1, batch.targets, shift, scale, share));
  } else {
    (masked_loss(Loss::l1, model_->run(batch.graph, mode).scaled, batch.targets, shift, scale).sum * share).backward();
  }
  optimizer_.step(1e-4, 5.0);
  return seconds_since(start);
}

double Runner::predict(const TrainBatch& batch) {
  torch::InferenceMode inference;
  model_->eval();
  torch::set_num_threads(threads_);
  const auto start = Clock::now();
  if (engine_) engine_->predict(batch.graph);
  else model_->run(batch.graph, {});
  return seconds_since(start);
}

}  // namespace molgraph::bench

// Compares any engine with the float64 reference: values, states and gradients of two copies of a model.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "attention/reference/engine_boundary.hpp"
#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"

namespace molgraph::test {

using torch::Tensor;

// kFloat32 suits float32 sums of some hundred terms in two layers. For ill-conditioned cases (LayerNorm of two numbers,
// saturated softmax), the float32 reference has large errors too: the engine's error may be kTimesReference times as
// large (12 times, on an H100, with LayerNorm of two numbers).
constexpr double kFloat32 = 1e-5, kTimesReference = 20;

inline double relative(const Tensor& actual, const Tensor& expected) {
  const double size = expected.norm().item<double>();
  return (actual.to(torch::kFloat64) - expected).norm().item<double>() / (size > 1e-6 ? size : 1.0);
}

struct Pair {
  std::unique_ptr<GraphModel> reference, engine;  ///< the same parameters in float64 and float32
};

template <class Make>
Pair make_pair(Make make) {
  Pair pair{make(), make()};
  randomise(*pair.reference, 0.3 * std::sqrt(std::min(1.0, 12.0 / pair.reference->plan().encoder.width)));
  torch::NoGradGuard no_grad;
  auto from = pair.reference->named_parameters();
  for (auto& item : pair.engine->named_parameters()) item->copy_(from[item.key()]);
  for (auto& item : pair.reference->named_parameters()) item->copy_(item->to(torch::kFloat32));
  return pair;
}

/// `make(model)` returns an EngineBoundary.
template <class MakeBoundary>
void expect_same_values(Pair& pair, const std::vector<MolecularGraph>& graphs, const MakeBoundary& make,
                        double bound = kFloat32) {
  const GraphBatch batch = batch_for(*pair.reference, graphs);
  const ForwardMode mode{.keep_layers = {0, 1, -1}};
  torch::NoGradGuard no_grad;
  const ModelOutput expected = pair.reference->run(batch, mode);
  EngineBoundary boundary = make(*pair.engine);
  const ModelOutput actual = boundary.predict(batch, mode.keep_layers);
  EXPECT_LT(relative(actual.values, expected.values), bound);
  // Without kept layers, only virtual nodes are computed to the end.
  EXPECT_TRUE(torch::equal(boundary.predict(batch).values, actual.values));
  for (std::size_t k = 0; k < expected.layers.size(); ++k)
    EXPECT_LT(relative(actual.layers[k], expected.layers[k]), bound) << "layer " << mode.keep_layers[k];
}

struct Gradients {
  Tensor scaled, dinput;
  std::map<std::string, Tensor> of;
};

/// Gradients by autograd through the reference.
inline Gradients reference_gradients(GraphModel& model, const GraphBatch& batch, ForwardMode mode) {
  mode.perturbation = mode.perturbation.to(model.parameters()[0].scalar_type()).requires_grad_();
  Gradients result;
  result.scaled = model.run(batch, mode).scaled;
  result.scaled.sin().sum().backward();
  result.dinput = mode.perturbation.grad();
  for (auto& item : model.named_parameters()) {
    result.of[item.key()] = item->grad().defined() ? item->grad() : torch::zeros_like(item.value());
    item->mutable_grad() = Tensor();
  }
  result.scaled = result.scaled.detach();
  return result;
}

template <class MakeBoundary>
Gradients engine_gradients(GraphModel& model, const GraphBatch& batch, const ForwardMode& mode,
                           const MakeBoundary& make) {
  const int outputs = model.plan().outputs;
  const auto slope = [&](std::size_t, const float* y, float* dy) {
    for (int o = 0; o < outputs; ++o) dy[o] = std::cos(y[o]);
  };
  Gradients result;
  EngineBoundary boundary = make(model);
  result.scaled = boundary.train(batch, mode, slope, &result.dinput);
  for (auto& item : model.named_parameters()) result.of[item.key()] = item->grad();
  return result;
}

template <class MakeBoundary>
void expect_same_gradients(Pair& pair, const std::vector<MolecularGraph>& graphs, const MakeBoundary& make) {
  const GraphBatch batch = batch_for(*pair.reference, graphs);
  ForwardMode mode{.training = true, .seed = 3, .step = 5, .ascent = 1};
  mode.perturbation = torch::randn({batch.num_tokens(), pair.reference->plan().encoder.width}).mul_(0.1);
  const Gradients expected = reference_gradients(*pair.reference, batch, mode);
  const Gradients single = reference_gradients(*pair.engine, batch, mode);
  const Gradients actual = engine_gradients(*pair.engine, batch, mode, make);
  const auto expect_near = [&](const Tensor& x, const Tensor& in_float32, const Tensor& exact,
                               const std::string& name) {
    EXPECT_LT(relative(x, exact), std::max(kFloat32, kTimesReference * relative(in_float32, exact))) << name;
  };
  expect_near(actual.scaled, single.scaled, expected.scaled, "predictions");
  expect_near(actual.dinput, single.dinput, expected.dinput, "node input");
  for (const auto& [name, exact] : expected.of) {
    if (name.ends_with("key.bias")) {  // nearly or exactly zero: compare absolutely
      EXPECT_LT((actual.of.at(name) - exact).norm().template item<double>(), 1e-4) << name;
      continue;
    }
    expect_near(actual.of.at(name), single.of.at(name), exact, name);
  }
}

/// Relative error of all gradients as one vector, because the error of a small gradient may exceed its value.
inline double gradient_error(const Gradients& actual, const Gradients& expected) {
  double error = 0, size = 0;
  for (const auto& [name, exact] : expected.of) {
    error += (actual.of.at(name) - exact).square().sum().item<double>();
    size += exact.square().sum().item<double>();
  }
  return std::sqrt(error / size);
}

// --- cases outside the table of encodings: sizes, and options that only imported models have ---

struct SizeCase {
  std::string name;
  int layers, width, ffn, heads;
  bool post_ln = false, input_norm = false, final_norm = true, transform = false;
  int last_mlp = 0;
  KeyTerm key_term = KeyTerm::column;
  int inputs = 0, mixed = 0;
  int pair_state = 0;
};
inline void PrintTo(const SizeCase& c, std::ostream* out) { *out << c.name; }

inline std::vector<SizeCase> sizes() {
  return {{"one_head", 2, 10, 7, 1},
          {"two_narrow_heads", 2, 2, 3, 2},
          {"five_heads", 2, 120, 40, 5},
          {"slim", 3, 80, 80, 8},
          {"tiny", 2, 64, 64, 8},
          {"thirty_two_heads", 2, 512, 96, 32},
          {"wide_heads", 1, 768, 1024, 32},
          {"twenty_four_heads", 2, 48, 33, 24},
          {"post_ln", 2, 40, 24, 4, true},
          {"graphormer_v2", 2, 24, 24, 4, true, true, true, true},
          {"v2_preln", 2, 24, 24, 4, false, true, false, true},
          {"last_mlp", 2, 16, 16, 8, false, false, true, false, 2},
          {"key_by_row", 2, 16, 16, 8, false, false, true, false, 0, KeyTerm::row},
          {"inputs", 2, 16, 16, 8, false, false, true, false, 0, KeyTerm::column, 7, 9},
          {"many_inputs", 1, 24, 24, 4, false, false, true, false, 0, KeyTerm::column, 100, 40}};
}

inline std::unique_ptr<GraphModel> make_sized(const SizeCase& c, bool grpe) {
  EncoderOptions e{.layers = c.layers, .width = c.width, .ffn = c.ffn, .heads = c.heads, .post_ln = c.post_ln};
  e.input_norm = c.input_norm, e.final_norm = c.final_norm, e.key_term = c.key_term;
  e.gate.enabled = true;
  e.pair_state = c.pair_state;
  if (!grpe) {
    e.terms.bias = true, e.untie_virtual = false;
  } else {
    e.terms = {true, true, true, true, true, true, true};
  }
  ModelOptions options = grpe ? grpe_architecture().defaults : graphormer_architecture().defaults;
  options.encoder = e;
  options.max_distance = 3;
  if (!grpe) options.spatial_pos_max = 4;
  options.published_classes = true;
  options.head = {.last_mlp = grpe ? c.last_mlp : 0, .transform = !grpe && c.transform, .inputs = c.inputs};
  if (c.inputs > 0) options.head.mixed = c.mixed;
  options.outputs = 3;
  return std::make_unique<GraphModel>(options);
}

}  // namespace molgraph::test

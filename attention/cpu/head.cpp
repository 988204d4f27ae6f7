#include "attention/cpu/head.hpp"

#include <algorithm>
#include <cmath>

#include "attention/spec/random.hpp"
#include "attention/spec/scalar.hpp"

namespace molgraph::cpu {
namespace {

// Mean and 1/(standard deviation).
std::pair<float, float> statistics(const std::vector<float>& x) {
  double mean = 0, square = 0;
  for (const float value : x) mean += value / static_cast<double>(x.size());
  for (const float value : x) square += (value - mean) * (value - mean) / static_cast<double>(x.size());
  return {static_cast<float>(mean), static_cast<float>(1.0 / std::sqrt(square + kLayerNormEpsilon))};
}

// Dropout factors of the mixing layer's input [count]: 0, or the scale of elements that are kept.
std::vector<float> dropout_factors(const RandomMode& random, std::int64_t row, std::uint32_t threshold,
                                   std::size_t count) {
  std::vector<float> factors(count, 1.0f);
  if (!random.training || threshold == 0) return factors;
  std::vector<std::uint16_t> draws(count);
  random_draws({random.seed, random.step, static_cast<std::uint32_t>(row), 0, RandomSite::head_input, random.ascent},
               static_cast<std::int64_t>(count), draws.data());
  for (std::size_t i = 0; i < count; ++i)
    factors[i] = draws[i] < threshold ? 0.0f : static_cast<float>(dropout_scale(threshold));
  return factors;
}

/// first + a . b, [count] each, in sixteen partial sums, so that the loop is vectorised without reordering.
float inner_product(const float* a, const float* b, std::size_t count, float first) {
  constexpr std::size_t kLanes = 16;
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  for (; i < count; ++i) first += a[i] * b[i];
  for (const float lane : lanes) first += lane;
  return first;
}

}  // namespace

void Head::add_parameter(const ParameterSpec& spec) {
  flat_parameters_.push_back({spec.name, size_, static_cast<std::size_t>(spec.size())});
  size_ += flat_parameters_.back().size;
}

Head::Layer& Head::add_layer(const ParameterList& parameters, const std::string& name) {
  const ParameterSpec& weight = parameters.at(name + ".weight");
  layers_.push_back({.in = static_cast<std::size_t>(weight.shape[1]),
                     .out = static_cast<std::size_t>(weight.shape[0]),
                     .offset = size_});
  add_parameter(weight);
  add_parameter(parameters.at(name + ".bias"));
  return layers_.back();
}

Head::Head(const ParameterList& parameters, const ModelPlan& plan)
    : width_(static_cast<std::size_t>(plan.encoder.width)), inputs_(static_cast<std::size_t>(plan.head.inputs)),
      drop_threshold_(dropout_threshold(plan.encoder.dropout)) {
  const auto exists = [&](const std::string& name) { return parameters.find(name + ".weight") != nullptr; };
  std::string mlp;
  for (int k = 0; exists(mlp = "head.last_mlp." + std::to_string(k) + ".0"); ++k)
    add_layer(parameters, mlp).gelu = true;
  if (exists("head.transform")) {
    Layer& layer = add_layer(parameters, "head.transform");
    layer.gelu = layer.norm = true;
    layer.norm_offset = size_;
    for (const char* name : {"head.transform_norm.weight", "head.transform_norm.bias"})
      add_parameter(parameters.at(name));
  }
  if (inputs_ > 0) {
    stand_in_ = size_;
    add_parameter(parameters.at("head.stand_in"));
    Layer& layer = add_layer(parameters, "head.mix");
    layer.gelu = layer.mixes = true;
  }
  add_layer(parameters, "head.linear");
  flat_.resize(size_);
}

void Head::assign(const TensorLookup& tensors) {
  for (const FlatParameter& parameter : flat_parameters_)
    std::copy_n(tensors(parameter.name), parameter.size, flat_.data() + parameter.offset);
}

void Head::add_gradients(const float* flat, const GradientLookup& gradients) const {
  for (const FlatParameter& parameter : flat_parameters_) {
    float* to = gradients(parameter.name);
    for (std::size_t i = 0; to != nullptr && i < parameter.size; ++i) to[i] += flat[parameter.offset + i];
  }
}

void Head::run(const Layer& layer, std::vector<float>& x, Trace* trace) const {
  const float* weight = flat_.data() + layer.offset;
  std::vector<float> y(layer.out);
  for (std::size_t o = 0; o < layer.out; ++o)
    y[o] = inner_product(weight + o * layer.in, x.data(), layer.in, weight[layer.in * layer.out + o]);
  if (trace != nullptr) trace->input = x, trace->before_gelu = y;
  if (layer.gelu)
    for (float& value : y) value = gelu(value);
  if (layer.norm) {
    if (trace != nullptr) trace->before_norm = y;
    const auto [mean, scale] = statistics(y);
    const float *gain = flat_.data() + layer.norm_offset, *shift = gain + layer.out;
    for (std::size_t o = 0; o < layer.out; ++o) y[o] = (y[o] - mean) * scale * gain[o] + shift[o];
  }
  x = std::move(y);
}

void Head::back(const Layer& layer, const Trace& trace, std::vector<float>& slope, float* flat) const {
  if (layer.norm) {
    const auto [mean, scale] = statistics(trace.before_norm);
    const float* gain = flat_.data() + layer.norm_offset;
    float total = 0, product = 0;
    for (std::size_t o = 0; o < layer.out; ++o) {
      const float unit = (trace.before_norm[o] - mean) * scale;
      flat[layer.norm_offset + o] += slope[o] * unit;
      flat[layer.norm_offset + layer.out + o] += slope[o];
      total += slope[o] * gain[o] / static_cast<float>(layer.out);
      product += slope[o] * gain[o] * unit / static_cast<float>(layer.out);
    }
    for (std::size_t o = 0; o < layer.out; ++o)
      slope[o] = scale * (slope[o] * gain[o] - total - (trace.before_norm[o] - mean) * scale * product);
  }
  if (layer.gelu)
    for (std::size_t o = 0; o < layer.out; ++o) slope[o] *= gelu_slope(trace.before_gelu[o]);
  std::vector<float> down(layer.in, 0.0f);
  const float* weight = flat_.data() + layer.offset;
  for (std::size_t o = 0; o < layer.out; ++o) {
    if (slope[o] == 0) continue;  // missing label: with many targets, a molecule may have few labels
    flat[layer.offset + layer.in * layer.out + o] += slope[o];
    for (std::size_t i = 0; i < layer.in; ++i) {
      flat[layer.offset + o * layer.in + i] += slope[o] * trace.input[i];
      down[i] += slope[o] * weight[o * layer.in + i];
    }
  }
  slope = std::move(down);
}

// Appends the inputs to the embedding. Missing inputs are replaced by head.stand_in.
void Head::mix_in(const float* inputs, std::vector<float>& x) const {
  for (std::size_t d = 0; d < inputs_; ++d) x.push_back(std::isnan(inputs[d]) ? flat_[stand_in_ + d] : inputs[d]);
}

void Head::mix_back(const float* inputs, std::vector<float>& slope, float* flat) const {
  const std::size_t first = slope.size() - inputs_;
  for (std::size_t d = 0; d < inputs_; ++d)
    if (std::isnan(inputs[d])) flat[stand_in_ + d] += slope[first + d];
  slope.resize(first);
}

void Head::forward(const HeadInput& input, float* scaled) const {
  std::vector<float> x(input.graph, input.graph + width_);
  for (const Layer& layer : layers_) {
    if (layer.mixes) mix_in(input.inputs, x);
    run(layer, x, nullptr);
  }
  std::copy(x.begin(), x.end(), scaled);
}

void Head::gradient(const HeadInput& input, const RandomMode& random, std::int64_t row,
                    const std::function<void(const float*, float*)>& slope_of, float* scaled, float* dgraph,
                    float* flat) const {
  std::vector<float> x(input.graph, input.graph + width_), keep;
  std::vector<Trace> traces(layers_.size());
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    if (layers_[k].mixes) {
      mix_in(input.inputs, x);
      keep = dropout_factors(random, row, drop_threshold_, x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] *= keep[i];
    }
    run(layers_[k], x, &traces[k]);
  }
  std::copy(x.begin(), x.end(), scaled);
  std::vector<float> slope(x.size(), 0.0f);
  slope_of(x.data(), slope.data());
  for (std::size_t k = layers_.size(); k-- > 0;) {
    back(layers_[k], traces[k], slope, flat);
    if (!layers_[k].mixes) continue;
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] *= keep[i];
    mix_back(input.inputs, slope, flat);
  }
  std::copy(slope.begin(), slope.end(), dgraph);
}

}  // namespace molgraph::cpu

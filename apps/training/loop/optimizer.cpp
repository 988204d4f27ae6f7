#include "apps/training/loop/optimizer.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/spec/scalar.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kPiece = 1 << 16;  // numbers; the rounding of the norm depends on it

/// The loop is vectorised, because the four arrays do not alias and the root sets no errno (apps/CMakeLists.txt).
void update_piece(AdamStep u, float keep, float clip, const float* __restrict gradient, float* __restrict mean,
                  float* __restrict square, float* __restrict weight, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) adam_update(u, keep, clip, gradient[i], mean[i], square[i], weight[i]);
}

double sum_of_squares(const float* values, std::int64_t count) {
  double lanes[8] = {}, total = 0;
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int l = 0; l < 8; ++l) lanes[l] += static_cast<double>(values[i + l]) * values[i + l];
  for (; i < count; ++i) lanes[0] += static_cast<double>(values[i]) * values[i];
  for (const double lane : lanes) total += lane;
  return total;
}

std::int64_t numbers_in(const std::vector<torch::Tensor>& tensors) {
  std::int64_t numbers = 0;
  for (const torch::Tensor& tensor : tensors) numbers += tensor.numel();
  return numbers;
}

/// Calls work(piece, k, begin, end) for each range of tensor k in each piece of the concatenation of all tensors, on
/// LibTorch's number of threads: most tensors are too small to be divided. at::parallel_for would use one thread,
/// because molgraph is not compiled with OpenMP.
template <class Work>
void for_each_piece(const std::vector<torch::Tensor>& tensors, Work work) {
  const std::int64_t numbers = numbers_in(tensors);
  parallel_for(numbers, kPiece, at::get_num_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < tensors.size() && first < end; first += tensors[k++].numel()) {
      const std::int64_t from = std::max(begin - first, std::int64_t{0}),
                         to = std::min(end - first, tensors[k].numel());
      if (from < to) work(begin / kPiece, k, from, to);
    }
  });
}

/// Returns the norm of all gradients together, summed in an order that does not depend on the threads.
double gradient_norm(const std::vector<torch::Tensor>& parameters) {
  std::vector<double> sums(static_cast<std::size_t>((numbers_in(parameters) + kPiece - 1) / kPiece));
  for_each_piece(parameters, [&](std::int64_t piece, std::size_t k, std::int64_t begin, std::int64_t end) {
    if (!parameters[k].grad().defined()) return;
    sums[static_cast<std::size_t>(piece)] +=
        sum_of_squares(parameters[k].grad().const_data_ptr<float>() + begin, end - begin);
  });
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace

Optimizer::Optimizer(torch::nn::Module& module, const std::function<bool(const std::string&)>& decay_exempt,
                     double weight_decay) {
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    means_.push_back(torch::zeros_like(item.value()).detach());
    squares_.push_back(torch::zeros_like(item.value()).detach());
    decay_.push_back(decay_exempt(item.key()) ? 0.0 : weight_decay);
  }
}

void Optimizer::sum_gradients(Processes& processes) {
  if (processes.is_single()) return;
  torch::NoGradGuard no_grad;
  // Flags after the gradients mark which of them exist. A process whose part of the batch has no labels has none.
  std::vector<float> flat, has_gradient;
  for (const torch::Tensor& parameter : parameters_) {
    const auto first = flat.size();
    flat.resize(first + static_cast<std::size_t>(parameter.numel()), 0.0f);
    has_gradient.push_back(parameter.grad().defined() ? 1.0f : 0.0f);
    if (!parameter.grad().defined()) continue;
    const torch::Tensor gradient = parameter.grad().contiguous();
    std::copy_n(gradient.const_data_ptr<float>(), gradient.numel(), flat.data() + first);
  }
  const auto flags_offset = flat.size();
  flat.insert(flat.end(), has_gradient.begin(), has_gradient.end());
  processes.sum(std::span(flat));
  const float* from = flat.data();
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    torch::Tensor& parameter = parameters_[k];
    if (flat[flags_offset + k] > 0)
      parameter.mutable_grad() = torch::from_blob(const_cast<float*>(from), parameter.sizes()).clone();
    from += parameter.numel();
  }
}

void Optimizer::step(double learning_rate, double clip) {
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : parameters_)
    if (parameter.grad().defined() && !parameter.grad().is_contiguous())
      parameter.mutable_grad() = parameter.grad().contiguous();
  ++updates_;
  const AdamStep u = adam_step(learning_rate, updates_);
  const float factor = clip > 0 ? static_cast<float>(clip_factor(clip, gradient_norm(parameters_))) : 1.0f;
  for_each_piece(parameters_, [&](std::int64_t, std::size_t k, std::int64_t begin, std::int64_t end) {
    if (!parameters_[k].grad().defined()) return;
    float* gradient = parameters_[k].mutable_grad().data_ptr<float>() + begin;
    update_piece(u, adam_keep(learning_rate, decay_[k]), factor, gradient, means_[k].data_ptr<float>() + begin,
                 squares_[k].data_ptr<float>() + begin, parameters_[k].data_ptr<float>() + begin, end - begin);
    std::fill_n(gradient, end - begin, 0.0f);  // the gradient is still in the cache
  });
}

void Optimizer::append_state(NamedTensors& tensors) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    tensors.emplace_back("adam.m." + names_[i], means_[i]);
    tensors.emplace_back("adam.v." + names_[i], squares_[i]);
  }
}

void Optimizer::set_updates(std::int64_t updates) { updates_ = updates; }

WeightAverage::WeightAverage(torch::nn::Module& module, double decay) : decay_(decay) {
  if (decay_ == 0) return;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    averages_.push_back(item.value().detach().clone());
  }
}

void WeightAverage::update() {
  torch::NoGradGuard no_grad;
  const auto share = static_cast<float>(1 - decay_);
  for_each_piece(averages_, [&](std::int64_t, std::size_t k, std::int64_t begin, std::int64_t end) {
    float* average = averages_[k].data_ptr<float>();
    const float* weight = parameters_[k].const_data_ptr<float>();
    for (std::int64_t i = begin; i < end; ++i) average_update(share, weight[i], average[i]);
  });
}

void WeightAverage::swap() {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const torch::Tensor weights = parameters_[i].detach().clone();
    parameters_[i].copy_(averages_[i]);
    averages_[i].copy_(weights);
  }
}

void WeightAverage::append_state(NamedTensors& tensors) const {
  for (std::size_t i = 0; i < averages_.size(); ++i) tensors.emplace_back("ema." + names_[i], averages_[i]);
}

}  // namespace molgraph

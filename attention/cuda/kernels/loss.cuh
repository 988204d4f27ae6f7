// Losses of a batch on the device: their sum over the labels, and their derivatives.
#pragma once

#include "attention/cuda/kernels/device.cuh"

namespace molgraph::cuda {

/// [B, T] targets (NaN = missing), scaled by shift and scale [outputs] for regression losses.
struct LossTask {
  Loss loss = Loss::l1;
  const Loss* losses = nullptr;                 ///< [T]; null = `loss` for all
  int molecules = 0, targets = 0, outputs = 0;  ///< outputs = targets * classes of a multiclass target
  const float *scaled = nullptr, *target = nullptr, *shift = nullptr, *scale = nullptr;
  const float* weight = nullptr;         ///< as `target`; null = all weights are 1
  const std::int8_t* bound = nullptr;    ///< as `target`; null = all labels are exact
  const std::int32_t* chosen = nullptr;  ///< [B] row of `target`
  float* slope = nullptr;                ///< [B, outputs] derivative of the mean loss
  double* total = nullptr;               ///< adds {sum of losses, number of labels}
  double* present = nullptr;             ///< number of labels in the whole batch
  const StepNumbers* numbers = nullptr;
};

inline constexpr int kLossThreads = 256;

/// One block. Each thread has every 256th target.
__global__ void __launch_bounds__(kLossThreads) loss_kernel(LossTask p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* sums = reinterpret_cast<double*>(memory);
  const int thread = static_cast<int>(threadIdx.x), count = p.molecules * p.targets, classes = p.outputs / p.targets;
  const auto place_of = [&](int e) {
    return static_cast<std::int64_t>(p.chosen[e / p.targets]) * p.targets + e % p.targets;
  };
  double loss = 0, present = 0;
  for (int e = thread; e < count; e += kLossThreads) present += isnan(p.target[place_of(e)]) ? 0 : 1;
  const double all = block_sum<kLossThreads>(sums, present);
  const double whole = p.numbers->targets > 0 ? p.numbers->targets : all;
  const float share = whole > 0 ? static_cast<float>(1.0 / whole) : 0.0f;
  for (int e = thread; e < count; e += kLossThreads) {
    const float target = p.target[place_of(e)], *scaled = p.scaled + e * classes;
    float* slope = p.slope + e * classes;
    const float weight = p.weight == nullptr ? 1.0f : p.weight[place_of(e)], factor = share * weight;
    if (isnan(target)) {
      for (int c = 0; c < classes; ++c) slope[c] = 0;
    } else if (p.losses == nullptr && p.loss == Loss::ce) {
      loss += weight * cross_entropy(scaled, classes, static_cast<int>(target), factor, slope);
    } else {
      const int t = e % p.targets, bound = p.bound == nullptr ? 0 : p.bound[place_of(e)];
      const Loss own = p.losses == nullptr ? p.loss : p.losses[t];
      const float wanted = own == Loss::bce ? target : (target - p.shift[t]) / p.scale[t];
      loss += weight * target_loss(own, scaled[0], wanted, bound);
      slope[0] = factor * target_slope(own, scaled[0], wanted, bound);
    }
  }
  const double sum = block_sum<kLossThreads>(sums, loss);
  if (thread > 0) return;
  p.total[0] += sum;
  p.total[1] += all;
  *p.present = whole;
}

}  // namespace molgraph::cuda

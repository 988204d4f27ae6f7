// The losses of a batch on the device: their sum over the targets that are present, and their derivatives.
#pragma once

#include "attention/cuda/kernels/device.cuh"
#include "attention/cuda/model.hpp"
#include "attention/cuda/molecules.hpp"

namespace molgraph::MOLGRAPH_CUDA {

/// [B, T] targets (NaN = missing), scaled by shift and scale [outputs] where the loss is one of regression.
struct LossTask {
  LossKind kind = LossKind::l1;
  int molecules = 0, targets = 0, outputs = 0;   ///< outputs = targets * classes of a multiclass target
  const float *scaled = nullptr, *target = nullptr, *shift = nullptr, *scale = nullptr;
  const std::int32_t* chosen = nullptr;          ///< [B] row of `target`
  float* slope = nullptr;                        ///< [B, outputs] of the mean loss
  double* total = nullptr;                       ///< {sum of losses, number of targets} are added to
  double* present = nullptr;                     ///< number of targets of the whole batch
  const StepNumbers* numbers = nullptr;
};

__device__ __forceinline__ float target_loss(LossKind kind, float scaled, float wanted, float* slope) {
  const float off = scaled - wanted;
  switch (kind) {
    case LossKind::l1: *slope = static_cast<float>((off > 0) - (off < 0)); return fabsf(off);
    case LossKind::mse: *slope = 2 * off; return off * off;
    case LossKind::huber: *slope = fminf(fmaxf(off, -1.0f), 1.0f); return fabsf(off) < 1 ? 0.5f * off * off : fabsf(off) - 0.5f;
    default:   // bce: log(1 + exp(x)) - x y
      *slope = 1.0f / (1.0f + expf(-scaled)) - wanted;
      return fmaxf(scaled, 0.0f) - scaled * wanted + log1pf(expf(-fabsf(scaled)));
  }
}

inline constexpr int kLossThreads = 256;

/// One block: a thread takes every 256th target.
__global__ void __launch_bounds__(kLossThreads) loss_kernel(LossTask p) {
  MOLGRAPH_SHARED_MEMORY(memory);
  auto* sums = reinterpret_cast<double*>(memory);
  const int thread = static_cast<int>(threadIdx.x), count = p.molecules * p.targets, classes = p.outputs / p.targets;
  const auto target_of = [&](int e) { return p.target[static_cast<std::int64_t>(p.chosen[e / p.targets]) * p.targets + e % p.targets]; };
  double loss = 0, present = 0;
  for (int e = thread; e < count; e += kLossThreads) present += isnan(target_of(e)) ? 0 : 1;
  const double all = block_sum<kLossThreads>(sums, present);
  const double whole = p.numbers->targets > 0 ? p.numbers->targets : all;
  const float share = whole > 0 ? static_cast<float>(1.0 / whole) : 0.0f;
  for (int e = thread; e < count; e += kLossThreads) {
    const float target = target_of(e), *scaled = p.scaled + e * classes;
    float* slope = p.slope + e * classes;
    if (isnan(target)) {
      for (int c = 0; c < classes; ++c) slope[c] = 0;
    } else if (p.kind == LossKind::ce) {
      float largest = scaled[0], total = 0;
      for (int c = 1; c < classes; ++c) largest = fmaxf(largest, scaled[c]);
      for (int c = 0; c < classes; ++c) total += expf(scaled[c] - largest);
      const int label = static_cast<int>(target);
      for (int c = 0; c < classes; ++c) slope[c] = share * (expf(scaled[c] - largest) / total - (c == label ? 1.0f : 0.0f));
      loss += logf(total) + largest - scaled[label];
    } else {
      const int t = e % p.targets;
      const float wanted = p.kind == LossKind::bce ? target : (target - p.shift[t]) / p.scale[t];
      float derivative;
      loss += target_loss(p.kind, scaled[0], wanted, &derivative);
      slope[0] = share * derivative;
    }
  }
  const double sum = block_sum<kLossThreads>(sums, loss);
  if (thread > 0) return;
  p.total[0] += sum;
  p.total[1] += all;
  *p.present = whole;
}

}  // namespace molgraph::MOLGRAPH_CUDA

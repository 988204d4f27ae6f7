// The two sparse steps of relation terms: reading a table entry per pair, and summing per-pair values per table entry.
#pragma once

#include <torch/torch.h>

namespace molgraph {

/// out[h, g, p] = base[h, g, p] + tables[h, g, slots[g, p]], differentiable in `base` and `tables`.
/// base [H, G, P], [1, G, P] (the same for every head, without gradient) or undefined (zero); tables [H, G, K]; slots
/// [G, P] int32 in [0, K). Implemented as loops because at::gather and at::scatter_add take several times as long here.
torch::Tensor add_lookup(const torch::Tensor& base, const torch::Tensor& tables, const torch::Tensor& slots);

/// out[h, g, k] = sum of values[h, g, p] over p with slots[g, p] = k; [H, G, K]. The transpose of the look-up. Values
/// are added in the order of p, so the result does not depend on the number of threads.
torch::Tensor sum_by_slot(const torch::Tensor& values, const torch::Tensor& slots, std::int64_t num_slots);

}  // namespace molgraph

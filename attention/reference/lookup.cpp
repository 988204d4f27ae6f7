#include "attention/reference/lookup.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <optional>

namespace molgraph {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Calls row(h * G + g, slots of g) for every row, in parallel.
template <class Row>
void for_each_row(std::int64_t heads, const Tensor& slots, const Row& row) {
  const std::int64_t groups = slots.size(0), pairs = slots.size(1);
  const std::int32_t* slot = slots.const_data_ptr<std::int32_t>();
  const std::int64_t grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, pairs));
  at::parallel_for(0, heads * groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) row(r, slot + (r % groups) * pairs);
  });
}

Tensor lookup_values(const Tensor& base, const Tensor& tables, const Tensor& slots) {
  const std::int64_t heads = tables.size(0), groups = tables.size(1), entries = tables.size(2), pairs = slots.size(1);
  TORCH_INTERNAL_ASSERT(slots.size(0) == groups && slots.scalar_type() == torch::kInt32 && slots.is_contiguous());
  Tensor out = torch::empty({heads, groups, pairs}, tables.options());
  AT_DISPATCH_FLOATING_TYPES(tables.scalar_type(), "add_lookup", [&] {
    const scalar_t* table = tables.const_data_ptr<scalar_t>();
    const scalar_t* start = base.defined() ? base.const_data_ptr<scalar_t>() : nullptr;
    const std::int64_t start_rows = base.defined() ? base.size(0) * groups : 1;
    scalar_t* result = out.mutable_data_ptr<scalar_t>();
    for_each_row(heads, slots, [&](std::int64_t r, const std::int32_t* slot) {
      const scalar_t* row = table + r * entries;
      scalar_t* to = result + r * pairs;
      if (start == nullptr) {
        for (std::int64_t p = 0; p < pairs; ++p) to[p] = row[slot[p]];
      } else {
        const scalar_t* from = start + (r % start_rows) * pairs;
        for (std::int64_t p = 0; p < pairs; ++p) to[p] = from[p] + row[slot[p]];
      }
    });
  });
  return out;
}

Tensor slot_sums(const Tensor& values, const Tensor& slots, std::int64_t num_slots) {
  const std::int64_t heads = values.size(0), groups = values.size(1), pairs = values.size(2);
  TORCH_INTERNAL_ASSERT(slots.size(0) == groups && slots.size(1) == pairs && slots.scalar_type() == torch::kInt32);
  Tensor out = torch::zeros({heads, groups, num_slots}, values.options());
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "sum_by_slot", [&] {
    const scalar_t* value = values.const_data_ptr<scalar_t>();
    scalar_t* sum = out.mutable_data_ptr<scalar_t>();
    for_each_row(heads, slots, [&](std::int64_t r, const std::int32_t* slot) {
      const scalar_t* from = value + r * pairs;
      scalar_t* to = sum + r * num_slots;
      for (std::int64_t p = 0; p < pairs; ++p) to[slot[p]] += from[p];
    });
  });
  return out;
}

struct AddLookup : torch::autograd::Function<AddLookup> {
  static Tensor forward(AutogradContext* ctx, const std::optional<Tensor>& base, const Tensor& tables,
                        const Tensor& slots) {
    ctx->save_for_backward({slots});
    ctx->saved_data["slots"] = tables.size(2);
    ctx->saved_data["base_wanted"] = base.has_value() && base->requires_grad();
    return lookup_values(base.has_value() ? base->contiguous() : Tensor(), tables.contiguous(), slots);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const Tensor gradient = gradients[0].contiguous();
    const Tensor tables = slot_sums(gradient, ctx->get_saved_variables()[0], ctx->saved_data["slots"].toInt());
    return {ctx->saved_data["base_wanted"].toBool() ? gradient : Tensor(), tables, Tensor()};
  }
};

struct SumBySlot : torch::autograd::Function<SumBySlot> {
  static Tensor forward(AutogradContext* ctx, const Tensor& values, const Tensor& slots, std::int64_t num_slots) {
    ctx->save_for_backward({slots});
    return slot_sums(values.contiguous(), slots, num_slots);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    return {lookup_values(Tensor(), gradients[0].contiguous(), ctx->get_saved_variables()[0]), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor add_lookup(const Tensor& base, const Tensor& tables, const Tensor& slots) {
  TORCH_INTERNAL_ASSERT(!base.defined() || base.size(0) == tables.size(0) || !base.requires_grad());
  return AddLookup::apply(base.defined() ? std::optional<Tensor>(base) : std::nullopt, tables, slots);
}

Tensor sum_by_slot(const Tensor& values, const Tensor& slots, std::int64_t num_slots) {
  return SumBySlot::apply(values, slots, num_slots);
}

}  // namespace molgraph

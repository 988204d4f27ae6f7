#include "attention/cpu/kernels/kernels.hpp"

#include <cassert>
#include <cstring>
#include <vector>

// Highway compiles this file once for each instruction set that is not disabled here.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/cpu/kernels/kernels.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attention/cpu/kernels/attention-inl.hpp"
#include "attention/cpu/kernels/attention_gradient-inl.hpp"
#include "attention/cpu/kernels/dropout_bits-inl.hpp"
#include "attention/cpu/kernels/gelu-inl.hpp"
#include "attention/cpu/kernels/gemm-inl.hpp"
#include "attention/cpu/kernels/norm-inl.hpp"
#include "attention/cpu/kernels/pair_states-inl.hpp"
#include "attention/cpu/kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

const Kernels& table() {
  static const Kernels kernels{hwy::TargetName(HWY_TARGET),
                               gemm,
                               weight_gradient,
                               column_sums,
                               residual_norm,
                               norm_gradient,
                               gelu,
                               multiply,
                               drop,
                               add,
                               attention_scratch,
                               walk_values,
                               walk_gradient,
                               walk_floats,
                               arrange_walks,
                               attention,
                               attention_gradient,
                               states_at_once,
                               pair_start,
                               pair_start_gradient,
                               pair_layer,
                               pair_layer_gradient,
                               channel_bits,
                               head_bits};
  return kernels;
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace molgraph::cpu {
namespace {

HWY_EXPORT(table);

std::vector<const Kernels*> find_all() {
  std::vector<const Kernels*> all;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {  // best target first: it has the lowest bit
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    all.push_back(&HWY_DYNAMIC_DISPATCH(table)());
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return all;
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  static const std::vector<const Kernels*> all =
      find_all();  // only once, because Highway queries the processor at each first call
  return all;
}

static const Kernels*& chosen() {
  static const Kernels* kernels = all_kernels().front();
  return kernels;
}

const Kernels& kernels() { return *chosen(); }
void choose_kernels(const Kernels& kernels) { chosen() = &kernels; }

std::size_t panel_count(std::size_t blocks) { return (blocks + 4) / 5; }

std::size_t panel_blocks(std::size_t blocks, std::size_t panel) {
  const std::size_t panels = panel_count(blocks);
  return blocks / panels + (panel < blocks % panels ? 1 : 0);
}

void pack_weights(const float* weights, std::size_t depth, std::size_t columns, float* out) {
  assert(columns % kBlock == 0);
  const std::size_t blocks = columns / kBlock;
  std::size_t column = 0;
  for (std::size_t p = 0; p < panel_count(blocks); ++p) {
    const std::size_t width = panel_blocks(blocks, p) * kBlock;
    for (std::size_t k = 0; k < depth; ++k, out += width)
      std::memcpy(out, weights + k * columns + column, width * sizeof(float));
    column += width;
  }
}

}  // namespace molgraph::cpu
#endif

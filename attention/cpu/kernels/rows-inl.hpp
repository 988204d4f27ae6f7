// Element-wise operations on rows of channels [rows, stride]: products, sums, dropout; and sums over rows.
#if defined(MOLGRAPH_CPU_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MOLGRAPH_CPU_ROWS_INL
#undef MOLGRAPH_CPU_ROWS_INL
#else
#define MOLGRAPH_CPU_ROWS_INL
#endif

#include "attention/cpu/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace molgraph::cpu::HWY_NAMESPACE {

void multiply(const float* factor, float* x, std::size_t count) {
  const Tag tag;
  for (std::size_t c = 0; c < count; c += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(tag, factor + c), hn::LoadU(tag, x + c)), tag, x + c);
}

void add(const float* y, float* x, std::size_t count) {
  const Tag tag;
  for (std::size_t c = 0; c < count; c += kLanes)
    hn::StoreU(hn::Add(hn::LoadU(tag, y + c), hn::LoadU(tag, x + c)), tag, x + c);
}

void drop(const float* x, float* out, std::size_t rows, std::size_t stride, const Keep& keep) {
  const Tag tag;
  for (std::size_t t = 0; t < rows; ++t)
    for (std::size_t c = 0; c < stride; c += kLanes)
      hn::StoreU(keep_lanes(hn::LoadU(tag, x + t * stride + c), keep, keep.bits + t * stride / 8, c), tag,
                 out + t * stride + c);
}

void column_sums(const float* y, std::size_t rows, std::size_t stride, std::size_t columns, float* sums) {
  const Tag tag;
  for (std::size_t c = 0; c < columns; c += kLanes) {
    Vec sum = hn::LoadU(tag, sums + c);
    for (std::size_t t = 0; t < rows; ++t) sum = hn::Add(sum, hn::LoadU(tag, y + t * stride + c));
    hn::StoreU(sum, tag, sums + c);
  }
}

}  // namespace molgraph::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#include "datasets/store/compact_lists.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

namespace molgraph {

void NarrowNumbers::push_back(std::uint32_t number) {
  assert(number <= static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()));
  const std::size_t needed = number < 1u << 8 ? 1 : number < 1u << 16 ? 2 : 4;
  if (needed > width_) {
    NarrowNumbers wide;
    wide.width_ = needed;
    wide.bytes_.reserve((size() + 1) * needed);
    const NumberView old = view();
    for (std::size_t i = 0; i < size(); ++i) wide.push_back(static_cast<std::uint32_t>(old[i]));
    *this = std::move(wide);
  }
  static_assert(std::endian::native == std::endian::little);  // the low byte comes first
  for (std::size_t k = 0; k < width_; ++k) bytes_.push_back(static_cast<std::uint8_t>(number >> 8 * k));
}

void DistinctRows::append(std::span<const std::uint8_t> rows, int columns) {
  assert(columns >= 1 && columns <= kMaxAtomColumns &&
         (columns_ == 0 || columns_ == static_cast<std::size_t>(columns)));
  columns_ = static_cast<std::size_t>(columns);
  assert(rows.size() % columns_ == 0);
  for (std::size_t at = 0; at + columns_ <= rows.size(); at += columns_) {
    const std::span<const std::uint8_t> row = rows.subspan(at, columns_);
    Key key{};
    std::memcpy(key.data(), row.data(), columns_);
    const auto [found, is_new] = code_of_.try_emplace(key, static_cast<std::uint32_t>(code_of_.size()));
    if (is_new) distinct_.insert(distinct_.end(), row.begin(), row.end());
    code_.push_back(found->second);
  }
}

void DistinctRows::shrink_to_fit() {
  distinct_.shrink_to_fit();
  code_.shrink_to_fit();
}

}  // namespace molgraph

// Vectors that begin at a cache line. An access of 64 bytes that crosses two lines takes two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace molgraph::cpu {

inline constexpr std::size_t kCacheLine = 64;  ///< bytes

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kCacheLine}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{kCacheLine}); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace molgraph::cpu

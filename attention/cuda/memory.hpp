// Device memory for host code.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attention/cuda/gpu/runtime.hpp"

namespace molgraph::cuda {

/// Increases with every reallocation. Earlier recordings may contain addresses of released memory.
inline std::atomic<std::uint64_t> allocations{0};

/// An array on the device. Its capacity never decreases. Growing discards the contents.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Array() { release(data_); }

  T* sized(std::size_t count) {
    if (count > capacity_) {
      release(std::exchange(data_, nullptr));
      capacity_ = 0;
      data_ = static_cast<T*>(allocate(count * sizeof(T)));
      capacity_ = count;
      ++allocations;
    }
    return data_;
  }
  void upload(const std::vector<T>& from, Stream stream) {
    copy_to_device(sized(from.size() + 1), from.data(), from.size() * sizeof(T), stream);  // + 1: never null
  }
  T* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Copies several arrays to the device asynchronously. The arrays are collected in page-locked memory. There are a few
/// such buffers, used in turn, so the next arrays can be collected while the device still works.
class Upload {
 public:
  Upload();
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  void begin();
  /// Returns the offset of the array in the target of send(), aligned for any type.
  std::size_t add(const void* from, std::size_t bytes);
  template <class T>
  std::size_t add(const std::vector<T>& from) {
    return add(from.data(), from.size() * sizeof(T));
  }
  /// Copies everything to one array.
  void send(Array<char>& to, Stream stream);
  /// Copies one of the arrays to a separate target. Call end() after the last one.
  void send(std::size_t at, std::size_t bytes, void* to, Stream stream);
  void end(Stream stream);

 private:
  struct Piece;
  std::vector<Piece> pieces_;
  std::size_t turn_ = 0, size_ = 0;
};

}  // namespace molgraph::cuda

// Memory of the device, for host code.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attention/cuda/gpu/runtime.hpp"

namespace molgraph::cuda {

/// Grows with every array that grows: what was recorded before may point to memory that is gone.
inline std::atomic<std::uint64_t> allocations{0};

/// An array on the device. It only grows; what it held is lost then.
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

/// Several arrays to the device in copies that nobody waits for: they are put together in page-locked memory, of which
/// there are a few pieces in turn, so that the next ones can be put together while the device still works.
class Upload {
 public:
  Upload();
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  void begin();
  /// Returns where the array will begin in send()'s, aligned for any type.
  std::size_t add(const void* from, std::size_t bytes);
  template <class T>
  std::size_t add(const std::vector<T>& from) {
    return add(from.data(), from.size() * sizeof(T));
  }
  /// All in one copy, to one array.
  void send(Array<char>& to, Stream stream);
  /// One of them to its own; after the last one, end().
  void send(std::size_t at, std::size_t bytes, void* to, Stream stream);
  void end(Stream stream);

 private:
  struct Piece;
  std::vector<Piece> pieces_;
  std::size_t turn_ = 0, size_ = 0;
};

}  // namespace molgraph::cuda

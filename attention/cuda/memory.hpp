// Memory of the device and the stream that everything goes through, for host code: no CUDA header is shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "featurize/graph/error.hpp"
#include "attention/cuda/namespace.hpp"

namespace molgraph::MOLGRAPH_CUDA {

/// There is no usable device, or it failed.
class DeviceError : public RunError {
 public:
  using RunError::RunError;
};

using Stream = void*;   ///< a cudaStream_t

/// Says what no result shows, such as that a slower way is taken: each text once, as a line on stderr or to whom tell_notes() names.
void note(const std::string& text);
void tell_notes(std::function<void(const std::string&)> to);   ///< empty = stderr

/// Throws DeviceError unless `code` (a cudaError_t) is success; CUDA's own note of the error is taken back then, so that the
/// next check of a launch does not find it again.
void check(int code);
/// Why device `number` cannot be used; empty = it can.
std::string why_unusable(int number);
void use_device(int number);
std::size_t shared_memory_limit();   ///< bytes a block may have
std::size_t free_memory();           ///< bytes, of the device in use

std::string device_name(int number);

Stream make_stream();
void destroy_stream(Stream stream);
void synchronize(Stream stream);
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream);
/// Waits until everything before it on the stream, and the copy, is done.
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream);
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream);
void clear(void* memory, std::size_t bytes, Stream stream);
/// The same `count` times, each `distance` bytes behind the last.
void clear_each(void* memory, std::size_t distance, std::size_t bytes, std::size_t count, Stream stream);

/// Grows with every allocation: what was recorded before may point to memory that is gone.
std::uint64_t allocations();

/// An array on the device. It only grows; what it held is lost then.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
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
    }
    return data_;
  }
  void upload(const std::vector<T>& from, Stream stream) {
    copy_to_device(sized(from.size() + 1), from.data(), from.size() * sizeof(T), stream);   // + 1: never null
  }
  T* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Several arrays to the device in copies that nobody waits for: they are put together in page-locked memory, of which there
/// are a few pieces in turn, so that the next ones can be put together while the device still works.
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

/// Launches of one kernel, and the time they took together.
struct KernelTime {
  std::string name;
  std::int64_t launches = 0;
  double milliseconds = 0;
};
/// Runs `work` with a clock around every launch, which also keeps launches from overlapping. Longest first. Times of the emulator are 0.
std::vector<KernelTime> profile(Stream stream, const std::function<void()>& work);
/// Called before and after every launch; does nothing outside profile().
class LaunchClock {
 public:
  LaunchClock(Stream stream, const void* kernel);
  /// Of what a library launches: its function's name, for its address is no kernel's. Not copied.
  LaunchClock(Stream stream, const char* library_call);
  ~LaunchClock();
  LaunchClock(const LaunchClock&) = delete;
  LaunchClock& operator=(const LaunchClock&) = delete;

 private:
  Stream stream_;
};

/// Launches and copies on the device that were recorded once (a CUDA graph), to be started again with one call.
class Recording {
 public:
  /// Calls `work`, which must neither allocate nor wait, and records instead of running it.
  Recording(Stream stream, const std::function<void()>& work);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  void run() const;

 private:
  Stream stream_;
  void* recorded_ = nullptr;                       ///< cudaGraphExec_t
  std::vector<std::function<void()>> emulated_;    ///< or the emulator's
};

}  // namespace molgraph::MOLGRAPH_CUDA

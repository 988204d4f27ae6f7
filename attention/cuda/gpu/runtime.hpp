// Host interface to a GPU: memory, streams, events, recordings. Does not include CUDA headers.
// There are two implementations: runtime.cu on CUDA's runtime, and that of the tests (tests/cuda_emulator), which is
// linked into tests instead.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "attention/cuda/cuda_engine.hpp"

namespace molgraph::cuda {

// Every function throws DeviceError if the GPU fails.

using Stream = DeviceStream;

std::string device_name(int number);
std::size_t shared_memory_limit();  ///< bytes per block
std::size_t free_memory();          ///< bytes, on the current device

Stream make_stream();
void destroy_stream(Stream stream);
void synchronize(Stream stream);

void* allocate(std::size_t bytes);
void release(void* memory) noexcept;  ///< null: does nothing
/// Allocates page-locked host memory. Copies from it to the device do not need the CPU.
void* allocate_locked(std::size_t bytes);
void release_locked(void* memory) noexcept;

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream);
/// Waits until all earlier work on the stream and the copy are complete.
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream);
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream);
void clear(void* memory, std::size_t bytes, Stream stream);
/// Clears `count` times, each `distance` bytes after the previous one.
void clear_each(void* memory, std::size_t distance, std::size_t bytes, std::size_t count, Stream stream);

/// A mark in a stream; `timed` events record the time.
using Event = void*;
Event make_event(bool timed);
void destroy_event(Event event) noexcept;  ///< null: does nothing
void mark(Event event, Stream stream);     ///< marks the completion of all earlier work on the stream
void wait_for(Event event);
/// Later work on the stream starts after the marked work is complete.
void wait_on(Stream stream, Event event);
double milliseconds_between(Event first, Event second);  ///< of timed events that have completed

/// Returns, for example, "attention_kernel<float>" for a kernel's address.
std::string name_of_kernel(const void* kernel);

/// Launches and copies on the device, recorded once (a CUDA graph) and started again with one call.
class Recording {
 public:
  /// Calls `work` and records it instead of running it. `work` must neither allocate nor wait.
  Recording(Stream stream, const std::function<void()>& work);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  void run() const;

 private:
  Stream stream_;
  void* recorded_ = nullptr;
};

}  // namespace molgraph::cuda

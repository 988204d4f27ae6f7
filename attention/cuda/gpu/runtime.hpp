// What the host needs of a GPU: memory, the stream that everything goes through, events, recordings. No CUDA header is
// shown. There are two of it: runtime.cu on CUDA's runtime, and the tests' own (tests/cuda_emulator), which is built
// into a test in its place.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "attention/cuda/cuda_engine.hpp"

namespace molgraph::cuda {

// Every function throws DeviceError if the GPU fails.

using Stream = DeviceStream;

std::string device_name(int number);
std::size_t shared_memory_limit();  ///< bytes that a block may have
std::size_t free_memory();          ///< bytes, of the device in use

Stream make_stream();
void destroy_stream(Stream stream);
void synchronize(Stream stream);

void* allocate(std::size_t bytes);
void release(void* memory) noexcept;  ///< null: nothing happens
/// On the host, page-locked: copies from there to the device need no help of the processor.
void* allocate_locked(std::size_t bytes);
void release_locked(void* memory) noexcept;

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream);
/// Waits until everything before it on the stream, and the copy, is done.
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream);
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream);
void clear(void* memory, std::size_t bytes, Stream stream);
/// The same `count` times, each `distance` bytes behind the last.
void clear_each(void* memory, std::size_t distance, std::size_t bytes, std::size_t count, Stream stream);

/// Something that a stream passes; `timed` ones know when.
using Event = void*;
Event make_event(bool timed);
void destroy_event(Event event) noexcept;  ///< null: nothing happens
void mark(Event event, Stream stream);     ///< to be passed after everything that was put on the stream before
void wait_for(Event event);
double milliseconds_between(Event first, Event second);  ///< of timed ones that were passed

/// "attention_kernel<float>" of a kernel's address.
std::string name_of_kernel(const void* kernel);

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
  void* recorded_ = nullptr;
};

}  // namespace molgraph::cuda

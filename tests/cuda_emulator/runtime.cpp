// The emulated GPU's version of attention/cuda/gpu/runtime.hpp. Streams run work in the host's order. All times are 0.
#include "attention/cuda/gpu/runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tests/cuda_emulator/emulator.hpp"

namespace molgraph::cuda {

std::string why_unusable(int) { return {}; }
void use_device(int) {}
std::string device_name(int) { return "emulated GPU"; }
std::size_t shared_memory_limit() { return 227 * 1024; }
std::size_t free_memory() { return std::size_t{1} << 40; }

Stream make_stream() { return nullptr; }
void destroy_stream(Stream) {}
void synchronize(Stream) {
  if (emulator::recording()) throw std::logic_error("emulated GPU: a recording cannot wait");
}

void* allocate(std::size_t bytes) { return emulator::allocate(bytes); }
void release(void* memory) noexcept {
  if (memory != nullptr) emulator::release(memory);
}
void* allocate_locked(std::size_t bytes) { return std::malloc(bytes); }
void release_locked(void* memory) noexcept { std::free(memory); }

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  synchronize(stream);
  std::memcpy(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream) {
  synchronize(stream);
  std::memcpy(to, from, bytes);
}
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream) {
  emulator::enqueue([=] { std::memmove(to, from, bytes); });
}
void clear(void* memory, std::size_t bytes, Stream) {
  emulator::enqueue([=] { std::memset(memory, 0, bytes); });
}
void clear_each(void* memory, std::size_t distance, std::size_t bytes, std::size_t count, Stream) {
  emulator::enqueue([=] {
    for (std::size_t k = 0; k < count; ++k) std::memset(static_cast<char*>(memory) + k * distance, 0, bytes);
  });
}

Event make_event(bool) { return nullptr; }
void destroy_event(Event) noexcept {}
void mark(Event, Stream) {}
void wait_for(Event) {}
void wait_on(Stream, Event) {}
double milliseconds_between(Event, Event) { return 0; }
std::string name_of_kernel(const void* kernel) {
  return "kernel at " + std::to_string(reinterpret_cast<std::uintptr_t>(kernel));
}

using Recorded = std::vector<std::function<void()>>;
Recording::Recording(Stream stream, const std::function<void()>& work)
    : stream_(stream), recorded_(new Recorded(emulator::record(work))) {}
Recording::~Recording() { delete static_cast<Recorded*>(recorded_); }
void Recording::run() const {
  for (const auto& one : *static_cast<const Recorded*>(recorded_)) one();
  emulator::check_guards();
}

}  // namespace molgraph::cuda

#include "attention/cuda/memory.hpp"

#ifndef MOLGRAPH_CUDA_EMULATED
#include <cxxabi.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "attention/cuda/kernels/device.cuh"

namespace molgraph::MOLGRAPH_CUDA {
namespace {

std::atomic<std::uint64_t> allocation_count{0};

/// One launch under profile(): of a kernel, or by a library.
struct Launch {
  const void* kernel = nullptr;
  const char* library_call = nullptr;
  void *start = nullptr, *end = nullptr;   ///< cudaEvent_t
};
thread_local std::vector<Launch>* launches = nullptr;

std::vector<Launch> launches_of(const std::function<void()>& work) {
  std::vector<Launch> all;
  const struct Stop {
    ~Stop() { launches = nullptr; }
  } stop;
  launches = &all;
  work();
  return all;
}

std::string name_of_kernel(const void* kernel);

std::vector<KernelTime> add_up(const std::vector<Launch>& all, const std::function<double(const Launch&)>& time_of) {
  std::map<std::string, KernelTime> by_name;
  for (const Launch& one : all) {
    KernelTime& sum = by_name[one.library_call != nullptr ? one.library_call : name_of_kernel(one.kernel)];
    ++sum.launches;
    sum.milliseconds += time_of(one);
  }
  std::vector<KernelTime> times;
  for (auto& [name, sum] : by_name) times.push_back({name, sum.launches, sum.milliseconds});
  std::stable_sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.milliseconds > b.milliseconds; });
  return times;
}

}  // namespace

std::uint64_t allocations() { return allocation_count; }

namespace {

struct Notes {
  std::mutex turn;
  std::set<std::string> told;
  std::function<void(const std::string&)> to;
};
Notes& notes() {
  static Notes all;
  return all;
}

}  // namespace

void note(const std::string& text) {
  Notes& all = notes();
  const std::lock_guard lock(all.turn);
  if (!all.told.insert(text).second) return;
  if (all.to) all.to(text);
  else std::fprintf(stderr, "%s\n", text.c_str());
}
void tell_notes(std::function<void(const std::string&)> to) {
  const std::lock_guard lock(notes().turn);
  notes().to = std::move(to);
}

namespace {

constexpr std::size_t kPieces = 4, kUploadAlignment = 256;

char* allocate_locked(std::size_t bytes);
void release_locked(char* memory) noexcept;
/// An event that is past once the device has come to this place of the stream.
void mark(void*& event, Stream stream);
void wait_for(void* event);
void forget(void* event) noexcept;

}  // namespace

struct Upload::Piece {
  char* memory = nullptr;
  std::size_t capacity = 0;
  void* sent = nullptr;   ///< event of the copy out of it
};

Upload::Upload() : pieces_(kPieces) {}
Upload::~Upload() {
  for (const Piece& piece : pieces_) {
    release_locked(piece.memory);
    forget(piece.sent);
  }
}
void Upload::begin() {
  turn_ = (turn_ + 1) % kPieces;
  size_ = 0;
  wait_for(pieces_[turn_].sent);
}
std::size_t Upload::add(const void* from, std::size_t bytes) {
  Piece& piece = pieces_[turn_];
  const std::size_t at = size_, needed = at + (bytes + kUploadAlignment - 1) / kUploadAlignment * kUploadAlignment;
  if (needed > piece.capacity) {
    char* larger = allocate_locked(2 * needed);
    if (piece.memory != nullptr) std::memcpy(larger, piece.memory, at);
    release_locked(piece.memory);
    piece.memory = larger;
    piece.capacity = 2 * needed;
  }
  if (bytes > 0) std::memcpy(piece.memory + at, from, bytes);
  size_ = needed;
  return at;
}
void Upload::send(Array<char>& to, Stream stream) {
  Piece& piece = pieces_[turn_];
  copy_to_device(to.sized(size_), piece.memory, size_, stream);
  mark(piece.sent, stream);
}
void Upload::send(std::size_t at, std::size_t bytes, void* to, Stream stream) {
  if (bytes > 0) copy_to_device(to, pieces_[turn_].memory + at, bytes, stream);
}
void Upload::end(Stream stream) { mark(pieces_[turn_].sent, stream); }

#ifdef MOLGRAPH_CUDA_EMULATED

namespace {

char* allocate_locked(std::size_t bytes) { return static_cast<char*>(std::malloc(bytes)); }
void release_locked(char* memory) noexcept { std::free(memory); }
void mark(void*&, Stream) {}
void wait_for(void*) {}
void forget(void*) noexcept {}
std::string name_of_kernel(const void* kernel) { return "kernel at " + std::to_string(reinterpret_cast<std::uintptr_t>(kernel)); }

}  // namespace

void check(int) {}
std::string why_unusable(int) { return {}; }
void use_device(int) {}
std::size_t shared_memory_limit() { return 227 * 1024; }
std::size_t free_memory() { return std::size_t{1} << 40; }
std::string device_name(int) { return "emulated GPU"; }
Stream make_stream() { return nullptr; }
void destroy_stream(Stream) {}
void synchronize(Stream) {
  if (emulator::recording()) throw std::logic_error("emulated GPU: a recording cannot wait");
}
void* allocate(std::size_t bytes) {
  ++allocation_count;
  return emulator::allocate(bytes);
}
void release(void* memory) noexcept {
  if (memory != nullptr) emulator::release(memory);
}
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
std::vector<KernelTime> profile(Stream, const std::function<void()>& work) {
  return add_up(launches_of(work), [](const Launch&) { return 0.0; });
}
LaunchClock::LaunchClock(Stream stream, const void* kernel) : stream_(stream) {
  if (launches != nullptr) launches->push_back({.kernel = kernel});
}
LaunchClock::LaunchClock(Stream stream, const char* library_call) : stream_(stream) {
  if (launches != nullptr) launches->push_back({.library_call = library_call});
}
LaunchClock::~LaunchClock() = default;

Recording::Recording(Stream stream, const std::function<void()>& work) : stream_(stream), emulated_(emulator::record(work)) {}
Recording::~Recording() = default;
void Recording::run() const {
  for (const auto& one : emulated_) one();
  emulator::check_guards();
}

#else

void check(int code) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  const auto error = static_cast<cudaError_t>(code);
  throw DeviceError(std::string("GPU: ") + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")");
}

namespace {

char* allocate_locked(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes));
  return static_cast<char*>(memory);
}
void release_locked(char* memory) noexcept {
  if (memory != nullptr) (void)cudaFreeHost(memory);
}
void mark(void*& event, Stream stream) {
  if (event == nullptr) {
    cudaEvent_t made = nullptr;
    check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    event = made;
  }
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)));
}
void wait_for(void* event) {
  if (event != nullptr) check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
}
void forget(void* event) noexcept {
  if (event != nullptr) (void)cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

}  // namespace

std::string why_unusable(int number) {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess) {
    (void)cudaGetLastError();
    return std::string("no GPU can be used: ") + cudaGetErrorString(found);
  }
  if (count == 0) return "this machine has no NVIDIA GPU";
  if (number < 0 || number >= count)
    return "there is no GPU " + std::to_string(number) + ", only " + std::to_string(count) + " (numbers start at 0)";
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number));
  if (properties.major < 8)
    return std::string(properties.name) + " has compute capability " + std::to_string(properties.major) + "." +
           std::to_string(properties.minor) + "; 8.0 (A100) or later is needed";
  return {};
}

void use_device(int number) { check(cudaSetDevice(number)); }

std::size_t shared_memory_limit() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
}

std::size_t free_memory() {
  std::size_t unused = 0, all = 0;
  check(cudaMemGetInfo(&unused, &all));
  return unused;
}

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}
void destroy_stream(Stream stream) { (void)cudaStreamDestroy(static_cast<cudaStream_t>(stream)); }
void synchronize(Stream stream) { check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }

void* allocate(std::size_t bytes) {
  ++allocation_count;
  void* memory = nullptr;
  const cudaError_t result = cudaMalloc(&memory, bytes);
  if (result == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw DeviceError("the GPU's memory is full: " + std::to_string(bytes >> 20) + " MiB more are needed; a smaller batch may help");
  }
  check(result);
  return memory;
}
void release(void* memory) noexcept {
  if (memory != nullptr) (void)cudaFree(memory);   // an array that was never used must not even ask for a device
}

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream)));
}
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream)));
  synchronize(stream);
}
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
}
void clear(void* memory, std::size_t bytes, Stream stream) {
  check(cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream)));
}
void clear_each(void* memory, std::size_t distance, std::size_t bytes, std::size_t count, Stream stream) {
  if (bytes > 0 && count > 0) check(cudaMemset2DAsync(memory, distance, 0, bytes, count, static_cast<cudaStream_t>(stream)));
}

std::string device_name(int number) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number));
  return properties.name;
}

namespace {

/// "attention_kernel<float>" of a kernel's address.
std::string name_of_kernel(const void* kernel) {
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) != cudaSuccess || mangled == nullptr) {
    (void)cudaGetLastError();
    return "unknown kernel";
  }
  int status = 0;
  char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : mangled;
  std::free(plain);
  name = name.substr(0, name.find(status == 0 && name.find(">(") != std::string::npos ? ">(" : "("));
  if (const std::size_t last = name.find("cuda::"); last != std::string::npos) name = name.substr(last + 6);
  return name.find('<') != std::string::npos ? name + ">" : name;
}

void start_clock(Stream stream, Launch launch) {
  if (launches == nullptr) return;
  cudaEvent_t start = nullptr, end = nullptr;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  check(cudaEventRecord(start, static_cast<cudaStream_t>(stream)));
  launch.start = start, launch.end = end;
  launches->push_back(launch);
}

}  // namespace

std::vector<KernelTime> profile(Stream stream, const std::function<void()>& work) {
  const std::vector<Launch> all = launches_of(work);
  synchronize(stream);
  const std::vector<KernelTime> times = add_up(all, [](const Launch& one) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(one.start), static_cast<cudaEvent_t>(one.end)));
    return static_cast<double>(milliseconds);
  });
  for (const Launch& one : all)
    for (void* event : {one.start, one.end}) (void)cudaEventDestroy(static_cast<cudaEvent_t>(event));
  return times;
}

LaunchClock::LaunchClock(Stream stream, const void* kernel) : stream_(stream) { start_clock(stream, {.kernel = kernel}); }
LaunchClock::LaunchClock(Stream stream, const char* library_call) : stream_(stream) { start_clock(stream, {.library_call = library_call}); }
LaunchClock::~LaunchClock() {
  if (launches != nullptr) (void)cudaEventRecord(static_cast<cudaEvent_t>(launches->back().end), static_cast<cudaStream_t>(stream_));
}

Recording::Recording(Stream stream, const std::function<void()>& work) : stream_(stream) {
  const auto of = static_cast<cudaStream_t>(stream);
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(of, cudaStreamCaptureModeThreadLocal));
  try {
    work();
  } catch (...) {
    (void)cudaStreamEndCapture(of, &graph);
    throw;
  }
  check(cudaStreamEndCapture(of, &graph));
  cudaGraphExec_t ready = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&ready, graph, 0);
  (void)cudaGraphDestroy(graph);
  check(made);
  recorded_ = ready;
}
Recording::~Recording() { (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recorded_)); }
void Recording::run() const { check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recorded_), static_cast<cudaStream_t>(stream_))); }

#endif

}  // namespace molgraph::MOLGRAPH_CUDA

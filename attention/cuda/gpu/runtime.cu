// Host side of a real GPU, based on CUDA's runtime.
#include "attention/cuda/gpu/runtime.hpp"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <cstdlib>

#include "attention/cuda/gpu/check.hpp"

namespace molgraph::cuda {

void check(int code) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  const auto error = static_cast<cudaError_t>(code);
  throw DeviceError(std::string("GPU: ") + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")");
}

std::string why_unusable(int number) {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess) {
    (void)cudaGetLastError();
    return std::string("no GPU can be used: ") + cudaGetErrorString(found);
  }
  if (count == 0) return "this machine has no NVIDIA GPU";
  if (number < 0 || number >= count)
    return "GPU " + std::to_string(number) + " does not exist; the number of GPUs is " + std::to_string(count) +
           " (numbers start at 0)";
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number));
  if (properties.major < 8)
    return std::string(properties.name) + " has compute capability " + std::to_string(properties.major) + "." +
           std::to_string(properties.minor) + "; 8.0 (A100) or later is required";
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
  void* memory = nullptr;
  const cudaError_t result = cudaMalloc(&memory, bytes);
  if (result == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw DeviceError("the GPU is out of memory: " + std::to_string(bytes >> 20) +
                      " MiB more are needed; a smaller batch may help");
  }
  check(result);
  return memory;
}
void release(void* memory) noexcept {
  if (memory != nullptr) (void)cudaFree(memory);  // releasing an unused array must not access the device
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
  if (bytes > 0 && count > 0)
    check(cudaMemset2DAsync(memory, distance, 0, bytes, count, static_cast<cudaStream_t>(stream)));
}

std::string device_name(int number) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number));
  return properties.name;
}

void* allocate_locked(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes));
  return memory;
}
void release_locked(void* memory) noexcept {
  if (memory != nullptr) (void)cudaFreeHost(memory);
}

Event make_event(bool timed) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming));
  return event;
}
void destroy_event(Event event) noexcept {
  if (event != nullptr) (void)cudaEventDestroy(static_cast<cudaEvent_t>(event));
}
void mark(Event event, Stream stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)));
}
void wait_for(Event event) { check(cudaEventSynchronize(static_cast<cudaEvent_t>(event))); }
void wait_on(Stream stream, Event event) {
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event), 0));
}
double milliseconds_between(Event first, Event second) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(first), static_cast<cudaEvent_t>(second)));
  return milliseconds;
}

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
void Recording::run() const {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recorded_), static_cast<cudaStream_t>(stream_)));
}

}  // namespace molgraph::cuda

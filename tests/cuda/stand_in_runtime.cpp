// Stand-in for the CUDA runtime, without a device: the functions that the engine's host side calls.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/cuda/stand_in.hpp"

namespace molgraph::test {

StandIn& stand_in() {
  static StandIn all;
  return all;
}

namespace {

cudaError_t answer(const char* function) {
  if (stand_in().failing != function) return cudaSuccess;
  stand_in().last_error = cudaErrorUnknown;
  return cudaErrorUnknown;
}
cudaError_t count_release(void* memory) {
  ++(memory == nullptr ? stand_in().null_releases : stand_in().releases);
  std::free(memory);
  return cudaSuccess;
}
template <class T>
T handle() {
  static char place = 0;
  return reinterpret_cast<T>(&place);
}

}  // namespace
}  // namespace molgraph::test

using namespace molgraph::test;

extern "C" {

cudaError_t cudaGetLastError() { return static_cast<cudaError_t>(std::exchange(stand_in().last_error, 0)); }
const char* cudaGetErrorString(cudaError_t) { return "an error"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorStandIn"; }
cudaError_t cudaFuncGetName(const char**, const void* function) {
  stand_in().looked_up.push_back(function);
  stand_in().last_error = cudaErrorInvalidDeviceFunction;
  return cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return answer("cudaMalloc");
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return answer("cudaMallocHost");
}
cudaError_t cudaFree(void* memory) { return count_release(memory); }
cudaError_t cudaFreeHost(void* memory) { return count_release(memory); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemset2DAsync(void*, size_t, int, size_t, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t* unused, size_t* all) {
  *unused = *all = size_t{1} << 30;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = handle<cudaStream_t>();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return answer("cudaStreamSynchronize"); }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = handle<cudaEvent_t>();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return cudaErrorNotSupported; }
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) { return cudaErrorNotSupported; }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) { return cudaErrorNotSupported; }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return cudaErrorNotSupported; }

// Called by code that nvcc generates, before main().
void** __cudaRegisterFatBinary(void*) { return handle<void**>(); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 0; }

}  // extern "C"

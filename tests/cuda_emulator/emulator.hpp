// A GPU that is emulated on the CPU, for tests of the kernels' logic. Every thread of a block is a fiber. Blocks run
// one after the other. At every barrier, threads continue in a new random order. The emulator supports only what the
// kernels use. Each host thread has its own GPU.
//
// Memory is initialised with NaN and has guards on both sides, which reveals reads of unset memory and writes outside
// an array. A block whose threads wait at different barriers is a deadlock and throws std::logic_error.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

namespace molgraph::emulator {

inline thread_local dim3 thread_index, block_index, block_size, grid_size;  ///< of the running thread

/// Runs `kernel` for all threads. Throws std::logic_error on a deadlock.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& kernel);
/// Work on a stream. It runs at once or, inside record(), whenever the recording is run. As in a CUDA graph, arguments
/// keep their values of the time of recording.
void enqueue(std::function<void()> work);
/// Returns the work that `launches` enqueues. Waiting and allocating in `launches` throw std::logic_error.
std::vector<std::function<void()>> record(const std::function<void()>& launches);
bool recording();

void block_barrier();
/// Barrier of `width` neighbouring lanes: 32, or the 16 of half a warp.
void warp_barrier(unsigned width = 32);
/// Every lane of a warp passes `bytes` (up to 64) and gets those of all 32: [32, 64] bytes, valid until warp_barrier().
const unsigned char* gather(const void* mine, std::size_t bytes);

void* allocate(std::size_t bytes);
/// Throws std::logic_error if a guard was written.
void release(void* memory);
/// The same for all allocated memory.
void check_guards();

}  // namespace molgraph::emulator

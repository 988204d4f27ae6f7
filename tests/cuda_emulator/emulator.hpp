// A GPU that is emulated on the CPU, for tests of the kernels' logic: every thread of a block is a fiber, blocks run
// one after the other, and at every barrier the order in which threads go on is drawn anew. It knows what the kernels
// here use and no more. Each thread of the host has a GPU of its own.
//
// Memory starts as NaNs and has guards on both sides: what is read before it is written, or written beside an array,
// shows. A block whose threads wait at different barriers is a deadlock and throws std::logic_error.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

namespace molgraph::emulator {

inline thread_local dim3 thread_index, block_index, block_size, grid_size;  ///< of the thread that runs

/// Runs `kernel` for all threads. Throws std::logic_error on a deadlock.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& kernel);
/// What a stream does: now, or, between record() and its end, whenever the recording is run. As in a CUDA graph,
/// arguments keep the values that they had.
void enqueue(std::function<void()> work);
/// The work that `launches` enqueues. What it waits for or allocates meanwhile throws std::logic_error.
std::vector<std::function<void()>> record(const std::function<void()>& launches);
bool recording();

void block_barrier();
/// Of `width` neighbouring lanes: 32, or the 16 of half a warp.
void warp_barrier(unsigned width = 32);
/// All lanes of a warp hand in `bytes` (up to 64) and get those of all 32: [32, 64] bytes, valid until warp_barrier().
const unsigned char* gather(const void* mine, std::size_t bytes);

void* allocate(std::size_t bytes);
/// Throws std::logic_error if a guard was written.
void release(void* memory);
/// The same for all memory there is.
void check_guards();

}  // namespace molgraph::emulator

#include "tests/cuda_emulator/emulator.hpp"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace molgraph::cuda {

constexpr std::size_t kMaxShared = 227 * 1024, kSharedGuard = 64;
__thread unsigned char memory[kMaxShared + kSharedGuard] __attribute__((aligned(16)));  // a block's shared memory

}  // namespace molgraph::cuda

namespace molgraph::emulator {
namespace {

namespace ctx = boost::context;
constexpr std::size_t kGuard = cuda::kSharedGuard;
constexpr unsigned char kGuardByte = 0xA5;

bool intact(const unsigned char* guard) {
  return std::all_of(guard, guard + kGuard, [](unsigned char byte) { return byte == kGuardByte; });
}

enum class Waits : std::uint8_t { no, half, warp, block, done };

struct Thread {
  dim3 index;
  ctx::fiber fiber;
  Waits waits = Waits::no;
};

struct Block {
  std::vector<Thread> threads;
  std::vector<unsigned char> exchange;  ///< [threads, 64]
  ctx::fiber scheduler;
  std::size_t running = 0;
};

thread_local Block* current_block = nullptr;
thread_local std::mt19937_64 schedule;
thread_local std::map<void*, std::size_t> sizes;
thread_local std::vector<std::function<void()>>* recorded = nullptr;

void wait(Waits at) {
  Block& block = *current_block;
  block.threads[block.running].waits = at;
  block.scheduler = std::move(block.scheduler).resume();
}

// Releases the threads of every complete barrier. Returns false if no barrier is complete.
bool open_barriers(Block& block) {
  bool opened = false;
  const std::size_t count = block.threads.size();
  const auto open = [&](std::size_t first, std::size_t last, Waits at) {
    bool any = false;
    for (std::size_t t = first; t < last; ++t) {
      const Waits waits = block.threads[t].waits;
      if (waits != at && waits != Waits::done) return;
      any = any || waits == at;
    }
    for (std::size_t t = first; any && t < last; ++t)
      if (block.threads[t].waits == at) block.threads[t].waits = Waits::no;
    opened = opened || any;
  };
  for (std::size_t first = 0; first < count; first += 16) open(first, std::min(first + 16, count), Waits::half);
  for (std::size_t first = 0; first < count; first += 32) open(first, std::min(first + 32, count), Waits::warp);
  open(0, count, Waits::block);
  return opened;
}

void run_block(Block& block, dim3 size, const std::function<void()>& kernel) {
  thread_local ctx::pooled_fixedsize_stack stacks(256 * 1024, 64);
  const std::size_t count = std::size_t{size.x} * size.y * size.z;
  block.threads.clear();
  block.threads.resize(count);
  block.exchange.assign(count * 64, 0);
  for (std::size_t t = 0; t < count; ++t) {
    Thread& thread = block.threads[t];
    thread.index = dim3(static_cast<unsigned>(t % size.x), static_cast<unsigned>(t / size.x % size.y),
                        static_cast<unsigned>(t / (std::size_t{size.x} * size.y)));
    thread.fiber = ctx::fiber(std::allocator_arg, stacks, [&block, &kernel, t](ctx::fiber&& from) {
      block.scheduler = std::move(from);
      kernel();
      block.threads[t].waits = Waits::done;
      return std::move(block.scheduler);
    });
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (;;) {
    std::shuffle(order.begin(), order.end(), schedule);
    for (const std::size_t t : order) {
      Thread& thread = block.threads[t];
      if (thread.waits != Waits::no) continue;
      block.running = t;
      thread_index = thread.index;
      thread.fiber = std::move(thread.fiber).resume();
    }
    if (std::all_of(block.threads.begin(), block.threads.end(), [](const Thread& t) { return t.waits == Waits::done; }))
      return;
    if (!open_barriers(block)) throw std::logic_error("emulated GPU: threads of a block wait at different barriers");
  }
}

}  // namespace

bool recording() { return recorded != nullptr; }
void enqueue(std::function<void()> work) {
  if (recording()) recorded->push_back(std::move(work));
  else work();
}
std::vector<std::function<void()>> record(const std::function<void()>& launches) {
  std::vector<std::function<void()>> all;
  recorded = &all;
  try {
    launches();
  } catch (...) {
    recorded = nullptr;
    throw;
  }
  recorded = nullptr;
  return all;
}

void block_barrier() { wait(Waits::block); }
void warp_barrier(unsigned width) { wait(width == 32 ? Waits::warp : Waits::half); }

const unsigned char* gather(const void* mine, std::size_t bytes) {
  Block& block = *current_block;
  std::memcpy(block.exchange.data() + 64 * block.running, mine, bytes);
  warp_barrier();
  return block.exchange.data() + 64 * (block.running / 32 * 32);
}

void run(dim3 grid, dim3 size, std::size_t shared_bytes, const std::function<void()>& kernel) {
  if (shared_bytes > cuda::kMaxShared) throw std::logic_error("emulated GPU: a block requests too much shared memory");
  block_size = size;
  grid_size = grid;
  Block block;
  current_block = &block;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        block_index = dim3(x, y, z);
        std::memset(cuda::memory, 0xFF, shared_bytes);
        std::memset(cuda::memory + shared_bytes, kGuardByte, kGuard);
        run_block(block, size, kernel);
        if (!intact(cuda::memory + shared_bytes))
          throw std::logic_error("emulated GPU: a kernel wrote outside its shared memory");
      }
  current_block = nullptr;
}

void* allocate(std::size_t bytes) {
  if (recording()) throw std::logic_error("emulated GPU: an allocation during a recording");
  auto* memory = static_cast<unsigned char*>(std::malloc(bytes + 2 * kGuard));
  std::memset(memory, kGuardByte, kGuard);
  std::memset(memory + kGuard, 0xFF, bytes);
  std::memset(memory + kGuard + bytes, kGuardByte, kGuard);
  sizes[memory + kGuard] = bytes;
  return memory + kGuard;
}

void check_guards() {
  for (const auto& [memory, bytes] : sizes) {
    const auto* first = static_cast<const unsigned char*>(memory);
    if (!intact(first - kGuard) || !intact(first + bytes))
      throw std::logic_error("emulated GPU: a kernel wrote outside its array");
  }
}

void release(void* memory) {
  check_guards();
  sizes.erase(memory);
  std::free(static_cast<unsigned char*>(memory) - kGuard);
}

}  // namespace molgraph::emulator

// Threads that compress chunks while the caller fills the next ones. Private to this folder.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace molgraph {

/// The pool compresses chunks in any order. It calls their `write` in the order of submit(), in the thread that calls
/// submit() or drain(). The maximum number of waiting chunks is fixed, so neither the file nor the memory depends on
/// the number of threads. Only one thread may call the members; the pool's threads only compress.
class ChunkPool {
 public:
  using Write = std::function<void(const std::vector<std::byte>& packed)>;

  explicit ChunkPool(int threads);
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  void submit(std::vector<std::byte> raw, std::size_t element_bytes, Write write);
  /// Writes all submitted chunks.
  void drain();

 private:
  struct Job {
    std::vector<std::byte> bytes;  ///< raw, then packed
    std::size_t element_bytes = 1;
    Write write;
    bool done = false;
    std::exception_ptr error;
  };

  void work();
  void write_first();

  std::mutex mutex_;
  std::condition_variable work_ready_, chunk_done_;
  std::deque<std::unique_ptr<Job>> in_order_;  ///< submitted, not yet written
  std::deque<Job*> to_compress_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace molgraph

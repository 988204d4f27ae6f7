#include "datasets/store/chunk_pool.hpp"

#include <utility>

#include "datasets/store/chunk_codec.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxWaiting = 64;  // chunks of at most 512 KiB with the default chunk size

}  // namespace

ChunkPool::ChunkPool(int threads) {
  for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
}

ChunkPool::~ChunkPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ChunkPool::submit(std::vector<std::byte> raw, std::size_t element_bytes, Write write) {
  if (in_order_.size() >= kMaxWaiting) write_first();
  auto job = std::make_unique<Job>();
  job->bytes = std::move(raw);
  job->element_bytes = element_bytes;
  job->write = std::move(write);
  {
    const std::lock_guard lock(mutex_);
    to_compress_.push_back(job.get());
  }
  in_order_.push_back(std::move(job));
  work_ready_.notify_one();
}

void ChunkPool::drain() {
  while (!in_order_.empty()) write_first();
}

void ChunkPool::write_first() {
  Job& job = *in_order_.front();
  {
    std::unique_lock lock(mutex_);
    chunk_done_.wait(lock, [&] { return job.done; });
  }
  if (job.error) std::rethrow_exception(job.error);
  job.write(job.bytes);
  in_order_.pop_front();
}

void ChunkPool::work() {
  while (true) {
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      work_ready_.wait(lock, [&] { return stopping_ || !to_compress_.empty(); });
      if (stopping_) return;
      job = to_compress_.front();
      to_compress_.pop_front();
    }
    try {
      job->bytes = encode_chunk(job->bytes, job->element_bytes);
    } catch (...) {
      job->error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      job->done = true;
    }
    chunk_done_.notify_one();
  }
}

}  // namespace molgraph

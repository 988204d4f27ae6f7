#include "apps/training/loop/batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/splits/splits.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kBatchesAhead = 2;

}  // namespace

TrainBatch make_batch(const MoleculeSet& set, std::span<const std::int64_t> indices, const PackOptions& options,
                      const LabelWeights& weights) {
  std::vector<GraphView> graphs;
  graphs.reserve(indices.size());
  for (std::int64_t g : indices) graphs.push_back(set.graph(g));
  const std::int64_t num_targets = set.task.num_targets();
  TrainBatch batch{pack(graphs, indices, options),
                   torch::full({static_cast<std::int64_t>(indices.size()), num_targets},
                               std::numeric_limits<double>::quiet_NaN(), torch::kFloat64)};
  const auto fill = [&](auto* row, const auto& value_of) {
    for (const std::int64_t g : indices) {
      set.labels_of(g, [&](std::size_t t, double label, std::int8_t bound) { row[t] = value_of(g, t, label, bound); });
      row += num_targets;
    }
  };
  fill(batch.targets.data_ptr<double>(), [](std::int64_t, std::size_t, double label, std::int8_t) { return label; });
  if (set.has_bounds()) {
    batch.terms.bounds = torch::zeros_like(batch.targets, torch::kInt8);
    fill(batch.terms.bounds.data_ptr<std::int8_t>(),
         [](std::int64_t, std::size_t, double, std::int8_t bound) { return bound; });
  }
  if (!weights.all_one()) {
    batch.terms.weights = torch::zeros_like(batch.targets, torch::kFloat32);
    fill(batch.terms.weights.data_ptr<float>(),
         [&](std::int64_t g, std::size_t t, double label, std::int8_t) { return weights.of(set, g, t, label); });
  }
  batch.present = count_present(set, indices);
  return batch;
}

std::int64_t count_present(const MoleculeSet& set, std::span<const std::int64_t> indices) {
  std::int64_t present = 0;
  for (const std::int64_t g : indices) set.labels_of(g, [&](std::size_t, double, std::int8_t) { ++present; });
  return present;
}

std::vector<std::int64_t> order_of_epoch(std::vector<std::int64_t> train, const EpochPlan& plan, std::int64_t epoch) {
  shuffle(train, plan.seed, ShuffleStream::epoch, static_cast<std::uint32_t>(epoch / plan.parts));
  const auto molecules = static_cast<std::int64_t>(train.size());
  const std::int64_t batches = (molecules + plan.batch_size - 1) / plan.batch_size;
  const auto begin_of = [&](std::int64_t part) {
    return train.begin() + std::min(batches * part / plan.parts * plan.batch_size, molecules);
  };
  const std::int64_t part = epoch % plan.parts;
  train.erase(begin_of(part + 1), train.end());
  train.erase(train.begin(), begin_of(part));
  return train;
}

BatchStream::BatchStream(const MoleculeSet& set, std::vector<std::int64_t> indices, std::int64_t batch_size,
                         std::int64_t first, const PackOptions& options, const LabelWeights& weights,
                         const Processes& processes)
    : set_(set), weights_(weights), processes_(processes), indices_(std::move(indices)),
      thread_([=, this] { produce(batch_size, first, options); }) {}

BatchStream::~BatchStream() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchStream::produce(std::int64_t batch_size, std::int64_t first, const PackOptions& options) {
  const std::int64_t count = static_cast<std::int64_t>(indices_.size());
  try {
    for (std::int64_t start = first * batch_size; start < count; start += batch_size) {
      const auto size = static_cast<std::size_t>(std::min(batch_size, count - start));
      const auto whole = std::span<const std::int64_t>(indices_).subspan(static_cast<std::size_t>(start), size);
      TrainBatch batch = make_batch(set_, processes_.part(whole), options, weights_);
      batch.present = count_present(set_, whole);
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || ready_.size() < kBatchesAhead; });
      if (stop_) return;
      ready_.push_back(std::move(batch));
      changed_.notify_all();
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
  std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

bool BatchStream::next(TrainBatch& batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ || !ready_.empty(); });
  if (ready_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return false;
  }
  batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return true;
}

}  // namespace molgraph
